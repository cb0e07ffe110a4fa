"""`vespe untrust`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool

Command = Callable[..., Any]


def test_after_untrust_nothing_runs(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    assert command("tool", "run", "one").code == 0
    assert command("untrust", "--json").document["revoked"] >= 1
    assert command("tool", "run", "one").code == 6


def test_untrust_of_what_has_no_approval_says_so(command: Command) -> None:
    command("untrust")
    assert "was not approved" in command("untrust").err
