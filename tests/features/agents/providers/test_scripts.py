"""Scripts: what is none is told with its line and pointer, and what a request must be like."""

from pathlib import Path
from typing import Any

import pytest

from vespe.errors import Diverged, InvalidDocument
from vespe.features.agents.providers import scripts


@pytest.mark.parametrize(
    ("script", "pointer", "reason"),
    [
        ([], "", "must be an object"),
        ({}, "/turns", "missing"),
        ({"turns": [{"txt": "x"}]}, "/turns/0/txt", "txt"),
        ({"turns": [{"text": 1}]}, "/turns/0/text", "must be a string"),
        ({"turns": [{"tool_calls": [{"arguments": {}}]}]}, "/turns/0/tool_calls/0/name", "missing"),
        (
            {"turns": [{"tool_calls": [{"name": "f", "arguments": [1]}]}]},
            "/turns/0/tool_calls/0/arguments",
            "must be",
        ),
        ({"turns": [{"fail": {"status": 200}}]}, "/turns/0/fail/status", "400"),
        (
            {"turns": [{"match": {"pattern": "("}}]},
            "/turns/0/match/pattern",
            "is not a regular expression",
        ),
        ({"version": 2, "turns": []}, "/version", "1"),
    ],
)
def test_what_is_no_script_is_told_with_its_pointer(script: Any, pointer: str, reason: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        scripts.checked_script(script)
    assert caught.value.pointer == pointer and reason in caught.value.reason


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("s.yaml", "turns:\n  - text: a\n  - text: 1\n", 3),
        ("s.yml", "turns:\n  - text: a\n    nonsense: b\n", 3),
        ("s.json", '{\n "turns": [\n  {"text": 1}\n ]\n}', 3),
        ("s.json", '{"turns": [', 1),
        ("s.yaml", "turns: [", 1),
    ],
)
def test_a_file_that_is_no_script_is_told_with_its_line(
    name: str, text: str, line: int, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidDocument) as caught:
        scripts.read_script(str(path))
    assert (caught.value.path, caught.value.line) == (str(path), line)


TOOLS = [{"type": "function", "function": {"name": "add"}}]
REQUEST = {
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Add 1 and 2"}]}],
    "tools": TOOLS,
}


@pytest.mark.parametrize(
    "match",
    [
        {"role": "user"},
        {"equals": "Add 1 and 2"},
        {"contains": "1 and"},
        {"contains": ["Add", "2"]},
        {"pattern": "[0-9] and [0-9]$"},
        {"tools": ["add"]},
    ],
)
def test_a_request_that_matches_passes(match: Any) -> None:
    scripts.check_match({"match": match}, REQUEST, number=1)


@pytest.mark.parametrize(
    ("match", "told"),
    [
        ({"role": "tool"}, "ends in a message of the role 'user', not 'tool'"),
        ({"equals": "Add"}, "should end in 'Add'; the last message is 'Add 1 and 2'"),
        ({"contains": ["Add", "3"]}, "should end in a message with '3'"),
        ({"pattern": "^[0-9]"}, r"should end in a message like '^[0-9]'"),
        ({"tools": ["add", "sub"]}, "offers no tool 'sub', but 'add'"),
    ],
)
def test_a_request_that_does_not_match_is_told_why(match: Any, told: str) -> None:
    with pytest.raises(Diverged) as caught:
        scripts.check_match({"match": match}, REQUEST, number=4, path="s.yaml")
    assert str(caught.value).startswith(
        "turn 4 of s.yaml does not match: the request "
    ) and told in str(caught.value)
    assert caught.value.pointer == f"/turns/3/match/{next(iter(match))}"


def test_a_request_without_messages_is_told_too() -> None:
    with pytest.raises(Diverged):
        scripts.check_match({"match": {"contains": "x"}}, {}, number=1)
