"""The forms of a reference, and what is said of those that are none; nothing is ever quoted."""

import pytest

from vespe.errors import InvalidDocument
from vespe.features.secrets import references
from vespe.models import JsonValue


@pytest.mark.parametrize(
    ("value", "store", "shown"),
    [
        ("a value", "value", "your configuration"),
        ({"ref": "file:/keys/a"}, "file", "file:/keys/a"),
        ({"ref": "file:~/keys/a b"}, "file", "file:~/keys/a b"),
        ({"ref": "env:OTHER", "unknown": 1}, "env", "env:OTHER"),
        ({"command": ["op", "read", "op://v/i"]}, "command", "the command op"),
        ({"command": ["/usr/bin/pass", "x"], "lines": "first"}, "command", "the command pass"),
        ({"command": ["age"], "timeout_s": 0.5}, "command", "the command age"),
    ],
)
def test_each_form_has_a_store_and_is_shown_without_a_secret(
    value: JsonValue, store: str, shown: str
) -> None:
    if not isinstance(value, str):
        references.check("T", value, "config.json")
    assert (references.store_of(value), references.shown(value)) == (store, shown)


@pytest.mark.parametrize(
    ("value", "pointer", "said"),
    [
        (["hunter2"], "", "must be a string, or an object"),
        ({}, "", "exactly one of"),
        ({"hunter2": "x"}, "", "exactly one of"),
        ({"ref": "env:A", "command": ["hunter2"]}, "", "exactly one of"),
        ({"ref": {"ref": "env:hunter2"}}, "/ref", "cannot refer to another reference"),
        ({"ref": "hunter2"}, "/ref", "does not name a store"),
        ({"ref": "op://hunter2"}, "/ref", "does not name a store"),
        ({"ref": "file:hunter2"}, "/ref", "absolute path"),
        ({"ref": "file:~nobody-hunter2/x"}, "/ref", "absolute path"),
        ({"ref": "file:/hunter2\0"}, "/ref", "absolute path"),
        ({"ref": "env:hunter-2"}, "/ref", "name of a variable"),
        ({"command": "op read hunter2"}, "/command", "list of strings"),
        ({"command": []}, "/command", "list of strings"),
        ({"command": ["op", {"ref": "env:hunter2"}]}, "/command", "list of strings"),
        ({"command": ["./hunter2"]}, "/command/0", "absolute path"),
        ({"command": [""]}, "/command/0", "name of a program"),
        ({"command": ["op"], "timeout_s": True}, "/timeout_s", "seconds"),
        ({"command": ["op"], "timeout_s": float("nan")}, "/timeout_s", "seconds"),
        ({"command": ["op"], "timeout_s": 601}, "/timeout_s", "at most 600"),
        ({"command": ["op"], "lines": None}, "/lines", "first"),
    ],
)
def test_what_is_no_reference_is_said_with_its_pointer_and_never_quoted(
    value: JsonValue, pointer: str, said: str
) -> None:
    with pytest.raises(InvalidDocument) as caught:
        references.check("a/b", value, "config.json")
    assert caught.value.pointer == f"/secrets/a~1b{pointer}"
    assert said in str(caught.value) and "hunter2" not in str(caught.value)
