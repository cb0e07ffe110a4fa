"""What `vespe tool list --size` prints: the cost of each definition in each API's shape, and of all
together.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace

from vespe import errors
from vespe.adapters import SHAPES, cost
from vespe.adapters.cost import CHARACTERS_PER_TOKEN, Size
from vespe.cli import report, tables
from vespe.documents.near import suggest
from vespe.models import JsonObject, Row
from vespe.projects.workspace import Workspace
from vespe.records import json_of


def tell(workspace: Workspace, rows: Sequence[Row], *, shape: str | None, as_json: bool) -> None:
    """Print the sizes of the rows' tools, the broken ones left out; raises UsageError for an API
    that is not known.
    """
    if shape is not None and shape not in SHAPES:
        raise errors.UsageError(
            f"there is no API {shape!r}",
            hint=suggest(shape, SHAPES) or f"choose one of {', '.join(SHAPES)}",
        )
    shapes = [shape] if shape else list(SHAPES)
    measured = _measured(workspace, rows, shapes)
    totals = {name: cost.total(each[name] for _, each in measured) for name in shapes}
    if as_json:
        tools = [
            json_of(row.entry, "name", "uid", "scope") | {"sizes": _json(each)}
            for row, each in measured
        ]
        report.emit_json({"tools": tools, "total": _json(totals), "tokens_by": _method(totals)})
        return
    if sys.stdout.isatty():
        _for_a_person(measured, totals, shape or min(totals, key=lambda name: totals[name].tokens))
        return
    lines = [(row.entry.name, row.entry.scope, *_cells(each)) for row, each in measured]
    columns = ("NAME", "SCOPE", *(f"{name.upper()} CHARS / TOKENS" for name in shapes))
    tables.show(columns, [*lines, ("total", "", *_cells(totals))], headed=True)
    report.note(f"tokens {_method(totals)}")


def _for_a_person(
    measured: Sequence[tuple[Row, dict[str, Size]]], totals: dict[str, Size], shape: str
) -> None:
    """Show one API, the dearest tool first; the others have a line with their totals."""
    whole = totals[shape].tokens or 1
    sizes = sorted(
        ((each[shape], row.entry) for row, each in measured), key=lambda found: -found[0].tokens
    )
    lines = [
        (size.tokens, size.characters, f"{100 * size.tokens / whole:3.0f} %", entry.name)
        for size, entry in sizes
    ]
    total = (totals[shape].tokens, totals[shape].characters, "", "total")
    tables.show(("TOKENS", "CHARACTERS", "SHARE", "NAME"), [*lines, total])
    report.emit_sentence(f"as {shape}; tokens {_method(totals)}")
    others = ", ".join(f"{name} {size.tokens}" for name, size in totals.items() if name != shape)
    if others:
        report.emit_sentence(f"total in other APIs: {others} (--as API shows one)")


def _measured(
    workspace: Workspace, rows: Sequence[Row], shapes: Sequence[str]
) -> list[tuple[Row, dict[str, Size]]]:
    count, view = cost.exact_count(), workspace.view
    found = []
    for row in rows:
        if row.status != "broken" and view.exposure(row.entry) != "never":
            tool = view.of(workspace.load(row.entry))
            sizes = {
                name: cost.size_of(SHAPES[name].definition(tool), count=count) for name in shapes
            }
            found.append((replace(row, entry=replace(row.entry, name=tool.name)), sizes))
    return found


def _json(each: dict[str, Size]) -> JsonObject:
    return {name: size.to_json() for name, size in each.items()}


def _cells(each: dict[str, Size]) -> list[str]:
    return [f"{size.characters} / {size.tokens}" for size in each.values()]


def _method(totals: dict[str, Size]) -> str:
    if all(size.exact for size in totals.values()):
        return f"are counted by tiktoken ({cost.ENCODING})"
    return f"are estimated: one per {CHARACTERS_PER_TOKEN} characters"
