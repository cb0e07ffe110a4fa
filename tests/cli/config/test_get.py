"""`vespe config get`."""

from collections.abc import Callable
from typing import Any

Command = Callable[..., Any]


def test_a_setting_is_printed_as_data(command: Command) -> None:
    command("config", "set", "allow_hosts", '["127.0.0.1:8080"]')
    assert command("config", "get", "allow_hosts", "--json").document["value"] == ["127.0.0.1:8080"]


def test_what_is_not_set_is_3_with_a_hint(command: Command) -> None:
    said = command("config", "get", "secrets.TOKEN")
    assert said.code == 3 and "vespe config set secrets.TOKEN" in said.err


def test_what_is_not_set_has_its_default_and_says_so(command: Command) -> None:
    assert command("config", "get", "sandbox", "--origin").out.split() == ["auto", "default"]
