"""The group and its lazy table."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from vespe.cli import main
from vespe.cli.verbs import ALIASES, VERBS

Command = Callable[..., Any]


def test_a_mistyped_verb_gets_the_nearest_ones(command: Command) -> None:
    said = command("tool", "lst")
    assert said.code == 2 and "list" in said.err


def test_usage_errors_are_json_where_json_is_asked_for(command: Command) -> None:
    said = command("tool", "list", "--bogus", "--json")
    assert said.code == 2 and said.document["error"]["code"] == "usage"


def test_the_version_is_printed(command: Command) -> None:
    assert command("--version").out.startswith("vespe, version 0.")
    assert command("-V").out == command("version").out == command("--version").out


def test_without_a_verb_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert "Start:" in captured.out + captured.err


def test_every_verb_is_under_exactly_one_heading(command: Command) -> None:
    listed = re.findall(r"^  ([a-z]+)  ", command("--help").out, re.MULTILINE)
    assert sorted(listed) == sorted(VERBS)


@pytest.mark.parametrize(
    ("group_name", "word", "verb"),
    [(name, *one) for name, words in ALIASES.items() for one in words.items()],
)
def test_every_other_word_for_a_verb_shows_that_verb_s_help(
    group_name: str, word: str, verb: str, command: Command
) -> None:
    where = [group_name] if group_name else []
    page = command(*where, word, "--help")
    assert page.code == 0 and page.out == command(*where, *verb.split(), "--help").out
    assert word not in (VERBS[group_name][1] if group_name else VERBS)


@pytest.mark.parametrize(
    "words", ["trsut", "tust", "kit instal", "kit isntall", "kit updat", "kit synk", "untrst"]
)
def test_nobody_who_mistypes_is_led_to_what_trusts_or_installs(
    words: str, command: Command
) -> None:
    said = command(*words.split())
    assert said.code == 2 and "did you mean" not in said.err


@pytest.mark.parametrize(
    ("words", "tip"),
    [
        ("tool lst", "`vespe tool list`"),
        ("tst", "`vespe tool test`"),
        ("kit unistall", "`vespe kit remove`"),
        ("tool create x --type python", "python_script"),
        ("mcp config claude", "claude-code or claude-desktop"),
        ("tool list --al", "--all"),
        ("export --as open", "openai or openai-responses"),
    ],
)
def test_a_word_of_a_list_that_is_mistyped_gets_a_tip(
    words: str, tip: str, command: Command
) -> None:
    said = command(*words.split())
    assert said.code == 2 and f"tip: did you mean {tip}?" in said.err
