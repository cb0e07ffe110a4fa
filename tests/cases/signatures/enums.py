import enum
from enum import Enum, IntEnum, auto
from typing import Literal


class Color(Enum):
    """The colour to paint in."""

    RED = "red"
    BLUE = "blue"
    AZURE = BLUE


class Level(IntEnum):
    LOW = 1
    HIGH = auto()


class Mode(enum.StrEnum):
    FAST = auto()
    SAFE = auto()


class Text(str, Enum):
    A = "a"
    _private = "no"

    def shout(self) -> str:
        return self.value.upper()


class Bits(enum.Flag):
    ONE = 1
    TWO = 2


class Computed(Enum):
    NOW = len("now")


Size = Enum("Size", "SMALL LARGE")


def enums(
    color: Color,
    text: Text,
    size: Size,
    computed: Computed,
    level: Level = Level.HIGH,
    mode: Mode = Mode.FAST,
    bits: Bits = Bits.ONE,
    word: Literal["a", "b", None] = "a",
    mixed: Literal[1, True, "1"] = 1,
    nested: Literal[Literal["x"], Color.RED] = Color.RED,
    colors: list[Color] = [],
) -> Color:
    """Paint.

    Args:
        mode: How careful to be.
    """
    return color
