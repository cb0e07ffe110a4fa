from typing import Any

import pytest

from vespe.tools import implementations

SHELL: dict[str, Any] = {"type": "shell_command", "entrypoint": "echo", "args": {}}
PYTHON: dict[str, Any] = {"type": "python_script", "path": "main.py", "entrypoint": "run"}


def found(details: Any, **document: Any) -> list[tuple[str, str]]:
    return [
        (one[0], one[1])
        for one in implementations.found_in_implementation(
            {"implementation_details": details, **document}
        )
    ]


@pytest.mark.parametrize("details", [None, {}])
def test_a_tool_may_leave_its_implementation_to_the_process(details: Any) -> None:
    assert found(details) == []


def test_fixed_arguments_are_compared_with_inputs_declared_through_references_too() -> None:
    schema = {
        "input": {"type": "object", "$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}}}}}
    }
    ((pointer, message),) = found({**PYTHON, "args": {"a": 1, "b": 2}}, schema=schema)
    assert pointer == "/implementation_details/args/a"
    assert "also an input" in message
    assert found({**PYTHON, "args": {"a": 1}}, schema=[]) == []


def test_a_secret_declared_stands_anywhere_in_args() -> None:
    args = {
        "argv": ["--key=${env:KEY}", ["${env:KEY}", "$KEY", "${KEY}", "env:KEY"]],
        "stdin": "${env:KEY}${env:KEY}",
    }
    assert found({**SHELL, "args": args}, secrets=["KEY"]) == []


@pytest.mark.parametrize(
    "text", ["${env:}", "${env:9}", "${env:A B}", "${env:KEY", "${env:KEY-x}", "a${env:${env:KEY}}"]
)
def test_what_begins_as_a_secret_and_is_none_is_told(text: str) -> None:
    assert any(
        "begins no secret" in message
        for _, message in found({**SHELL, "args": {"stdin": text}}, secrets=["KEY"])
    )


@pytest.mark.parametrize(
    "key",
    ["name", "description", "kit_id", "version", "tags", "schema", "permissions", "annotations"],
)
def test_a_secret_outside_args_is_told_with_its_place(key: str) -> None:
    ((pointer, _),) = found(SHELL, secrets=["KEY"], **{key: {"a": ["${env:KEY}"]}})
    assert pointer == f"/{key}/a/0"


def test_a_key_that_is_outside_what_vespe_knows_may_hold_anything() -> None:
    assert found(SHELL, x_note="${env:KEY}", examples=[{"input": {"a": "${env:KEY}"}}]) == []


def test_a_source_without_a_dollar_brace_is_not_searched_and_one_with_an_escape_is() -> None:
    document = {"description": "${env:KEY}"}
    assert implementations.found_in_implementation(document, source=b"{}") == []
    assert (
        len(
            implementations.found_in_implementation(
                document, source=b'{"description": "\\u0024{env:KEY}"}'
            )
        )
        == 1
    )
