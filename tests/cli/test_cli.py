"""The group and its lazy table."""

from collections.abc import Callable
from typing import Any

import pytest

from vespe.cli import main

Command = Callable[..., Any]


def test_a_mistyped_verb_gets_the_nearest_ones(command: Command) -> None:
    said = command("tool", "lst")
    assert said.code == 2 and "list" in said.err


def test_usage_errors_are_json_where_json_is_asked_for(command: Command) -> None:
    said = command("tool", "list", "--bogus", "--json")
    assert said.code == 2 and said.document["error"]["code"] == "usage"


def test_the_version_is_printed(command: Command) -> None:
    assert command("--version").out.startswith("vespe, version 0.")


def test_without_a_verb_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert "Commands:" in captured.out + captured.err
