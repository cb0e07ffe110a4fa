"""The options that the agent's commands share."""

from collections.abc import Callable
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.mark.parametrize("verb", ["run", "chat"])
def test_the_commands_take_the_same_options(command: Command, verb: str) -> None:
    said = command("agent", verb, "--help").out
    for option in (
        "--provider",
        "--model",
        "--script",
        "--system",
        "--tools",
        "--kit",
        "--approve",
        "--max-iterations",
        "--stream / --no-stream",
    ):
        assert option in said


def test_a_model_that_is_not_named_is_asked_for_with_where_to_say_it(command: Command) -> None:
    said = command("agent", "run", "go", "--provider", "ollama")
    assert said.code == 2 and "providers.ollama.model" in said.err


def test_a_key_that_is_not_there_is_6_and_names_its_variable(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    said = command("agent", "run", "go", "--provider", "openai", "--model", "m")
    assert said.code == 6 and "OPENAI_API_KEY" in said.err
