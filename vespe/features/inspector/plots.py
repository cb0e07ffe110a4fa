"""Durations as points: the calls in their order from left to right, the duration from bottom to top
by powers of ten.
"""

import math
import time
from collections.abc import Sequence
from typing import Any, Final

from vespe.records import dataclass

_LEFT: Final = 58.0
_RIGHT: Final = 12.0
_TOP: Final = 12.0
_BOTTOM: Final = 28.0
_LETTERS: Final = 120.0
"""Room that the label of a time takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """A plot in its own units: `points` are (x, y, what was given), the ticks are (place,
    label).
    """

    width: int
    height: int
    left: float
    bottom: float
    points: tuple[tuple[float, float, Any], ...]
    across: tuple[tuple[float, str], ...]
    upward: tuple[tuple[float, str], ...]


def scatter(values: Sequence[tuple[float, float, Any]], width: int, *, height: int) -> Scatter:
    """Return the plot of (seconds of the epoch, milliseconds, anything), of which there is one at
    least.

    Calls come in bursts with hours between them, so the places are the calls' own, and the ticks
    say when.
    """
    times = [at for at, _, _ in values]
    powers = [math.log10(max(duration, 0.01)) for _, duration, _ in values]
    low, high = math.floor(min(powers)), max(math.ceil(max(powers)), math.floor(min(powers)) + 1)
    inner, tall, last = width - _LEFT - _RIGHT, height - _TOP - _BOTTOM, len(values) - 1

    def x(place: int) -> float:
        return round(_LEFT + (place / last if last else 0.5) * inner, 1)

    def y(power: float) -> float:
        return round(_TOP + (high - power) / (high - low) * tall, 1)

    count = max(1, min(int(inner // _LETTERS), last))
    ticks = dict.fromkeys(round(last * step / count) for step in range(count + 1))
    span = max(times) - min(times)
    return Scatter(
        width=width,
        height=height,
        left=_LEFT,
        bottom=height - _BOTTOM,
        points=tuple(
            (x(place), y(power), what)
            for place, ((_, _, what), power) in enumerate(zip(values, powers, strict=True))
        ),
        across=tuple((x(place), _clock(times[place], span)) for place in ticks),
        upward=tuple((y(power), _duration(power)) for power in range(low, high + 1)),
    )


def _clock(at: float, span: float) -> str:
    """Return a time as exactly as a plot of so many seconds needs it."""
    form = "%H:%M:%S" if span < 86_400 else "%b %d, %H:%M"
    return time.strftime(form, time.localtime(at))


def _duration(power: int) -> str:
    return f"{10.0**power:g} ms" if power < 3 else f"{10.0 ** (power - 3):g} s"
