from typing import Annotated, Optional

from annotated_types import Ge, Interval, Len, MinLen
from pydantic import Field, StringConstraints
from typing_extensions import Doc

LIMIT = 10


def constraints(
    count: Annotated[int, "How many.", Ge(0)],
    share: Annotated[float, Interval(gt=0, le=1)],
    code: Annotated[str, Field(pattern="^[a-z]+$", min_length=1, max_length=LIMIT, description="A code.")],
    names: Annotated[list[str], Len(1, 3), Doc("Some names.")],
    table: Annotated[dict[str, int], MinLen(1)],
    maybe: Annotated[Optional[int], Field(ge=1)] = None,
    short: Annotated[str, StringConstraints(max_length=3)] = "abc",
    items: list[Annotated[int, Ge(1)]] = [1],
    field: int = Field(5, ge=1, description="From a Field."),
    needed: int = Field(..., le=3),
    odd: Annotated[int, object(), Ge("x")] = 1,
) -> Annotated[int, Ge(0), "How many there were."]:
    return count
