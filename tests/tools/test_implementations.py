from typing import Any

import pytest

from vespe.http.client import MAX_REDIRECTS
from vespe.tool_types import TYPES
from vespe.tools import implementations
from vespe.types.http_request.templates import ARGUMENTS

SHELL: dict[str, Any] = {"type": "shell_command", "entrypoint": "echo", "args": {}}
PYTHON: dict[str, Any] = {"type": "python_script", "path": "main.py", "entrypoint": "run"}


def found(details: Any, **document: Any) -> list[tuple[str, str]]:
    return [
        (one[0], one[1])
        for one in implementations.found_in_implementation(
            {"implementation_details": details, **document}
        )
    ]


def test_every_type_that_is_executed_is_checked_and_no_other() -> None:
    assert set(implementations.CHECKS) == set(TYPES)


def test_what_http_takes_is_what_its_executor_takes() -> None:
    assert implementations.MAX_REDIRECTS == MAX_REDIRECTS
    ((_, message),) = found({"type": "http_request", "path": "https://h", "args": {"x": 1}})
    assert message == f'`args` takes {", ".join(sorted(ARGUMENTS))}, and no "x"'


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


@pytest.mark.parametrize(
    "url",
    [
        "https://h",
        "http://h:8080/a?b=c#d",
        "HTTPS://H/{a}?q={b}",
        "http://[::1]:1/",
        "http://127.0.0.1/x%20y",
    ],
)
def test_a_url_with_a_literal_host_is_taken(url: str) -> None:
    assert found({"type": "http_request", "path": url}) == []


@pytest.mark.parametrize("entrypoint", ["run", "läuft", "_x9"])
def test_a_python_function_may_have_any_name_that_python_takes(entrypoint: str) -> None:
    assert found({**PYTHON, "entrypoint": entrypoint}) == []


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"entrypoint": None}, ""),
        ({"path": "x"}, "/path"),
        ({"args": {}}, "/args"),
        ({"args": {"command": ["x"], "url": "https://h"}}, "/args"),
        ({"args": {"command": "x"}}, "/args/command"),
        ({"args": {"command": []}}, "/args/command"),
        ({"args": {"url": "ftp://h"}}, "/args/url"),
        ({"args": {"url": 1}}, "/args/url"),
        ({"args": {"url": "https://h", "headers": {"a b": "c"}}}, "/args/headers/a b"),
        ({"args": {"url": "https://h", "headers": [1]}}, "/args/headers"),
        ({"args": {"url": "https://h", "digest": "sha256:0"}}, "/args/digest"),
        ({"args": {"url": "https://h", "shell": "x"}}, "/args/shell"),
    ],
)
def test_a_tool_of_an_mcp_server_says_its_server_and_its_pin(
    changed: dict[str, Any], pointer: str
) -> None:
    whole = {
        "type": "mcp_tool",
        "entrypoint": "t",
        "args": {"command": ["x"], "digest": f"sha256:{'0' * 64}"},
    }
    assert found(whole) == []
    if "args" in changed and "digest" not in changed["args"] and "shell" not in changed["args"]:
        changed["args"]["digest"] = whole["args"]["digest"]  # type: ignore[index]  # the literal above
    assert f"/implementation_details{pointer}" in [at for at, _ in found({**whole, **changed})]


WASM: dict[str, Any] = {"type": "wasm", "path": "tool.wasm", "source": "src/tool.c"}
RUST: dict[str, Any] = {"type": "rust_function", "path": "src/tool.rs", "entrypoint": "word_count"}


@pytest.mark.parametrize(
    ("details", "said"),
    [
        (WASM | {"path": "tool.so"}, "must be a .wasm file"),
        (WASM | {"path": None}, "needs `path`: a .wasm file"),
        (
            WASM | {"source": "../tool.c"},
            "`source` must be a source file inside the tool's directory",
        ),
        (RUST | {"path": "tool.wasm"}, "must be a .rs file"),
        (RUST | {"entrypoint": "word count"}, "must be the name of the function"),
        (RUST | {"entrypoint": None}, "must be the name of the function"),
        (RUST | {"args": {"text": 1}}, "is also an input"),
    ],
)
def test_compiled_tools_name_their_files_and_their_function(details: Any, said: str) -> None:
    ((_, message),) = found(
        details, schema={"input": {"type": "object", "properties": {"text": {}}}}
    )
    assert said in message


@pytest.mark.parametrize("details", [WASM, RUST, WASM | {"args": {"unit": "k"}}])
def test_compiled_tools_that_fit_are_let_be(details: Any) -> None:
    assert found(details, schema={"input": {"type": "object", "properties": {"text": {}}}}) == []
