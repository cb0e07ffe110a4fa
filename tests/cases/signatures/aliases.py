import typing
from typing import TYPE_CHECKING, Final, NewType, TypeAlias

if TYPE_CHECKING:
    from elsewhere import Hidden

UserId = NewType("UserId", int)
Number = int | float
Rows: TypeAlias = list[list[Number]]
Long = typing.Dict[str, typing.Literal["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "more"]]
Variable = typing.TypeVar("Variable", int, str)
Made = typing.TypeAliasType("Made", list[int]) if hasattr(typing, "TypeAliasType") else list[int]
MAX: Final[int] = 3


class Service:
    pass


def aliases(
    user: UserId,
    rows: Rows,
    first: Long,
    second: Long,
    variable: Variable,
    hidden: "Hidden",
    service: Service,
    broken: "list[",
    call: typing.Callable[[int], int],
    limit: "Final[int]" = MAX,
) -> Number:
    return 1
