"""Rules on what a schema promises and what runs takes."""

from pathlib import Path
from typing import Any

import pytest

from tests.features.lint.judging import rules_of
from tests.support.ondisk import write_tool
from vespe.features.lint import subjects
from vespe.features.lint.rules import signature

RULES = rules_of(signature)


def codes(
    tmp_path: Path, signature: str, properties: dict[str, Any], **schema: Any
) -> list[tuple[str, str | None]]:
    args = schema.pop("args", {})
    directory = write_tool(
        tmp_path / "tool-a",
        implementation={
            "type": "python_script",
            "path": "main.py",
            "entrypoint": "run",
            "args": args,
        },
        schema={"type": "object", "properties": properties, **schema},
        files={"main.py": f"from typing import *\n\ndef run({signature}):\n    pass\n"},
    )
    subject = subjects.of_tool(str(directory), kit_id=None)
    return [(rule.code, found.severity) for rule in RULES for found in rule.check(subject)]


@pytest.mark.parametrize(
    ("signature", "properties", "required", "expected"),
    [
        ("a", {"a": {}}, ["a"], []),
        ("a", {}, [], [("signature-missing", None)]),
        ("a", {"a": {}}, [], [("signature-missing", "warning")]),
        ("a", {"a": {"default": 1}}, [], []),
        ("a=1", {}, [], [("signature-missing", "info")]),
        ("*, a", {"a": {}}, ["a"], []),
        ("**rest", {"x": {}}, [], []),
        ("a, **rest", {"a": {}, "x": {}}, ["a"], []),
        ("", {"x": {}}, [], [("signature-unknown", None)]),
        ("a: int", {"a": {"type": "integer"}}, ["a"], []),
        ("a: float", {"a": {"type": "integer"}}, ["a"], []),
        ("a: int", {"a": {"type": "number"}}, ["a"], [("signature-type", "info")]),
        ("a: int", {"a": {"type": "string"}}, ["a"], [("signature-type", None)]),
        ("a: str | None", {"a": {"type": ["string", "null"]}}, ["a"], []),
        ("a: Optional[str] = None", {"a": {"type": "string"}}, [], []),
        ("a: Any", {"a": {"type": "string"}}, ["a"], []),
        ("a: Unknown", {"a": {"type": "string"}}, ["a"], []),
        ("a: list[str]", {"a": {"type": "array"}}, ["a"], []),
        ("a: dict", {"a": {"type": "dict"}}, ["a"], []),
        ("a=5", {"a": {"default": 5}}, [], []),
        ("a=5", {"a": {"default": 6}}, [], [("signature-default", None)]),
        ("a=None", {"a": {"default": 6}}, [], []),
    ],
)
def test_the_two_sides_are_compared(
    tmp_path: Path,
    signature: str,
    properties: dict[str, Any],
    required: list[str],
    expected: list[tuple[str, str | None]],
) -> None:
    assert codes(tmp_path, signature, properties, required=required) == expected


def test_a_fixed_argument_fills_a_parameter(tmp_path: Path) -> None:
    assert codes(tmp_path, "a, b", {"a": {}}, required=["a"], args={"b": 1}) == []
    assert codes(tmp_path / "other", "a", {"a": {}}, required=["a"], args={"b": 1}) == [
        ("signature-unknown", None)
    ]


def test_what_cannot_be_read_is_left_to_the_rules_on_files(tmp_path: Path) -> None:
    assert codes(tmp_path, "a, /", {"a": {}}) == codes(tmp_path / "other", "a:", {"b": {}}) == []


@pytest.mark.parametrize(
    ("details", "unused"),
    [
        ({"type": "shell_command", "entrypoint": "cat", "args": {"stdin": "json"}}, 0),
        ({"type": "shell_command", "entrypoint": "cat", "args": {"argv": [["--x", "{a}"]]}}, 0),
        ({"type": "shell_command", "entrypoint": "cat"}, 1),
        ({"type": "http_request", "path": "https://example.com/{a}"}, 0),
        (
            {
                "type": "http_request",
                "path": "https://example.com",
                "args": {"headers": {"X": "{a}"}},
            },
            0,
        ),
        ({"type": "http_request", "path": "https://example.com"}, 1),
        (None, 0),
    ],
)
def test_an_input_that_no_template_uses_is_told(
    tmp_path: Path, details: dict[str, Any] | None, unused: int
) -> None:
    directory = write_tool(
        tmp_path / "tool-a",
        implementation=details,
        schema={"type": "object", "properties": {"a": {}}},
    )
    subject = subjects.of_tool(str(directory), kit_id=None)
    assert [rule.code for rule in RULES for _ in rule.check(subject)] == [
        "signature-unused"
    ] * unused
