"""Definitions judged by some rules alone, for the tests of those rules."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from vespe.features.lint import foreign, subjects
from vespe.features.lint.base import Found, Rule, SetRule, Subject, rules_in
from vespe.features.lint.foreign import Definition


def subject(**parts: Any) -> Subject:
    """A definition with a name, a description and a schema without arguments, but for what is
    given; MCP's unless `api` says otherwise.
    """
    empty = {"type": "object", "properties": {}, "additionalProperties": False}
    given = {
        "api": "mcp",
        "name": "get_weather",
        "description": "Tell the weather of a city.",
        "input_schema": empty,
    } | parts
    given.setdefault(
        "document",
        {
            "name": given["name"],
            "description": given["description"],
            "inputSchema": given["input_schema"],
        },
    )
    given.setdefault(
        "pointers",
        {"": "", "input_schema": "/inputSchema"}
        | ({"output_schema": "/o"} if "output_schema" in parts else {}),
    )
    return subjects.of_definition(Definition(**given))


def corpus_subjects(*paths: Path) -> Iterator[Subject]:
    """The definitions of real files, in the shapes that their files have."""
    for path in paths:
        yield from map(subjects.of_definition, foreign.read(path).definitions)


def rules_of(module: ModuleType) -> tuple[Rule, ...]:
    """The rules of a module that judge one definition."""
    return tuple(rule for rule in rules_in(module) if isinstance(rule, Rule))


def set_rules_of(module: ModuleType) -> tuple[SetRule, ...]:
    """The rules of a module that judge all definitions together."""
    return tuple(rule for rule in rules_in(module) if isinstance(rule, SetRule))


def found_by(rules: Iterable[Rule], given: Subject) -> list[tuple[str, Found]]:
    """What the rules say, as (code, found)."""
    return [(rule.code, found) for rule in rules for found in rule.check(given)]


def codes(rules: Iterable[Rule], given: Subject) -> list[str]:
    """The codes of what the rules say, each once, in order."""
    return list(dict.fromkeys(code for code, _ in found_by(rules, given)))


def errors_in_own_shape(rules: Sequence[Rule], given: Subject) -> list[tuple[str, Found]]:
    """The errors that stay errors: those about the API whose shape the definition has, or about
    none alone.
    """
    severities = {rule.code: rule.severity for rule in rules}
    own = {"openai-responses": "openai"}.get(given.api, given.api)
    return [
        (c, f)
        for c, f in found_by(rules, given)
        if (f.severity or severities[c]) == "error" and f.target in (None, own)
    ]
