"""The tools of a project: each with its status and the reason for it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from vespe import defaults
from vespe.features.inspector.inspected import STATUSES, Inspected
from vespe.features.inspector.page import Page, Visit
from vespe.models import Row

WINDOW: Final = 100
"""Tools on one page."""


def show(visit: Visit) -> Page:
    """Return one window of the tools that were asked for: by words, status and scope."""
    every = visit.project.rows()
    status, scope, words = visit.asked("status", STATUSES), visit.asked("scope"), visit.asked("q")
    meant = [
        row for row in every if scope in ("", row.entry.scope) and _has(row, words.lower().split())
    ]
    counts = Counter(row.status for row in meant)
    chosen = sorted(
        (row for row in meant if status in ("", row.status)),
        key=lambda row: row.status == "inactive",
    )
    pages = max(1, -(-len(chosen) // WINDOW))
    page = min(max(1, visit.number("page")), pages)
    window = chosen[(page - 1) * WINDOW : page * WINDOW]
    context: dict[str, Any] = {
        "tools": _shown(visit.project, window),
        "total": len(every),
        "found": len(chosen),
        "counts": {name: counts[name] for name in STATUSES},
        "scopes": list(dict.fromkeys(known.name for known in visit.project.workspace.scopes)),
        "status": status,
        "scope": scope,
        "words": words,
        "page": page,
        "pages": pages,
        "first": (page - 1) * WINDOW + 1,
        "warnings": visit.project.workspace.warnings,
    }
    return Page(template="tools.html", title="Tools", context=context)


def _has(row: Row, words: Sequence[str]) -> bool:
    if not words:
        return True
    entry = row.entry
    text = f"{entry.name} {entry.uid} {entry.scope} {entry.type} {entry.description}".lower()
    return all(word in text for word in words)


def _shown(project: Inspected, window: Sequence[Row]) -> list[dict[str, Any]]:
    whole = project.refusal()
    found = []
    for row in window:
        entry = row.entry
        stopped = (
            whole is not None and row.status == "available" and not project.is_approved_alone(entry)
        )
        found.append(
            {
                "name": entry.name or entry.uid,
                "uid": entry.uid,
                "scope": entry.scope,
                "is_own": entry.scope == defaults.PROJECT_TOOLS,
                "type": entry.type,
                "about": entry.description,
                "status": row.status,
                "state": "untrusted" if stopped else row.status,
                "reason": reason(row),
            }
        )
    return found


def reason(row: Row) -> str:
    """Say why a tool has its status, "" where nothing needs saying."""
    if row.entry.problem:
        return row.entry.problem
    if row.status == "shadowed":
        return f"{row.shadowed_by} has the same name in an earlier scope"
    if row.status == "inactive":
        return "its kit is not active here"
    return ""
