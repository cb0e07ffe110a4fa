"""`vespe secret get`: the one verb that prints a value."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from vespe.projects import user_config


def test_a_value_is_fetched_and_printed(
    command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    user_config.set_value("secrets.A", "plain")
    user_config.set_value("secrets.B", {"command": ["printf", "%s", "made"]})
    user_config.set_value("secrets.C", {"ref": "file:/not/there"})
    assert command("secret", "get", "A").out == "plain\n"
    assert json.loads(command("secret", "get", "B", "--json").out) == {
        "name": "B",
        "value": "made",
        "store": "command",
        "place": "the command printf",
    }
    monkeypatch.setenv("A", "over it")
    done = command("secret", "get", "A")
    assert (done.out, "takes precedence" in done.err) == ("plain\n", True)
    for name, code, said in (("C", 6, "file:/not/there"), ("D", 3, "vespe secret set D")):
        done = command("secret", "get", name)
        assert (done.code, done.out) == (code, "") and said in done.err
