"""Whether a tool's next version keeps its contract: a verdict for each change, with its place,
never a guess; pure.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

from vespe.documents.near import join_words
from vespe.documents.pointers import pointer_to
from vespe.models import JsonObject, JsonValue, Tool
from vespe.records import dataclass, json_of
from vespe.schemas import validator
from vespe.schemas.comparison.gaps import NOTHING, Gap, gaps
from vespe.schemas.explain import short

Verdict: TypeAlias = Literal["compatible", "breaking", "unknown"]
VERDICTS: Final[tuple[Verdict, ...]] = ("breaking", "unknown", "compatible")
"""The gravest first. Breaking is shown by a value or follows from what is gone; compatible is
proved; unknown is all else.
"""
_DEFINITIONS: Final = ("$defs", "definitions")
_SAID_TO_PEOPLE: Final = (
    "title",
    "description",
    "examples",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
)
_ABSENT: Final = object()
Steps: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What callers of a tool rely on; `command` is what runs, as data, with digests of its
    files.
    """

    name: str
    description: str
    input_schema: JsonValue
    output_schema: JsonValue | None
    command: JsonValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change between two versions of a tool.

    `part` is `tool`, `name`, `description`, `input`, `output` or `command`; of what models see,
    `preset` and `expose` too. `pointer` is an RFC 6901 pointer into the config.json of the version
    `side` (`old` for what is gone, else `new`), the tool's or, below `/tools`, the project's.
    `example` is a whole input that the old version takes and the new one refuses, or a whole output
    that the new version may give and the old one never did; `has_example` says if so.
    """

    part: str
    verdict: Verdict
    message: str
    pointer: str = ""
    side: Literal["old", "new"] = "new"
    example: JsonValue = None
    has_example: bool = False

    def to_json(self) -> JsonObject:
        """Return the change as `tool diff --json` prints it; `example` is there only where there is
        one.
        """
        document = json_of(self, "part", "verdict", "pointer", "side", "message")
        return document | ({"example": self.example} if self.has_example else {})


def contract_of(tool: Tool, *, command: JsonValue = None) -> Contract:
    """Return what callers of a tool rely on; `command` stands for its `implementation_details`,
    where their files are known too.
    """
    return Contract(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        command=command if command is not None else tool.document.get("implementation_details"),
    )


def changes(old: Contract, new: Contract) -> list[Change]:
    """Return every change from `old` to `new`, the gravest first; `[]` where they are the same.

    Inputs are compared as calls judge them: a root that says nothing of other names refuses them. A
    default counts as what the tool does, so that another one is unknown. Both contracts hold
    schemas that Vespe accepts.
    """
    found = [
        *_name(old, new),
        *_input(old, new),
        *_output(old, new),
        *_command(old, new),
        *_description(old, new),
    ]
    return sorted(found, key=lambda change: VERDICTS.index(change.verdict))


def verdict_of(found: Sequence[Change]) -> Verdict:
    """Return the gravest verdict of some changes; none at all are compatible."""
    return min((change.verdict for change in found), key=VERDICTS.index, default="compatible")


def _name(old: Contract, new: Contract) -> Iterator[Change]:
    if old.name != new.name:
        message = f"was renamed from {old.name} to {new.name}: calls by the old name fail"
        yield Change(part="name", verdict="breaking", message=message, pointer="/name")


def _description(old: Contract, new: Contract) -> Iterator[Change]:
    if old.description != new.description:
        message = (
            "the description changed: a model may choose differently, but arguments and "
            "results are the same"
        )
        yield Change(
            part="description", verdict="compatible", message=message, pointer="/description"
        )


def _command(old: Contract, new: Contract) -> Iterator[Change]:
    if old.command != new.command:
        places = [_place_of_command(steps) for steps, _, _ in differences(old.command, new.command)]
        message = (
            f"the implementation changed ({join_words(places, most=5)}), and its effect "
            "cannot be determined"
        )
        yield Change(
            part="command", verdict="unknown", message=message, pointer="/implementation_details"
        )


def _place_of_command(steps: tuple[str | int, ...]) -> str:
    """Return the pointer of what changed in config.json, or the name of a changed file: a command
    holds `details` and, by name, the digests of `files` where the directory is compared too.
    """
    match steps:
        case ("files", str(name)):
            return name
        case ("details", *rest):
            return pointer_to(("implementation_details", *rest))
    return pointer_to(("implementation_details", *steps))


def _input(old: Contract, new: Contract) -> Iterator[Change]:
    if old.input_schema == new.input_schema and _order(old.input_schema) == _order(
        new.input_schema
    ):
        return
    found = gaps(
        validator.closed_schema(old.input_schema), validator.closed_schema(new.input_schema)
    )
    for gap in found:
        yield _change("input", gap, "callers may send", sides=("old", "new"))
    yield from _rest("input", old.input_schema, new.input_schema, found)


def _output(old: Contract, new: Contract) -> Iterator[Change]:
    before, after = (
        True if schema is None else schema for schema in (old.output_schema, new.output_schema)
    )
    if before == after and _order(before) == _order(after):
        return
    found = gaps(after, before)
    for gap in found:
        yield _change("output", gap, "callers may now get", sides=("new", "old"))
    yield from _rest("output", before, after, found)


def _order(value: JsonValue) -> str:
    return repr(value)  # apart from ==, which takes 1, 1.0 and true for the same


def _change(
    part: str, gap: Gap, can: str, *, sides: tuple[Literal["old", "new"], Literal["old", "new"]]
) -> Change:
    shown = gap.witness is not NOTHING
    why = (
        f"{can} {short(gap.witness)}" if shown else "whether that breaks callers cannot be decided"
    )
    said = gap.message if part == "input" else f"in the old schema, {gap.message}"
    if gap.unknown:
        said = f"{gap.unknown} {'is no longer' if part == 'input' else 'was not'} known"
    return Change(
        part=part,
        verdict="breaking" if shown else "unknown",
        message=f"{said}; {why}",
        pointer=pointer_to(("schema", part, *gap.steps)),
        side=sides[0] if gap.gone else sides[1],
        example=gap.witness if shown else None,
        has_example=shown,
    )


def _rest(part: str, old: JsonValue, new: JsonValue, found: list[Gap]) -> Iterator[Change]:
    """The differences that no gap is about: all that is left of the proof is that they are
    compatible.
    """
    for steps, before, after in differences(old, new):
        if any(_touches(gap.steps, steps) for gap in found):
            continue
        side: Literal["old", "new"] = "old" if after is _ABSENT else "new"
        verdict: Verdict = "compatible"
        if steps and steps[-1] == "default" and part == "input":
            verdict = "unknown"
        elif found and (
            (steps[:1] and steps[0] in _DEFINITIONS) or any(not gap.steps for gap in found)
        ):
            # whether the places that use it are among those with a gap is not asked
            verdict = "unknown"
        yield Change(
            part=part,
            verdict=verdict,
            message=_said(before, after, steps),
            pointer=pointer_to(("schema", part, *steps)),
            side=side,
        )


def _touches(gap: Steps, steps: Steps) -> bool:
    one, other = tuple(map(str, gap)), tuple(map(str, steps))
    if one[:-1] == other[:-1] and {one[-1:], other[-1:]} <= _PAIRED:
        return True
    return one == other[: len(one)] or other == one[: len(other)]


_PAIRED: Final = {("enum",), ("const",), ("type",), ("anyOf",), ("oneOf",)}
"""Keywords that often say the same by turns: a gap at one tells of a change from another."""


def _said(before: Any, after: Any, steps: Steps) -> str:
    # a number alone does not say what it was: the pointer is easily overlooked
    what = "the default " if steps[-1:] == ("default",) and steps[-2:-1] != ("properties",) else ""
    if before is _ABSENT:
        return f"{what}{short(after)} is new"
    if after is _ABSENT:
        return f"{what}{short(before)} is gone"
    return f"{what}was {short(before)}, is {short(after)}"


def differences(old: Any, new: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any, Any]]:
    """Return each place where two documents differ, as deep as they are both objects, with what
    stands on each side.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from differences(old.get(key, _ABSENT), new.get(key, _ABSENT), (*steps, key))
    elif old is _ABSENT or new is _ABSENT or _order(old) != _order(new):
        yield steps, old, new
