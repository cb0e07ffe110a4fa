"""What each definition costs a model, as a treemap and as a table."""

import contextlib
from collections.abc import Sequence
from typing import Any, Final

from vespe import errors
from vespe.adapters import SHAPES, cost
from vespe.adapters.cost import Size
from vespe.features.inspector.page import Page, Visit
from vespe.features.inspector.treemap import laid_out
from vespe.models import Tool
from vespe.records import dataclass

MOST: Final = 120
"""Tools that have a rectangle of their own; the rest share one."""
_SHAPES: Final = (("wide", 1000, 430), ("narrow", 360, 460))
_LETTER: Final = 7.4
"""Width of a letter of a label, in the units of the drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One rectangle of the treemap; `label` is what fits in it."""

    name: str
    scope: str
    uid: str
    tokens: int
    share: float
    tone: int
    x: float
    y: float
    width: float
    height: float
    label: str


def show(visit: Visit) -> Page:
    """Return the sizes of the tools that a model would see, in one API's shape."""
    api = visit.asked("as", tuple(SHAPES)) or next(iter(SHAPES))
    measured = _measured(visit, api)
    scopes = list(dict.fromkeys(tool.scope for tool, _ in measured))
    whole = sum(size.tokens for _, size in measured)
    context: dict[str, Any] = {
        "api": api,
        "apis": tuple(SHAPES),
        "tools": [
            (tool, size, size.tokens / whole, scopes.index(tool.scope) % 6)
            for tool, size in measured[:MOST]
        ],
        "count": len(measured),
        "rest": measured[MOST:],
        "total": cost.total(size for _, size in measured),
        "scopes": [
            (scope, place % 6, sum(s.tokens for t, s in measured if t.scope == scope))
            for place, scope in enumerate(scopes)
        ],
        "maps": [
            (kind, width, height, _cells(measured, scopes, size=(width, height)))
            for kind, width, height in _SHAPES
        ]
        if whole
        else [],
    }
    return Page(template="sizes.html", title="Sizes", context=context)


def _measured(visit: Visit, api: str) -> list[tuple[Tool, Size]]:
    """Return the definitions' sizes, the dearest first; measured anew only where a tool changed."""
    rows = visit.project.rows()
    known: tuple[object, dict[str, list[tuple[Tool, Size]]]] = visit.project.kept.get(
        "sizes", (None, {})
    )
    if known[0] is not rows:
        known = visit.project.kept["sizes"] = (rows, {})
    if api not in known[1]:
        count, found = cost.exact_count(), list[tuple[Tool, Size]]()
        for tool in visit.project.shown(rows):
            with contextlib.suppress(errors.VespeError):  # its page says what is wrong with it
                found.append((tool, cost.size_of(SHAPES[api].definition(tool), count=count)))
        known[1][api] = sorted(found, key=lambda pair: -pair[1].tokens)
    return known[1][api]


def _cells(
    measured: Sequence[tuple[Tool, Size]], scopes: Sequence[str], *, size: tuple[int, int]
) -> list[Cell]:
    whole = sum(each.tokens for _, each in measured)
    shares = [each.tokens for _, each in measured[:MOST]] + [
        sum(each.tokens for _, each in measured[MOST:])
    ]
    cells = []
    for box in laid_out(
        sorted(shares, reverse=True) if len(measured) <= MOST else shares, size[0], height=size[1]
    ):
        tool = measured[box.index][0] if box.index < min(MOST, len(measured)) else None
        name = tool.name if tool else f"{len(measured) - MOST} more"
        fits = int((box.width - 12) / _LETTER)
        cells.append(
            Cell(
                name=name,
                scope=tool.scope if tool else "",
                uid=tool.uid if tool else "",
                tokens=shares[box.index],
                share=shares[box.index] / whole,
                tone=scopes.index(tool.scope) % 6 if tool else 6,
                x=round(box.x, 1),
                y=round(box.y, 1),
                width=round(max(0.0, box.width - 2), 1),
                height=round(max(0.0, box.height - 2), 1),
                label=""
                if fits < 3 or box.height < 24
                else name
                if len(name) <= fits
                else f"{name[: fits - 1]}…",
            )
        )
    return cells
