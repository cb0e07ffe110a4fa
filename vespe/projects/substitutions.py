"""Where one tool takes another's name: whether callers of the one that it shadows find the same
contract.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from vespe.errors import InvalidTool
from vespe.models import Entry
from vespe.projects import resolver
from vespe.projects.scopes import Scope
from vespe.records import dataclass
from vespe.schemas.comparison import contracts
from vespe.schemas.comparison.contracts import Change, Verdict
from vespe.tools import catalog, directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitution:
    """A tool, `winner`, that stands in for one of the same name, `shadowed`, and what that changes
    for callers.

    What runs is another thing by intent, and descriptions are for people: only the schemas count.
    """

    name: str
    winner: Entry
    shadowed: Entry
    changes: tuple[Change, ...]

    @property
    def verdict(self) -> Verdict:
        """Whether the substitution keeps the contract: the gravest verdict of its changes."""
        return contracts.verdict_of(self.changes)

    def __str__(self) -> str:
        kept = {
            "compatible": "and is compatible with it",
            "breaking": "and is not compatible with it",
            "unknown": "and may not be compatible with it",
        }
        why = ""
        if self.verdict != "compatible":
            gravest = [change for change in self.changes if change.verdict == self.verdict]
            names = f"{self.shadowed.scope}/{self.name} {self.winner.scope}/{self.name}"
            rest = len(gravest) - 1
            more = f", and {rest} more: `vespe tool diff {names}` shows all" if rest else ""
            why = f"{gravest[0].pointer}: {gravest[0].message}{more}"
        return (
            f"{self.name} of {self.winner.scope} shadows that of {self.shadowed.scope} "
            f"{kept[self.verdict]}" + (f" ({why})" if why else "")
        )


def substitutions(
    scopes: Sequence[Scope], *, about: Collection[str] | None = None
) -> list[Substitution]:
    """Return every substitution in a project's scopes, by name; `about` keeps those in which one of
    these scopes takes part.

    A broken tool takes part in none: what it would accept is not known.
    """
    rows = resolver.rows([scope for scope in scopes if scope.ordered], _entries)
    winners = {row.entry.name: row.entry for row in rows if row.status == "available"}
    found: list[Substitution] = []
    for row in rows:
        winner = winners.get(row.entry.name)
        if (
            row.status == "shadowed"
            and winner is not None
            and (about is None or {winner.scope, row.entry.scope} & set(about))
        ):
            found += _judged(winner, row.entry)
    return found


def _judged(winner: Entry, shadowed: Entry) -> Iterator[Substitution]:
    try:
        tools = [
            directory.load(entry.path, scope=entry.scope, kit_id=entry.kit_id)
            for entry in (shadowed, winner)
        ]
    except InvalidTool:
        return
    old, new = (
        replace(contracts.contract_of(tool), command=None, description="") for tool in tools
    )
    changes = tuple(contracts.changes(old, new))
    yield Substitution(name=str(winner.name), winner=winner, shadowed=shadowed, changes=changes)


def _entries(scope: Scope) -> Iterator[Entry]:
    yield from catalog.scan(scope.directory, scope=scope.name, kit_id=scope.kit_id).values()
