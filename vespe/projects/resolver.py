"""From a name to exactly one tool, with the reason and with what it shadows; pure: files are the
caller's `lookup`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from vespe.documents.near import join_words, near
from vespe.errors import AmbiguousTool, InvalidDocument, InvalidTool, ToolNotFound
from vespe.models import Candidate, Entry, Resolution, Row
from vespe.projects.scopes import Scope, Scopes, scopes_of
from vespe.projects.snapshots import diff_snapshots, snapshot

__all__ = [
    "Lookup",
    "Names",
    "Row",
    "Scope",
    "Scopes",
    "diff_snapshots",
    "resolve",
    "rows",
    "scopes_of",
    "snapshot",
]

Lookup: TypeAlias = Callable[[Scope, str], Sequence[Entry]]
"""Gives a scope's tool of that uid, else its tools of that name, the broken ones too
(`catalog.find`, `Catalog.lookup`).

Raises InvalidDocument for a scope that cannot be listed.
"""
Names: TypeAlias = Callable[[], Iterable[str]]
"""Gives the names that could have been meant; asked only where nothing was found."""
Found: TypeAlias = tuple[Scope, Entry]
_UID_PREFIX: Final = "tool-"
_MOST_KITS: Final = 3
"""Kits that a sentence names."""


def resolve(
    name: str,
    scopes: Sequence[Scope],
    *,
    lookup: Lookup,
    names: Names | None = None,
    complete: bool = True,
) -> Resolution:
    """Say which tool `name` means (design, section 3): a tool's name, `scope/name`, `scope/uid`, or
    a uid.

    The first ordered scope with a tool of that name wins, broken or not; a uid comes before a name
    that looks like one. `complete=False` asks no scope after the winner's, so that the other
    candidates are not known. Raises AmbiguousTool where that scope holds several, or several scopes
    hold the uid; InvalidTool where the winner is broken; ToolNotFound, with the nearest of `names`,
    or with the inactive kit that has it. What `lookup` raises for a scope that may hold the winner
    is raised too, since no later scope may take its place; of another scope it is a warning.
    """
    scope, slash, rest = name.partition("/")
    if slash:
        return _qualified(
            name, [s for s in scopes if s.name == scope], wanted=rest, lookup=lookup, names=names
        )
    if name.startswith(_UID_PREFIX) and (exact := _by_uid(name, scopes, lookup)):
        return _one(name, exact, reason="this is its UID")
    found: list[Found] = []
    warnings: list[str] = []
    for place in scopes:
        won = bool(found) and found[0][0].ordered
        if won and not complete:
            break
        try:
            entries = lookup(place, name)
        except InvalidDocument as error:
            if place.ordered and not won:
                raise
            warnings.append(str(error))
            continue
        found += [
            (place, entry)
            for entry in entries
            if entry.name == name or (entry.uid == name and not place.active)
        ]
    return (
        _first(name, found, warnings)
        if found and found[0][0].ordered
        else _nowhere(name, scopes, found=found, lookup=lookup, names=names)
    )


def rows(
    scopes: Sequence[Scope], entries: Callable[[Scope], Iterable[Entry]], *, everything: bool = True
) -> tuple[Row, ...]:
    """List tools by name, then by the order of their scopes; those whose name is not known come
    last.

    `entries` gives a scope's tools as a Catalog lists them: where they share a name they have a
    `problem`. A broken tool whose name is known still shadows. `everything=False` gives the
    available ones and asks only ordered scopes.
    """
    listed = [
        (scope, entry)
        for scope in scopes
        if everything or scope.ordered
        for entry in entries(scope)
    ]
    shared = _shared_uids(listed) if sum(scope.active for scope in scopes) > 1 else {}
    first: dict[str, tuple[str, str]] = {}
    named, nameless = list[Row](), list[Row]()
    for scope, entry in listed:
        row = _row(scope, entry, first)
        if not everything and row.status != "available":
            continue
        if shared and (other := shared.get((scope.name, entry.uid))):
            problem = "; ".join(filter(None, (entry.problem, f"shares its uid with {other}")))
            row = replace(row, entry=replace(entry, problem=problem))
        (nameless if entry.name is None else named).append(row)
    return (*sorted(named, key=_name_of), *nameless)


def _name_of(row: Row) -> str:
    return str(row.entry.name)


def _row(scope: Scope, entry: Entry, first: dict[str, tuple[str, str]]) -> Row:
    """Return the row of an entry; `first` is given the scope and the uid that each name means."""
    broken = entry.problem is not None
    if not scope.ordered:
        return Row(entry=entry, status="broken" if broken else "inactive")
    shadowed_by = None
    if entry.name is not None:
        by, uid = first.setdefault(entry.name, (scope.name, entry.uid))
        shadowed_by = uid if by != scope.name else None
    return Row(
        entry=entry,
        status="broken" if broken else "shadowed" if shadowed_by else "available",
        shadowed_by=shadowed_by,
    )


def _shared_uids(listed: Iterable[Found]) -> dict[tuple[str, str], str]:
    """Name, for each active tool whose uid another active scope has too, the first other scope's
    tool.
    """
    holders: dict[str, list[Scope]] = {}
    for scope, entry in listed:
        if scope.active:
            holders.setdefault(entry.uid, []).append(scope)
    return {
        (scope.name, uid): f"{(same[1] if scope is same[0] else same[0]).name}/{uid}"
        for uid, same in holders.items()
        if len(same) > 1
        for scope in same
    }


def _by_uid(uid: str, scopes: Sequence[Scope], lookup: Lookup) -> list[Found]:
    return [
        (scope, entry)
        for scope in scopes
        if scope.active
        for entry in lookup(scope, uid)
        if entry.uid == uid
    ]


def _qualified(
    name: str, scopes: Sequence[Scope], *, wanted: str, lookup: Lookup, names: Names | None
) -> Resolution:
    found = [(scope, entry) for scope in scopes for entry in lookup(scope, wanted)]
    if not found or not found[0][0].active:
        return _nowhere(name, scopes, found=found, lookup=lookup, names=names)
    return _one(name, found, reason=f"the name includes its scope, {found[0][0].name}")


def _one(name: str, found: Sequence[Found], *, reason: str) -> Resolution:
    (scope, entry), *_ = found
    if len(found) > 1:
        raise _ambiguous(name, found)
    _refuse_broken(entry)
    chosen = Candidate(entry=entry, status="selected", reason=reason, decided_by=scope.decided_by)
    return Resolution(name=name, entry=entry, reason=reason, candidates=(chosen,))


def _first(name: str, found: Sequence[Found], warnings: Sequence[str]) -> Resolution:
    winner, entry = found[0]
    same = [pair for pair in found if pair[0] is winner]
    if len(same) > 1:
        raise _ambiguous(name, same)
    _refuse_broken(entry)
    reason = f"{winner.name} is the first scope in the order that has it"
    chosen = Candidate(entry=entry, status="selected", reason=reason, decided_by=winner.decided_by)
    others = tuple(_other(scope, other, by=found[0], among=found) for scope, other in found[1:])
    twins = [
        f"{scope.name}/{other.uid}"
        for scope, other in found[1:]
        if scope.active and other.uid == entry.uid
    ]
    shared = (f"the UID {entry.uid} is not unique: {twin} also has it" for twin in twins)
    return Resolution(
        name=name,
        entry=entry,
        reason=reason,
        candidates=(chosen, *others),
        warnings=(*shared, *warnings),
    )


def _other(scope: Scope, entry: Entry, *, by: Found, among: Sequence[Found]) -> Candidate:
    winner, winning = by
    if not scope.ordered:
        reason = (
            "its scope is not in tool_resolution_order"
            if scope.active
            else f"the kit {scope.name} is not active"
        )
        return Candidate(entry=entry, status="inactive", reason=reason, decided_by=scope.decided_by)
    if entry.problem is not None:
        status, reason = "broken", entry.problem
    elif sum(1 for place, _ in among if place is scope) > 1:
        status, reason = "ambiguous", f"{scope.name} has several tools of that name"
    else:
        status, reason = "shadowed", f"{winner.name} comes before {scope.name}"
    return Candidate(
        entry=entry,
        status=status,
        reason=reason,
        decided_by=scope.decided_by,
        shadowed_by=winning.uid,
    )


def _ambiguous(name: str, found: Sequence[Found]) -> AmbiguousTool:
    places = {scope.name for scope, _ in found}
    uids = [
        entry.uid if len(places) == 1 else f"{scope.name}/{entry.uid}" for scope, entry in found
    ]
    owner = found[0][0].name if len(places) == 1 else "the project"
    return AmbiguousTool(name, scope=owner, uids=uids, paths=[entry.path for _, entry in found])


def _refuse_broken(entry: Entry) -> None:
    if entry.problem is not None:
        raise InvalidTool(entry.uid, [entry.problem], path=entry.path)


def _refuse_nameless(name: str, scopes: Sequence[Scope], lookup: Lookup) -> None:
    """Raise InvalidTool for a tool whose config.json cannot be read, so that its directory alone
    says its name.
    """
    for scope in scopes:
        for entry in lookup(scope, f"{_UID_PREFIX}{name.lower()}") if scope.ordered else ():
            if entry.name is None:
                _refuse_broken(entry)


def _nowhere(
    name: str,
    scopes: Sequence[Scope],
    *,
    found: Sequence[Found],
    lookup: Lookup,
    names: Names | None,
) -> Resolution:
    searched = [scope.name for scope in scopes if scope.active and (scope.ordered or "/" in name)]
    if not found:
        _refuse_nameless(name.rpartition("/")[2], scopes, lookup)
        close = near(name.rpartition("/")[2], sorted(set(names()))) if names else []
        unknown = "/" in name and not scopes
        raise ToolNotFound(
            name,
            searched=searched,
            close=close,
            reason=f"there is no scope {name.partition('/')[0]!r}" if unknown else "",
        )
    scope, entry = found[0]
    if scope.active:
        whole = f"{scope.name}/{entry.name or entry.uid}"
        raise ToolNotFound(
            name,
            searched=searched,
            reason=f"{scope.name} has it, but is not in tool_resolution_order",
            hint=f"call it as {whole}",
        )
    kits = list(dict.fromkeys(scope.name for scope, _ in found if not scope.active))
    named = join_words(map(repr, kits), most=_MOST_KITS)
    raise ToolNotFound(
        name,
        searched=searched,
        reason=f"the kit {named} has it, but is not active"
        if len(kits) == 1
        else f"the kits {named} have it, but none is active",
        hint=" or ".join(f"`vespe kit activate {kit}`" for kit in kits[:_MOST_KITS])
        + " makes it available",
    )
