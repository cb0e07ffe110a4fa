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


def test_verbs_are_completed() -> None:
    environment = {
        **os.environ,
        "_VESPE_COMPLETE": "bash_complete",
        "COMP_WORDS": "vespe tool re",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "vespe"],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert [line.partition(",")[2] for line in done.stdout.split()] == [
        "resolve",
        "rename",
        "remove",
    ]
