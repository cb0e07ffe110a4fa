"""How models see a project's tools: `tools` in its config.json renames, presets, hides and
describes them, and says who is shown when.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final, Generic, TypeVar

from vespe import defaults
from vespe.documents.fields import wrong_type
from vespe.documents.pointers import pointer_to
from vespe.errors import InvalidDocument
from vespe.models import Entry, Facade, JsonObject, JsonValue, ProjectConfig, Tool
from vespe.records import dataclass
from vespe.tools.names import NAME_PATTERN

TOOLS: Final = "tools"
EXPOSURES: Final = ("always", "search", "never")
"""`always` is declared to a model in every mode, `search` where all tools are or when it was found,
`never` nowhere.
"""
_KEYS: Final = ("as", "preset", "hide", "description", "expose")
_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONS: Final = ("if", "then", "else")


@dataclass(frozen=True, slots=True)
class ViewRule:
    """What `tools` says under one pattern: a tool's name, or `SCOPE/NAME`, either with `*` and
    `?`.
    """

    pattern: str
    said: Mapping[str, Any]

    @property
    def exact(self) -> bool:
        """Whether it is about one name alone."""
        return not any(character in self.pattern for character in "*?")

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """What tells the most exact rule: no wildcard, then a scope, then the most letters."""
        return (
            self.exact,
            "/" in self.pattern,
            sum(character not in "*?" for character in self.pattern),
        )

    def about(self, name: str | None, scope: str) -> bool:
        """Say whether the pattern fits a tool's own name, with its scope where the pattern has
        one.
        """
        wanted = f"{scope}/{name}" if "/" in self.pattern else str(name)
        return fnmatchcase(wanted, self.pattern.replace("[", "[[]"))

    def at(self, *steps: str | int) -> str:
        """Return the pointer of something that the rule says."""
        return pointer_to((TOOLS, self.pattern, *steps))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The tools that models see, by the names that they know; those `always` declared, and a
    sentence on each that is left out.
    """

    tools: Mapping[str, Tool]
    always: frozenset[str]
    left_out: tuple[str, ...] = ()


_Item = TypeVar("_Item", Tool, Entry, Tool | Entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Generic[_Item]):
    """What `Shown` is before any tool was loaded: entries or tools, by the names that models
    know.
    """

    items: Mapping[str, _Item]
    always: frozenset[str]
    left_out: tuple[str, ...] = ()


