"""Tools that try to ask the user where their type cannot."""

import json
from pathlib import Path

import pytest

from tests.features.lint.judging import rules_of
from vespe.features.lint import subjects
from vespe.features.lint.base import Found
from vespe.features.lint.rules import questions

EMPTY = b"\0asm\1\0\0\0"


def module(text: bytes) -> bytes:
    """An empty module with a custom section that has a text."""
    section = b"\4data" + text
    return EMPTY + b"\0" + bytes([len(section)]) + section


def found(
    directory: Path, details: dict[str, str], files: dict[str, bytes]
) -> list[tuple[str | None, int, int, str]]:
    directory.mkdir()
    for name, data in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)
    document = {
        "uid": directory.name,
        "name": "order",
        "description": "Order a drink.",
        "schema": {"input": {"type": "object", "properties": {}}},
        "implementation_details": details,
    }
    (directory / "config.json").write_text(json.dumps(document), encoding="utf-8")
    subject = subjects.of_tool(str(directory), kit_id=None)
    told: list[Found] = [one for rule in rules_of(questions) for one in rule.check(subject)]
    return [(one.file, one.line, one.column, one.message) for one in told]


RUST = {"type": "rust_function", "path": "src/tool.rs", "entrypoint": "order"}
WASM = {"type": "wasm", "path": "order.wasm"}


def test_a_source_that_asks_is_named_with_its_line_and_its_module_is_not_named_again(
    tmp_path: Path,
) -> None:
    source = b'fn order() {\n    std::env::var("VESPE_ASK_FD");\n}\n'
    files = {"src/tool.rs": source, "tool.wasm": module(b"VESPE_ASK_FD")}
    assert found(tmp_path / "tool-a", RUST, files) == [
        (
            "src/tool.rs",
            2,
            20,
            "a WebAssembly tool cannot ask the user: VESPE_ASK_FD is not available to it",
        )
    ]


def test_a_module_without_a_source_is_searched(tmp_path: Path) -> None:
    files = {"order.wasm": module(b"sizeVESPE_ASK_FDlarge")}
    assert found(tmp_path / "tool-a", WASM, files) == [
        (
            None,
            0,
            0,
            "a WebAssembly tool cannot ask the user: order.wasm mentions VESPE_ASK_FD, which is "
            "not available to it",
        )
    ]


@pytest.mark.parametrize(
    ("details", "files"),
    [
        (WASM, {"order.wasm": EMPTY}),
        (RUST, {"src/tool.rs": b'"MY_VESPE_ASK_FD_2"'}),
        (WASM, {}),
        (RUST, {"src/tool.rs": b"fn order() {}\n", "README.md": b"without VESPE_ASK_FD\n"}),
        (
            {"type": "python_script", "path": "main.py", "entrypoint": "order"},
            {"main.py": b"import vespe_ask\ndef order():\n    vespe_ask.ask('?')\n"},
        ),
        (
            {"type": "shell_command", "path": "order.sh"},
            {"order.sh": b"#!/bin/sh\necho $VESPE_ASK_FD\n"},
        ),
    ],
)
def test_nothing_is_said_of_what_does_not_ask_or_can(
    tmp_path: Path, details: dict[str, str], files: dict[str, bytes]
) -> None:
    assert found(tmp_path / "tool-a", details, files) == []
