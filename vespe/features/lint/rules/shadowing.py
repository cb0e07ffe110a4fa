"""Lint rules: whether a tool that takes another's name keeps its contract."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from vespe.errors import VespeError
from vespe.features.lint.base import Bounds, Found, Outline, set_rule
from vespe.lazy import shlex
from vespe.models import Severity
from vespe.schemas.comparison import contracts
from vespe.schemas.comparison.contracts import Change
from vespe.tools import directory

_GRAVITY: Final[dict[str, Severity]] = {"breaking": "warning", "unknown": "info"}
_MORE: Final = {
    "breaking": "is not compatible with it",
    "unknown": "may not be compatible with it, which cannot be decided",
}


@set_rule("sets-shadow", "warning", reads_files=True)
def _broken_contracts(outlines: Sequence[Outline], _: Bounds) -> Iterator[tuple[int, Found]]:
    """A tool shadows another tool and is not compatible with it.

    Callers of the shadowed tool now reach this one. It may refuse their arguments or return other
    results.

    Bad: a kit's search takes {"query": …}, and the project's own search requires {"text": …}
    Good: the project's own search takes what the kit's takes
    """
    winners = {
        one.name: index
        for index, one in reversed(list(enumerate(outlines)))
        if one.available and one.api == "vespe"
    }
    for index, shadowed in enumerate(outlines):
        winner = winners.get(shadowed.name)
        if winner is None or shadowed.available or shadowed.api != "vespe":
            continue
        about = next((at for at in (winner, index) if outlines[at].linted), -1)
        yield from (
            (about, found)
            for found in _found(
                outlines[winner], shadowed, side={winner: "new", index: "old"}.get(about)
            )
        )


def _found(winner: Outline, shadowed: Outline, *, side: str | None) -> Iterator[Found]:
    """Return the gravest of what changes for callers of the tool that is shadowed, if anything
    does.
    """
    changes = _changes(winner, shadowed)
    gravest = changes[0] if changes else None
    severity = _GRAVITY.get(gravest.verdict) if gravest else None
    if gravest is None or severity is None:
        return
    others = sum(change.verdict == gravest.verdict for change in changes) - 1
    paths = shlex.join([str(shadowed.directory), str(winner.directory)])
    more = f" (and {others} more: `vespe tool diff {paths}` shows all)" if others else ""
    yield Found(
        message=f"{winner.name} of {winner.scope} shadows that of {shadowed.scope} and "
        f"{_MORE[gravest.verdict]}: "
        f"{gravest.pointer}: {gravest.message}{more}",
        pointer=gravest.pointer if gravest.side == side else "",
        severity=severity,
        fix="rename one of them, or accept the same arguments and return the same results",
    )


def _changes(winner: Outline, shadowed: Outline) -> list[Change]:
    """Compare the schemas alone: what runs is another thing by intent. A broken tool is for the
    other rules to tell.
    """
    try:
        tools = [
            directory.load(str(one.directory), scope=one.scope, kit_id=one.kit_id)
            for one in (shadowed, winner)
        ]
    except VespeError:
        return []
    old, new = (
        replace(contracts.contract_of(tool), command=None, description="") for tool in tools
    )
    return contracts.changes(old, new)
