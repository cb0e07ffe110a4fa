import os
from typing import Any, Optional

TIMEOUT = 30
NAMES = ("a", "b")


def default_values(
    negative: int = -1,
    real: float = 1,
    text: str = "x" "y",
    pair: tuple[int, int] = (1, 2),
    constant: int = TIMEOUT,
    names: list[str] = NAMES,
    table: dict[str, int] = {"a": 1},
    called: str = os.getcwd(),
    number: Any = 1j,
    infinite: float = 1e999,
    raw: bytes = b"x",
    empty: set[int] = set(),
    wrong: int = "auto",
    keys: dict[int, str] = {1: "a"},
    nothing: Optional[int] = None,
    lone: str = "\ud800",
    huge: int = 0x1 << 2000,
    *,
    only: bool = True,
    needed: bool,
) -> None:
    return None
