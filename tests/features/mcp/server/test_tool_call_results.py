"""What became of a call, as the result of `tools/call`."""

from typing import Any

import pytest

from vespe.features.mcp.server.tool_call import is_tool_result, result_of
from vespe.models import Failure, Outcome

OLD, NEW = "2024-11-05", "2026-07-28"
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}


def given(result: Any = None, **more: Any) -> Outcome:
    return Outcome(tool="t", uid="tool-t", result=result, **more)


def test_an_object_stands_as_text_and_as_structured_content() -> None:
    result = result_of(given({"sum": 3}), None, "2025-11-25")
    assert result == {
        "content": [{"type": "text", "text": '{"sum":3}'}],
        "structuredContent": {"sum": 3},
        "isError": False,
    }


def test_the_oldest_revision_has_no_structured_content() -> None:
    assert "structuredContent" not in result_of(given({"sum": 3}), None, OLD)


def test_the_newest_takes_any_value_that_an_output_schema_speaks_of() -> None:
    assert result_of(given([1]), {"type": "array"}, NEW)["structuredContent"] == [1]
    assert "structuredContent" not in result_of(given([1]), {"type": "array"}, "2025-11-25")
    assert "structuredContent" not in result_of(given("text"), None, NEW)


def test_a_failure_is_an_error_in_words_that_a_model_can_act_on() -> None:
    failure = Failure(
        code="invalid_arguments", message="`a` is missing", retryable=True, hint="give it"
    )
    result = result_of(given(error=failure), None, "2025-11-25")
    assert (
        result["isError"]
        and result["content"][0]["text"]
        == "`a` is missing (give it); mend the call and make it again"
    )


def test_what_was_cut_is_an_error_only_where_clients_hold_it_to_a_schema() -> None:
    assert result_of(given("head … tail", truncated=True), None, NEW)["isError"] is False
    assert (
        result_of(given("head … tail", truncated=True), {"type": "object"}, NEW)["isError"] is True
    )


def test_a_result_that_is_one_of_tools_call_already_stands_as_it_is() -> None:
    result = result_of(given({"content": [IMAGE], "isError": True}), None, "2025-11-25")
    assert result == {"content": [IMAGE], "isError": True}


def test_a_block_that_a_revision_does_not_know_stands_as_text() -> None:
    assert result_of(given({"content": [AUDIO]}), None, OLD)["content"][0]["type"] == "text"


@pytest.mark.parametrize(
    "value",
    [
        {"content": []},
        {"content": "text"},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "image", "data": "x"}]},
        {"content": [{"type": "text", "text": "x"}], "more": 1},
        {"content": [{"type": "text", "text": "x", "annotations": 5}]},
        {"content": [{"type": "resource_link", "uri": "file:///a"}]},
        {"content": [{"type": "resource", "resource": {"uri": "file:///a"}}]},
        {"content": [{"type": "resource", "resource": {"text": "x"}}]},
        {
            "content": [
                {"type": "resource", "resource": {"uri": "file:///a", "text": "x", "blob": "eA=="}}
            ]
        },
        {"content": [{"type": "text", "text": "x"}], "isError": "yes"},
        {"content": [{"type": "text", "text": "x", "annotations": {"priority": 7}}]},
        [],
    ],
)
def test_an_object_that_only_looks_like_one_is_a_result_like_any_other(value: Any) -> None:
    assert not is_tool_result(value)


def test_p24_what_was_repaired_and_where_the_whole_is_stands_in_meta() -> None:
    meta = result_of(
        given("head … tail", truncated=True, output_file="/whole", notes=("cut",)), None, NEW
    )["_meta"]
    assert (meta["vespe/notes"], meta["vespe/outputFile"]) == (["cut"], "/whole") and len(meta) == 3
