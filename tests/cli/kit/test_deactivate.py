"""`vespe kit deactivate`."""

from collections.abc import Callable
from typing import Any

Command = Callable[..., Any]


def test_an_inactive_kits_tools_are_available_by_no_name(command: Command) -> None:
    command("kit", "activate", "file_io_without_git")
    assert command("kit", "deactivate", "file_io_without_git", "--json").document == {
        "active_kits": []
    }
    assert command("tool", "run", "read_file", "path=x").code == 3
    assert command("tool", "run", "file_io_without_git/read_file", "path=x").code == 3


def test_what_is_not_active_cannot_be_deactivated(command: Command) -> None:
    said = command("kit", "deactivate", "file_io_without_git")
    assert said.code == 3 and "not active" in said.err
