"""What the rules over one definition find in a tool directory, as plain values: without the
settings of a run, which decide what of it is told.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from vespe.documents import positions
from vespe.features.lint import settings as lint_settings
from vespe.features.lint import subjects
from vespe.features.lint.base import Found, Outline, Rule, Subject
from vespe.features.lint.sources import Source, position_of
from vespe.files.on_path import is_on_path
from vespe.models import Implementation
from vespe.processes.sandbox.places import find_leads
from vespe.tool_types import type_in
from vespe.tools import in_place, origins
from vespe.tools.effects import FlowContext
from vespe.tools.permissions import permissions_of

_PLACE_FAMILY: Final = "layout"
Stated = tuple[tuple[str, ...], tuple[str, ...]]
"""The paths that a tool states to read, and those to write."""


class Located(NamedTuple):
    """What one rule found, with its pointer from the root of config.json, its line and column."""

    code: str
    found: Found
    pointer: str
    place: positions.Position


class Outside(NamedTuple):
    """What a judgement rests on that is not in the tool's directory: programs, and whether each is
    on PATH; stated paths, and which of them are links out of the project, with where they lead.

    `is_more` says that there is something else: then the judgement holds for this moment alone.
    """

    programs: tuple[tuple[str, bool], ...] = ()
    stated: Stated = ((), ())
    leads: tuple[tuple[str, str], ...] = ()
    is_more: bool = False

    def still_holds(self, directory: str) -> bool:
        """Say whether all of it is now as it was."""
        return (
            not self.is_more
            and all(is_on_path(program) == was_there for program, was_there in self.programs)
            and self.leads == leads_of(directory, self.stated)
        )


class Judgement(NamedTuple):
    """What is to be said of a tool directory.

    `found` is None where no rule was asked. `reasons` are those of the tool's own ignores, and
    `wrong` is what is wrong with these. `outline` is the one without a project's view, None for
    what has no name.
    """

    name: str | None
    reasons: dict[str, str]
    wrong: list[lint_settings.Wrong]
    found: list[Located] | None
    outline: Outline | None
    outside: Outside


def judge(
    directory: str,
    *,
    kit_id: str | None,
    scope: str,
    around: FlowContext,
    rules: Sequence[Rule] | None,
) -> Judgement:
    """Judge a tool directory by these rules; None asks none of them."""
    subject = subjects.of_tool(directory, kit_id=kit_id)
    reasons, wrong = lint_settings.ignores(subject.document)
    return Judgement(
        name=subject.name,
        reasons=reasons,
        wrong=wrong,
        found=None if rules is None else list(_located(subject, rules)),
        outline=None
        if subject.name is None
        else subjects.outline(subject, scope=scope, linted=True, available=True, around=around),
        outside=_outside(subject, directory),
    )


def found_by(rules: Iterable[Rule], subject: Subject) -> Iterator[tuple[Rule, Found]]:
    """Ask each rule; of what is no tool, only those that are made for files and configurations."""
    only_places = subject.document is None or subject.api in ("kit", "project")
    for rule in rules:
        if not only_places or rule.family == _PLACE_FAMILY:
            for found in rule.check(subject):
                yield rule, found


def _located(subject: Subject, rules: Iterable[Rule]) -> Iterator[Located]:
    source = Source(path=f"{subject.directory}/config.json", pointers=subject.pointers)
    every = [(rule.code, found, source.pointer(found)) for rule, found in found_by(rules, subject)]
    pointers = {pointer for _, _, pointer in every}
    places = positions.locate(source.read() if pointers - {""} else "", pointers)
    for code, found, pointer in every:
        yield Located(code, found, pointer, position_of(found, places[pointer]))


def _outside(subject: Subject, directory: str) -> Outside:
    document = subject.document if isinstance(subject.document, dict) else {}
    details, permissions = document.get("implementation_details"), document.get("permissions")
    kind = type_in(details)
    programs: tuple[tuple[str, bool], ...] = ()
    if kind is not None and isinstance(details, dict):
        named = kind.programs(_implementation(details), directory)
        programs = tuple((one, is_on_path(one)) for one in named if one and "/" not in one)
    said = permissions_of(permissions) if isinstance(permissions, dict) else None
    stated = (tuple(said.read or ()), tuple(said.write or ())) if said else ((), ())
    return Outside(
        programs=programs,
        stated=stated,
        leads=leads_of(directory, stated),
        is_more=origins.KEY in document or in_place.standing(directory, document) is not None,
    )


def _implementation(details: dict[str, object]) -> Implementation:
    path, entrypoint, args = (details.get(key) for key in ("path", "entrypoint", "args"))
    return Implementation(
        type=str(details.get("type")),
        path=path if isinstance(path, str) else None,
        entrypoint=entrypoint if isinstance(entrypoint, str) else None,
        args=args if isinstance(args, dict) else {},
    )


def leads_of(directory: str, stated: Stated) -> tuple[tuple[str, str], ...]:
    """Return the stated paths that lead out of the project whose tool stands in a directory, and
    where to.
    """
    root = origins.project_of(directory) if any(stated) else None
    if root is None:
        return ()
    read, write = map(list, stated)
    found = find_leads(root, permissions_of({"read": read, "write": write}))
    return tuple((place.stated, place.leads) for place in found)
