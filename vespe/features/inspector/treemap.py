"""A treemap: rectangles whose areas are shares of a whole, as near to squares as they can be
laid.
"""

from collections.abc import Sequence

from vespe.records import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """One rectangle, in the units of the whole; `index` is the place of its share."""

    index: int
    x: float
    y: float
    width: float
    height: float


def laid_out(shares: Sequence[float], width: float, *, height: float) -> list[Box]:
    """Return a box for each positive share, which come in falling order.

    The squarified layout of Bruls, Huizing and van Wijk (2000): a row along the shorter side takes
    shares as long as that makes its worst rectangle better.
    """
    total = sum(share for share in shares if share > 0)
    left = [
        (index, share * width * height / total) for index, share in enumerate(shares) if share > 0
    ]
    boxes: list[Box] = []
    x = y = 0.0
    while left:
        side = min(width, height)
        count = 1
        while count < len(left) and _worst(left[: count + 1], side) <= _worst(left[:count], side):
            count += 1
        row, left = left[:count], left[count:]
        depth = sum(area for _, area in row) / side
        offset = 0.0
        for index, area in row:
            length = area / depth
            boxes.append(
                Box(index, x, y + offset, depth, length)
                if width >= height
                else Box(index, x + offset, y, length, depth)
            )
            offset += length
        if width >= height:
            x, width = x + depth, width - depth
        else:
            y, height = y + depth, height - depth
    return boxes


def _worst(row: Sequence[tuple[int, float]], side: float) -> float:
    """Return the longest proportion of a row's rectangles along a side."""
    areas = [area for _, area in row]
    total = sum(areas)
    return max(
        side * side * max(areas) / (total * total), total * total / (side * side * min(areas))
    )
