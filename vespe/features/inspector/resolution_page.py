"""Which tool each name means: the scopes in their order, and the names that more than one of them
has, drawn.
"""

from collections.abc import Sequence
from typing import Any, Final

from vespe.features.inspector.page import Page, Visit
from vespe.features.inspector.tools_page import reason
from vespe.models import Row
from vespe.records import dataclass

MOST: Final = 40
"""Names in one drawing."""
_NAME: Final = 195
_COLUMN: Final = 162
_LINE: Final = 46
_HEAD: Final = 54
_BOX: Final = 30
_FITS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One tool in the drawing: `state` is `selected`, or its status."""

    row: Row
    state: str
    why: str
    x: int
    y: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One name: the tools that have it, in the order of their scopes, the first box that wins, and
    where its arrow ends.
    """

    name: str
    y: int
    boxes: tuple[Box, ...]
    reach: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The drawing in its own units, which are pixels."""

    width: int
    height: int
    columns: tuple[tuple[int, str, str], ...]
    lines: tuple[Line, ...]


def show(visit: Visit) -> Page:
    """Return the order of the scopes, and the names that several tools have; or one name, where one
    was asked for.
    """
    workspace, words = visit.project.workspace, visit.asked("q")
    by_name: dict[str, list[Row]] = {}
    for row in visit.project.rows():
        if row.entry.name is not None:
            by_name.setdefault(row.entry.name, []).append(row)
    meant = {
        name: rows
        for name, rows in by_name.items()
        if (words.lower() in name.lower() if words else len(rows) > 1)
    }
    order = [scope.name for scope in workspace.scopes]
    shown = sorted(
        meant.items(),
        key=lambda named: all(row.status in ("available", "inactive") for row in named[1]),
    )[:MOST]
    used = [
        name for name in order if any(row.entry.scope == name for _, rows in shown for row in rows)
    ]
    labels = {
        scope.name: "" if scope.ordered else "only as SCOPE/NAME" if scope.active else "not active"
        for scope in workspace.scopes
    }
    context: dict[str, Any] = {
        "scopes": workspace.scopes,
        "drawing": _drawn(shown, used, labels=labels) if shown else None,
        "found": len(meant),
        "names": len(by_name),
        "words": words,
        "more": len(meant) - len(shown),
    }
    return Page(template="resolution.html", title="Resolution", context=context)


def _drawn(
    names: Sequence[tuple[str, list[Row]]], scopes: Sequence[str], *, labels: dict[str, str]
) -> Drawing:
    places = {scope: _NAME + _COLUMN * number for number, scope in enumerate(scopes)}
    lines = []
    for number, (name, rows) in enumerate(names):
        y = _HEAD + _LINE * number + _LINE // 2
        boxes = tuple(
            Box(
                row=row,
                state=_state(row),
                why=reason(row) or "the first scope that has this name",
                x=places[row.entry.scope],
                y=y,
            )
            for row in sorted(rows, key=lambda row: scopes.index(row.entry.scope))
        )
        reach = next((box.x for box in boxes if box.state == "selected"), 0)
        lines.append(Line(name=cut(name, 20), y=y, boxes=boxes, reach=reach))
    columns = tuple((places[scope], cut(scope, _FITS), labels[scope]) for scope in scopes)
    return Drawing(
        width=_NAME + _COLUMN * len(scopes),
        height=_HEAD + _LINE * len(names) + 8,
        columns=columns,
        lines=tuple(lines),
    )


def _state(row: Row) -> str:
    return "selected" if row.status == "available" else row.status


def cut(text: str, most: int) -> str:
    """Return a text that fits into a drawing."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
