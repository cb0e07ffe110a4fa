"""What a lint rule is given and what it gives: subjects, outlines, rules; one page, no logic."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from types import ModuleType
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from vespe.calls.policy_rules import PolicyRule as CallRule
from vespe.models import JsonValue, Severity
from vespe.records import dataclass
from vespe.tools.directory import Problem

Family: TypeAlias = Literal[
    "layout",
    "naming",
    "schema",
    "portability",
    "description",
    "safety",
    "sets",
    "signature",
    "flow",
]
"""The families, in the order in which they are shown."""
Part: TypeAlias = str
"""A part of a definition: `name`, `description`, `input_schema`, `output_schema`, `annotations`, or
`""` for the whole.
"""


class Node(NamedTuple):
    """One subschema of a definition: the part that it stands in, the pointer below that part, and
    itself.

    `depth` counts from 1 for the part's root. `steps` are the keys and indexes of `pointer`.
    """

    part: Part
    pointer: str
    schema: dict[str, JsonValue]
    depth: int
    steps: tuple[str | int, ...]


class SchemaProblem(NamedTuple):
    """What `schemas.check_schema` says of one of the two schemas (whose root may be of any
    type).
    """

    part: Part
    pointer: str
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing wrong: where, a sentence, and what to do about it.

    `pointer` is relative to the part. `target` names the one API that it is about, where a rule
    speaks for several. `severity` takes the place of the rule's. `file`, a path relative to the
    tool's directory, with `line` and `column`, is for what stands in another file than the
    definition; then part and pointer are not looked at.
    """

    message: str
    part: Part = ""
    pointer: str = ""
    fix: str | None = None
    target: str | None = None
    severity: Severity | None = None
    file: str | None = None
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One tool definition to judge.

    `name` and `description` are None where they are absent or not a string; `input_schema` and
    `output_schema` are as they stand, None where absent. `pointers` gives the pointer of each part
    that is there; `""` is always in it. `api` is `vespe`, `openai`, `openai-responses`,
    `anthropic`, `ollama`, `mcp`, `gemini` or `bare` (name, description, parameters, and nothing
    that says whose). `document` is the definition as it stands: config.json whole, or one item of a
    list. `nodes` are all object subschemas of both schemas, roots included, at most some thousands;
    `schema_problems` all that is wrong with the two as JSON Schemas. `directory` and `problems`
    (what the one validator says) are for Vespe's own tools; for the configuration of a kit or a
    project, `api` is `kit` or `project` and only the rules that are made for those are asked.
    """

    name: str | None
    description: str | None
    input_schema: JsonValue
    output_schema: JsonValue
    api: str
    pointers: Mapping[Part, str]
    document: JsonValue
    nodes: Sequence[Node] = ()
    schema_problems: Sequence[SchemaProblem] = ()
    directory: str | None = None
    kit_id: str | None = None
    problems: Sequence[Problem] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What is kept of each definition for the rules over sets; small, since there may be 10,000.

    `size` is the number of characters of the compact JSON that a model would be sent: name,
    description, input schema. `linted` is False for what is only there for comparison (tools of
    active kits beside a project's own): no finding is about it alone. `scope` is `project_tools`, a
    kit's id, or a file's path; `available` is False where another tool of its name shadows this
    one. `name` is the one that models know, `own_name` the tool's own where it is another;
    `effects` are its effects with the reason for each, `assumed` those that its author does not
    state, `queries` what people ask for. `always` says that a project exposes it always, so that it
    is declared beside a bridge.
    """

    name: str
    description: str
    parameters: tuple[str, ...]
    size: int
    api: str = "vespe"
    scope: str = ""
    directory: str | None = None
    kit_id: str | None = None
    linted: bool = True
    available: bool = True
    own_name: str = ""
    effects: Mapping[str, str] = field(default_factory=dict)
    assumed: frozenset[str] = frozenset()
    queries: tuple[str, ...] = ()
    always: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a project's configuration says to the rules over sets: `tool_budget` in tokens, None for
    no budget.

    `guards` are its rules that deny or ask for every call of a tool; `flow_guarded` says that its
    `approvals.flow` asks or denies. `has_project` is false for tools that are judged without a
    project, such as a kit's alone: then nobody can have set rules. `tools_mode` is how a model is
    told of the tools: one of `modes.MODES`.
    """

    tool_budget: int | None = None
    guards: tuple[CallRule, ...] = ()
    flow_guarded: bool = False
    has_project: bool = False
    tools_mode: str = "all"

    def is_guarded(self, name: str, own_name: str, scope: str) -> bool:
        """Say whether a person stands before every call of a tool."""
        return any(rule.names(own_name or name, scope=scope) for rule in self.guards)


Check: TypeAlias = Callable[[Subject], Iterator[Found]]
SetCheck: TypeAlias = Callable[[Sequence[Outline], Bounds], Iterator[tuple[int, Found]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule over one definition; `rule` makes it of a function.

    `code` is kebab-case, stable, and begins with its family's word. `title` is one line;
    `rationale`, `bad` and `good` (JSON or text) are what `--explain` and docs/lint.md show.
    `targets` are the APIs that a portability rule speaks for: such an error stays one only where
    the definition is in that API's own shape or the API was asked for by `--target`; elsewhere it
    is a warning. Empty: every target. `check` never raises, whatever the subject holds, and runs
    nothing of it.
    """

    code: str
    family: Family
    severity: Severity
    title: str
    rationale: str
    bad: str
    good: str
    check: Check
    targets: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRule:
    """One rule over all definitions that a model would see together: yields (index into the
    outlines, found); `set_rule` makes it of a function.

    A `Found` of a SetRule with index -1 is about the set as a whole. One that `reads_files` goes by
    more than the outlines and the bounds.
    """

    code: str
    family: Family
    severity: Severity
    title: str
    rationale: str
    bad: str
    good: str
    check: SetCheck
    targets: frozenset[str] = field(default_factory=frozenset)
    reads_files: bool = False


