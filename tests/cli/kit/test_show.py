"""`vespe kit show`."""

from collections.abc import Callable
from typing import Any

Command = Callable[..., Any]


def test_a_kit_is_shown_with_its_tools(command: Command) -> None:
    document = command("kit", "show", "file_io_with_git", "--json").document
    assert {tool["name"] for tool in document["tools"]} == {
        "read_file",
        "write_file",
        "edit_file",
        "list_directory",
        "search_text",
    }
    assert "write_file" in command("kit", "show", "file_io_with_git").out


def test_an_unknown_kit_is_3_with_the_nearest(command: Command) -> None:
    said = command("kit", "show", "file_io_with_gti", "--json")
    assert said.code == 3 and "file_io_with_git" in said.document["error"]["close"]


def test_what_a_kit_states_that_its_tools_may_use_is_shown(command: Command) -> None:
    said = command("kit", "show", "public_json_apis")
    assert "allow_types  http_request\n" in said.out and "secrets  none\n" in said.out
    assert (
        "pypi.org" in command("kit", "show", "public_json_apis", "--json").document["allow_hosts"]
    )
