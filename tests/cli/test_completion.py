"""`vespe completion`."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.terminal import vespe_on_a_terminal

Command = Callable[..., Any]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_calls_vespe_back(command: Command, shell: str) -> None:
    said = command("completion", shell)
    assert "_VESPE_COMPLETE" in said.out and said.err == ""


def test_how_to_install_it_is_said_on_a_terminal_alone() -> None:
    assert "to install it" in vespe_on_a_terminal("completion", "bash")


def completed(words: str) -> list[str]:
    environment = {
        **os.environ,
        "_VESPE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = subprocess.run(
        [sys.executable, "-m", "vespe"],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return [line.partition(",")[2] for line in done.stdout.split()]


def test_verbs_are_completed() -> None:
    assert completed("vespe tool re") == ["resolve", "rename", "remove"]


def test_settings_are_completed_those_of_a_project_too() -> None:
    assert completed("vespe config set sand") == ["sandbox"]
    assert completed("vespe config set --project tool_") == ["tool_budget", "tool_resolution_order"]
    assert completed("vespe config set --project secrets") == []
