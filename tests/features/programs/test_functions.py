"""The names and declarations of the functions of a program, and how arguments are unpacked."""

import json

import pytest

from tests.features.programs.toolbox import TEXT, TOOLS, made
from vespe.errors import InvalidArguments
from vespe.features.programs.functions import (
    arguments_of,
    function_names,
    shown_stubs,
    stubs,
)


def test_names_that_python_has_or_does_not_take_are_changed() -> None:
    assert function_names(["read_file", "list", "my-tool", "class", "_x", "1st", "vespe__x"]) == {
        "read_file": "read_file",
        "list_": "list",
        "my_tool": "my-tool",
        "class_": "class",
        "tool__x": "_x",
        "tool_1st": "1st",
        "tool_vespe__x": "vespe__x",
    }
    assert function_names(["a-b", "a_b", "a.b"]) == {"a_b": "a_b", "a_b_": "a-b", "a_b__": "a.b"}


def test_the_same_tools_give_the_same_text() -> None:
    tools = {"b": made("b", x=TEXT), "a": made("a", y=TEXT)}
    assert stubs(tools) == stubs(dict(reversed(tools.items())))
    assert shown_stubs(tools).startswith("def a(y: str)")
    assert "class PermissionError(OSError)" in stubs({})


@pytest.mark.parametrize(
    ("given", "named", "found"),
    [
        (["a", "b"], {}, {"path": "a", "content": "b"}),
        (["a"], {"content": "b"}, {"path": "a", "content": "b"}),
        ([], {"other": 1}, {"other": 1}),
    ],
)
def test_arguments_are_given_by_position_and_by_name(
    given: list[str], named: dict[str, object], found: dict[str, object]
) -> None:
    assert arguments_of(TOOLS["write-file"], "write_file", json.dumps([given, named])) == found


@pytest.mark.parametrize(
    "packed", ['[["a","b","c"],{}]', '[["a"],{"path":"b"}]', "[NaN]", "{}", None, 7, "[1,2]"]
)
def test_what_are_no_arguments_is_refused(packed: object) -> None:
    with pytest.raises(InvalidArguments):
        arguments_of(TOOLS["write-file"], "write_file", packed)
