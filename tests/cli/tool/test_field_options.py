"""The options that set keys of config.json."""

from typing import Any

import click
import pytest
from click.testing import CliRunner

from vespe.cli.tool.field_options import field_options, given_fields
from vespe.errors import UsageError


def given(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    @click.command()
    @field_options
    def command(**options: Any) -> None:
        found.update(given_fields(options))

    result = CliRunner().invoke(command, arguments)
    if isinstance(result.exception, UsageError):
        raise result.exception
    return found


def test_nothing_given_sets_nothing() -> None:
    assert given() == {}


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (
            ("--url", "https://a.org", "--method", "PUT"),
            {"path": "https://a.org", "entrypoint": "PUT"},
        ),
        (("--secret", "A", "--secret", "B"), {"secrets": ["A", "B"]}),
        (
            ("--read-only", "--not-destructive"),
            {"annotations": {"readOnlyHint": True, "destructiveHint": False}},
        ),
        (("--timeout", "2.5"), {"limits": {"timeout_s": 2.5}}),
        (("--example", '{"a": 1}'), {"examples": [{"input": {"a": 1}}]}),
        (
            ("--example", '{"input": {"a": 1}, "error": "x"}'),
            {"examples": [{"input": {"a": 1}, "error": "x"}]},
        ),
        (
            ("--read-only", "--set", 'annotations.title="T"'),
            {"annotations": {"readOnlyHint": True, "title": "T"}},
        ),
        (("--set", "example_git=true"), {"example_git": True}),
    ],
)
def test_each_option_sets_its_key(arguments: tuple[str, ...], fields: dict[str, Any]) -> None:
    assert given(*arguments) == fields


@pytest.mark.parametrize("text", ["a", "=1", "version=x", "description.a=1"])
def test_what_is_not_a_key_and_json_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        given("--description", "d", "--set", text)
