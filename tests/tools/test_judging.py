"""`vespe.tools.judging`: what is wrong with the bytes of a config.json."""

import json
from typing import Any

import pytest

from vespe.tools import judging

LEAST: dict[str, Any] = {
    "uid": "tool-a",
    "name": "a",
    "description": "One.",
    "schema": {"input": {"type": "object"}},
}


def found(change: dict[str, Any], *, kit_id: str | None = None) -> list[str]:
    document = {**LEAST, **change}
    source = json.dumps(document).encode()
    return [
        one[0] for one in judging.found_in(document, uid="tool-a", kit_id=kit_id, source=source)
    ]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": 5}, "/name"),
        ({"schema": {"input": {"type": "objekt"}}}, "/schema/input"),
        ({"schema": {"input": {"type": "object"}, "output": {"type": 5}}}, "/schema/output/type"),
        ({"implementation_details": {"type": "nothing"}}, "/implementation_details/type"),
    ],
    ids=["field", "input schema", "output schema", "implementation"],
)
def test_each_part_is_judged(change: dict[str, Any], pointer: str) -> None:
    assert found({}) == []
    assert found(change) == [pointer]


def test_a_tool_of_a_kit_uses_no_environment_of_a_project() -> None:
    details = {"type": "python_script", "path": "a.py", "environment": "venv"}
    change = {"implementation_details": details}
    assert "/implementation_details/environment" in found(change, kit_id="files")