class View:
    """What a project's `tools` make of its tools; one that says nothing leaves every tool as it is.

    The most exact pattern comes first: it decides on `as`, `description` and `expose`, and on each
    argument of `preset`; what is hidden by any pattern is hidden.
    """

    def __init__(self, rules: Iterable[ViewRule] = (), *, path: str = "") -> None:
        self.rules = tuple(sorted(rules, key=lambda rule: rule.rank, reverse=True))
        self.path = path

    def rules_about(self, name: str | None, scope: str) -> list[ViewRule]:
        """Return the rules about a tool, the most exact first."""
        return [rule for rule in self.rules if rule.about(name, scope)]

    def facts_about(self, name: str | None, scope: str) -> list[tuple[str, JsonValue, str]]:
        """Return what decides how models see a tool, as (key, value, place in the configuration);
        the most exact pattern comes first, and presets and hidden arguments add up.
        """
        facts = [
            (key, value, f"{self.path}#{rule.at(key)}")
            for rule in self.rules_about(name, scope)
            for key, value in rule.said.items()
        ]
        return [
            fact
            for at, fact in enumerate(facts)
            if fact[0] in ("preset", "hide") or fact[0] not in [key for key, *_ in facts[:at]]
        ]

    def said(self, tool: Tool | Entry, key: str) -> tuple[JsonValue, str]:
        """Return what is said of a tool under `as`, `description` or `expose`, and the pointer of
        it; (None, "") where nothing is.
        """
        rules = self.rules_about(tool.name, tool.scope) if self.rules else []
        return next(
            ((rule.said[key], rule.at(key)) for rule in rules if key in rule.said), (None, "")
        )

    def exposure(self, tool: Tool | Entry) -> str:
        """Return one of EXPOSURES, or "" where nothing is said."""
        return self.said(tool, "expose")[0] or ""

    def name_of(self, tool: Tool | Entry) -> str:
        """Return the name that models know a tool by."""
        return self.said(tool, "as")[0] or str(tool.name)

    def named(self, name: str, tools: Iterable[Entry]) -> list[Entry]:
        """Return the tools that models know by a name that is not their own."""
        renames = any(rule.said.get("as") == name for rule in self.rules)
        return (
            [tool for tool in tools if tool.name != name and self.name_of(tool) == name]
            if renames
            else []
        )

    def of(self, tool: Tool) -> Tool:
        """Return a tool as models see it, with the tool itself in `behind`; the tool where nothing
        is said of how it looks.
        """
        rules = self.rules_about(tool.name, tool.scope) if self.rules else []
        if not any(rule.said.keys() - {"expose"} for rule in rules):
            return tool
        taken = _arguments(tool.input_schema)
        preset: JsonObject = {}
        places: dict[str, str] = {}
        hidden: set[str] = set()
        for rule in rules:
            for name, value in rule.said.get("preset", {}).items():
                if name not in preset and (rule.exact or name in taken):
                    preset[name], places[name] = value, f"{self.path}#{rule.at('preset', name)}"
            hidden.update(name for name in rule.said.get("hide", ()) if rule.exact or name in taken)
        gone = hidden | preset.keys()
        description = self.said(tool, "description")[0]
        return replace(
            tool,
            name=self.name_of(tool),
            description=tool.description if description is None else description,
            input_schema=_without(tool.input_schema, gone) if gone else tool.input_schema,
            behind=Facade(tool=tool, preset=preset, hidden=frozenset(hidden), places=places),
        )

    def shown(self, tools: Iterable[Tool]) -> Shown:
        """Return tools as models see them, in their order; of two that would have one name only the
        first is shown, an own name first.
        """
        named = self.named_items(tools)
        seen = (self.of(tool) for tool in named.items.values())
        return Shown(
            tools={tool.name: tool for tool in seen}, always=named.always, left_out=named.left_out
        )

    def named_items(self, items: Iterable[_Item]) -> Named[_Item]:
        """Return which tools `shown` gives, and by which names: entries will do."""
        found, left_out = dict[str, _Item](), list[str]()
        if not self.rules:
            items = list(items)
            by_name = {str(item.name): item for item in items}
            if len(by_name) == len(items):
                return Named(items=by_name, always=frozenset())
        given = [item for item in items if self.exposure(item) != "never"]
        owners = {item.name: item for item in given if self.name_of(item) == item.name}
        for item in given:
            name = self.name_of(item)
            owner = owners.setdefault(name, item)
            if owner is item:
                found[name] = item
            else:
                left_out.append(
                    f"{item.name} is left out: {self.path}#{self.said(item, 'as')[1]} gives "
                    f"it the name {name}, which {owner.name} already has"
                )
        always = frozenset(self.name_of(item) for item in given if self.exposure(item) == "always")
        return Named(items=found, always=always, left_out=tuple(left_out))

    def wrong(self, tools: Iterable[Tool]) -> Iterator[tuple[str, str]]:
        """Yield the pointer of each thing that these tools, a project's available ones, make wrong,
        and a sentence.
        """
        known, names = list(tools), dict[str, str]()
        for rule in self.rules:
            about = [tool for tool in known if rule.about(tool.name, tool.scope)]
            if not about:
                yield rule.at(), f"no available tool is called {rule.pattern!r}"
            if rule.exact:
                for tool in about:
                    yield from _wrong_arguments(rule, tool)
        for tool in sorted(known, key=lambda tool: self.name_of(tool) != tool.name):
            name, (_, where) = self.name_of(tool), self.said(tool, "as")
            if (
                self.exposure(tool) != "never"
                and names.setdefault(name, tool.uid) != tool.uid
                and where
            ):
                yield (
                    where,
                    (f"another tool already has the name {name!r}, so {tool.name} is not shown"),
                )


def view_of(config: ProjectConfig) -> View:
    """Return the view that a project's configuration describes; raises InvalidDocument for what is
    not one.
    """
    path = os.path.join(config.root, defaults.PROJECT_DIR, defaults.CONFIG_FILE)
    return (
        View(read_rules(config.document, path=path), path=path)
        if TOOLS in config.document
        else View()
    )


