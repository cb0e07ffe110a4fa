from __future__ import annotations

import typing
from typing import Optional as Opt, Union


def unions(
    a: Opt[int],
    b: int | None,
    c: Union[int, str],
    d: Union[int, float],
    e: list[int] | dict[str, int],
    f: list[int] | None,
    g: typing.Optional[typing.Union[str, typing.List[str]]],
    h: "str | None" = None,
    i: Union[int, Union[str, None]] = None,
    j: typing.Any | None = None,
    k: int = None,
    m: typing.Literal["x"] | None = None,
) -> int | None:
    return None
