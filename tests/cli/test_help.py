"""`vespe help`: commands and topics."""

from collections.abc import Callable
from typing import Any

import pytest

from vespe.cli import boundary
from vespe.cli.help import TOPICS

Command = Callable[..., Any]


def test_the_help_of_a_command_is_the_one_that_its_option_prints(command: Command) -> None:
    assert command("help", "tool", "run").out == command("tool", "run", "--help").out
    page, topics = command("help").out, "Topics: vespe help exit-codes, "
    assert page.startswith(command("--help").out + topics) and page.count("\nTopics: ") == 1
    assert "vespe kit remove" in command("help", "kit", "uninstall").out


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_a_page(command: Command, topic: str) -> None:
    said = command("help", topic)
    assert said.code == 0 and len(said.out.splitlines()) >= 3


def test_the_page_of_exit_codes_has_every_one() -> None:
    codes = {*boundary.CODES.values(), boundary.EXIT_BUG, boundary.EXIT_BROKEN_PIPE}
    assert codes <= {int(line.split()[0]) for line in TOPICS["exit-codes"].splitlines()}


def test_a_word_that_is_neither_is_2_and_the_topics_are_named(command: Command) -> None:
    assert "exit-codes" in command("help", "xyz").err
    assert "did you mean exit-codes?" in command("help", "exit").err
    assert command("help", "tool", "rn").code == 2


def test_a_group_of_a_feature_ends_with_its_example(command: Command) -> None:
    shown = command("secret", "--help").out.rstrip()
    assert shown.endswith("\n\nExample: vespe secret set GITHUB_TOKEN && vespe secret check")
