"""What a wasm and a rust_function may be."""

from typing import Any

import pytest

from vespe.tools.implementations import found_in_implementation


def found(details: Any, **document: Any) -> list[tuple[str, str]]:
    return [
        (one[0], one[1])
        for one in found_in_implementation({"implementation_details": details, **document})
    ]


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