AnyRule: TypeAlias = Rule | SetRule
_DOCSTRING: Final = re.compile(r"(.+)\.\n\n((?:.+\n)+)\nBad: ((?:.+\n)+)Good: ((?:.+\n)*.+)")
_FAMILIES: Final[dict[str, Family]] = {family: family for family in get_args(Family)}


class _Texts(NamedTuple):
    """What a rule's docstring says."""

    title: str
    rationale: str
    bad: str
    good: str


def rule(
    code: str, severity: Severity, *, targets: frozenset[str] = frozenset()
) -> Callable[[Check], Rule]:
    """Make a rule of the function that checks one definition.

    Its docstring is the rule's documentation: a title, why it matters, and one example of each
    kind, in four parts. A line end counts as a space.

        '''A tool has no description.

        A model chooses tools by their names, descriptions and schemas.

        Bad: {"name": "get_weather"}
        Good: {"name": "get_weather", "description": "Tell the weather of a city today."}
        '''
    """

    def made(check: Check) -> Rule:
        texts = _texts(code, check.__doc__)
        return Rule(
            code=code,
            family=_family(code),
            severity=severity,
            check=check,
            targets=targets,
            **texts._asdict(),
        )

    return made


def set_rule(
    code: str, severity: Severity, *, reads_files: bool = False
) -> Callable[[SetCheck], SetRule]:
    """Make a rule of the function that checks all definitions together; see `rule`."""

    def made(check: SetCheck) -> SetRule:
        texts = _texts(code, check.__doc__)
        return SetRule(
            code=code,
            family=_family(code),
            severity=severity,
            check=check,
            reads_files=reads_files,
            **texts._asdict(),
        )

    return made


def rules_in(module: ModuleType) -> tuple[AnyRule, ...]:
    """Return the rules that a module defines, in its order."""
    return tuple(
        value
        for value in vars(module).values()
        if isinstance(value, (Rule, SetRule)) and value.check.__module__ == module.__name__
    )


def _family(code: str) -> Family:
    family = _FAMILIES.get(code.partition("-")[0])
    if family is None:
        raise ValueError(f"the code of the rule {code} begins with none of {', '.join(_FAMILIES)}")
    return family


def _texts(code: str, docstring: str | None) -> _Texts:
    """Read a rule's docstring; `python -OO` has none, and then a rule is known by its code."""
    if docstring is None:
        return _Texts(code, "", "", "")
    found = _DOCSTRING.fullmatch(inspect.cleandoc(docstring))
    if found is None:
        raise ValueError(
            f"the docstring of the rule {code} must be a title, a paragraph that says why, "
            "and one that begins with Bad: and goes on with Good: on a line of its own"
        )
    return _Texts(*(part.strip().replace("\n", " ") for part in found.groups()))
