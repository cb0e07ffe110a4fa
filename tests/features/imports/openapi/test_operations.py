"""What a tool says of its operation."""

from pathlib import Path

import pytest

from tests.support.descriptions import described, imported, tool_of
from vespe.models import JsonObject


@pytest.mark.parametrize(
    ("said", "description"),
    [
        ({"summary": "List pets", "description": "With pages."}, "List pets.\n\nWith pages."),
        ({"summary": "List pets.", "description": "List pets. All."}, "List pets. All."),
        ({"summary": "List pets"}, "List pets"),
        ({}, "POST /x of this API."),
        ({"summary": "Old", "deprecated": True}, "Deprecated. Old"),
        ({"description": "x" * 3000}, "x" * 999 + "…"),
        ({"summary": "a\u202eb\x00 ${env:HOME}"}, "a b  $ {env:HOME}"),
        ({"summary": 7, "description": ["x"]}, "POST /x of this API."),
    ],
)
def test_a_description_is_what_the_operation_says(
    said: JsonObject, description: str, tmp_path: Path
) -> None:
    assert tool_of(said, tmp_path).document["description"] == description


@pytest.mark.parametrize(
    ("method", "hints"),
    [
        ("get", {"readOnlyHint": True}),
        ("delete", {"idempotentHint": True, "destructiveHint": True}),
        ("post", {}),
    ],
)
def test_hints_come_from_the_method(method: str, hints: JsonObject, tmp_path: Path) -> None:
    assert tool_of({}, tmp_path, method=method).document["annotations"] == {
        "openWorldHint": True,
        **hints,
    }


def test_json_is_asked_for_where_there_is_a_choice(tmp_path: Path) -> None:
    said: JsonObject = {
        "responses": {"200": {"content": {"application/xml": {}, "application/json": {}}}}
    }
    assert tool_of(said, tmp_path).document["implementation_details"]["args"]["headers"] == {
        "Accept": "application/json"
    }


@pytest.mark.parametrize("path", ["/a b", "/a?x=1", "/a#x", "a", "/ü", "/{x}/{y", "/a\nb"])
def test_a_strange_path_makes_a_tool_that_loads_or_a_reason(path: str, tmp_path: Path) -> None:
    from vespe.features.imports import writing

    made = imported(described({path: {"get": {}}}), tmp_path)
    assert len(writing.written(made, "kit").tools) + len(writing.written(made, "kit").left_out) == 1


def test_additional_operations_of_3_2_are_tools_or_reasons(tmp_path: Path) -> None:
    item = {
        "query": {"operationId": "q"},
        "additionalOperations": {"COPY": {"operationId": "c"}, "BREW": {"operationId": "b"}},
    }
    made = imported(described({"/x": item}, version="3.2.0"), tmp_path)
    assert [tool.source for tool in made.tools] == ["QUERY /x", "COPY /x"]
    assert [left.what for left in made.left_out] == ["BREW /x"]