def read_rules(document: JsonObject, *, path: str) -> tuple[ViewRule, ...]:
    """Read `tools` of a project's config.json; raises InvalidDocument with the pointer of what is
    wrong.
    """
    said = document.get(TOOLS, {})
    if not isinstance(said, dict):
        raise wrong_type(
            "an object with patterns of tools as keys and their settings as values",
            said,
            path=path,
            pointer=f"/{TOOLS}",
        )
    for pattern, given in said.items():
        _check(ViewRule(pattern, given if isinstance(given, dict) else {}), given, path)
    return tuple(ViewRule(pattern, given) for pattern, given in said.items())


def _check(rule: ViewRule, given: JsonValue, path: str) -> None:
    if not isinstance(given, dict):
        raise wrong_type("an object", given, path=path, pointer=rule.at())
    for key, value in given.items():
        if key not in _KEYS:
            raise InvalidDocument(
                f"is not one of {', '.join(_KEYS)}", path=path, pointer=rule.at(key)
            )
        if wanted := _unlike(key, value):
            raise wrong_type(wanted, value, path=path, pointer=rule.at(key))
    if "as" in given and not rule.exact:
        raise InvalidDocument(
            "would rename every tool that matches the pattern; name one tool",
            path=path,
            pointer=rule.at("as"),
        )


def _unlike(key: str, value: JsonValue) -> str:
    """Say what the value of a key must be, or "" where it is that."""
    if key == "as":
        fits, wanted = (
            isinstance(value, str) and bool(NAME_PATTERN.fullmatch(value)),
            "a name: a letter or _, then at most 63 of A-Z a-z 0-9 _ -",
        )
    elif key == "expose":
        fits, wanted = value in EXPOSURES, f"one of {', '.join(EXPOSURES)}"
    elif key == "hide":
        fits, wanted = (
            isinstance(value, list) and all(isinstance(name, str) for name in value),
            "an array of arguments' names",
        )
    elif key == "preset":
        fits, wanted = (
            isinstance(value, dict),
            ("an object with arguments as keys and their values"),
        )
    else:
        fits, wanted = isinstance(value, str), "a string"
    return "" if fits else wanted


def _wrong_arguments(rule: ViewRule, tool: Tool) -> Iterator[tuple[str, str]]:
    from vespe.schemas import validator
    from vespe.schemas.explain import messages_of

    preset, hidden = rule.said.get("preset", {}), rule.said.get("hide", [])
    taken = _arguments(tool.input_schema)
    found = (
        validator.compile_schema(tool.input_schema, closed=True).violations(preset)
        if preset
        else []
    )
    for name in preset:
        about = [
            one
            for one in found
            if name in preset
            and one.code != "required"
            and _is_below(one.pointer, pointer_to((name,)))
        ]
        if about:
            yield (
                rule.at("preset", name),
                f"the preset does not fit the schema of {tool.name}: {messages_of(about)}",
            )
    required = tool.input_schema.get("required")
    for index, name in enumerate(hidden):
        if name not in taken:
            yield rule.at("hide", index), f"{tool.name} has no argument {name!r}"
        elif isinstance(required, list) and name in required and name not in preset:
            yield (
                rule.at("hide", index),
                f"{tool.name} requires {name!r}, so it could not be called: preset the "
                "argument instead",
            )


def _is_below(pointer: str, root: str) -> bool:
    return pointer == root or pointer.startswith(f"{root}/")


def _arguments(schema: JsonObject) -> set[str]:
    """Return the names of the arguments that a schema has at its root, in branches of it too."""
    own = schema.get("properties")
    names = set(own) if isinstance(own, dict) else set[str]()
    for key in _BRANCHES:
        branches = schema.get(key)
        for branch in branches if isinstance(branches, list) else ():
            names |= _arguments(branch) if isinstance(branch, dict) else set()
    return names


def _without(schema: JsonObject, gone: Collection[str]) -> JsonObject:
    """Return a schema that neither shows nor asks for some arguments; what a call gives is judged
    by the whole one.
    """
    made = dict(schema)
    for key in ("properties", "dependentRequired", "dependentSchemas"):
        if isinstance(own := made.get(key), dict):
            made[key] = {name: value for name, value in own.items() if name not in gone}
    if isinstance(required := made.get("required"), list):
        made["required"] = [name for name in required if name not in gone]
    for key in _BRANCHES:
        if isinstance(branches := made.get(key), list):
            made[key] = [
                _without(branch, gone) if isinstance(branch, dict) else branch
                for branch in branches
            ]
    for key in _CONDITIONS:
        if isinstance(branch := made.get(key), dict):
            made[key] = _without(branch, gone)
    return made
