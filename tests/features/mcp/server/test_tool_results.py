"""What became of a call, as the result of `tools/call`."""

from typing import Any

import pytest

from vespe.features.mcp.server.served_client import ServedClient
from vespe.features.mcp.server.tool_results import Called, is_tool_result, result_of
from vespe.models import Failure, Outcome, Tool

OLD, NEW = "2024-11-05", "2026-07-28"
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}


def given(result: Any = None, **more: Any) -> Outcome:
    return Outcome(tool="t", uid="tool-t", result=result, **more)


def test_an_object_stands_as_text_and_as_structured_content() -> None:
    result = result_of(Called(given({"sum": 3})), "2025-11-25")
    assert result == {
        "content": [{"type": "text", "text": '{"sum":3}'}],
        "structuredContent": {"sum": 3},
        "isError": False,
    }


def test_the_oldest_revision_has_no_structured_content() -> None:
    assert "structuredContent" not in result_of(Called(given({"sum": 3})), OLD)


def test_the_newest_takes_any_value_that_an_output_schema_speaks_of() -> None:
    assert result_of(Called(given([1]), None, {"type": "array"}), NEW)["structuredContent"] == [1]
    assert "structuredContent" not in result_of(
        Called(given([1]), None, {"type": "array"}), "2025-11-25"
    )
    assert "structuredContent" not in result_of(Called(given("text")), NEW)


def test_a_failure_is_an_error_in_words_that_a_model_can_act_on() -> None:
    failure = Failure(
        code="invalid_arguments", message="`a` is missing", retryable=True, hint="give it"
    )
    result = result_of(Called(given(error=failure)), "2025-11-25")
    assert (
        result["isError"]
        and result["content"][0]["text"]
        == "`a` is missing (give it); mend the call and make it again"
    )


def test_what_was_cut_is_an_error_only_where_clients_hold_it_to_a_schema() -> None:
    assert result_of(Called(given("head … tail", truncated=True)), NEW)["isError"] is False
    assert (
        result_of(Called(given("head … tail", truncated=True), None, {"type": "object"}), NEW)[
            "isError"
        ]
        is True
    )


def test_a_result_that_is_one_of_tools_call_already_stands_as_it_is() -> None:
    result = result_of(Called(given({"content": [IMAGE], "isError": True})), "2025-11-25")
    assert result == {"content": [IMAGE], "isError": True}


def test_a_block_that_a_revision_does_not_know_stands_as_text() -> None:
    assert result_of(Called(given({"content": [AUDIO]})), OLD)["content"][0]["type"] == "text"


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
    cut = given("head … tail", truncated=True, output_file="/whole", notes=("cut",))
    meta = result_of(Called(cut), NEW)["_meta"]
    assert (meta["vespe/notes"], meta["vespe/outputFile"]) == (["cut"], "/whole") and len(meta) == 3


ROWS = [{"id": number, "name": f"row {number}"} for number in range(5000)]
ARRAY = {"type": "array"}
OBJECT = {"type": "object"}
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


def told(outcome: Outcome, revision: str, client: ServedClient, **more: Any) -> Any:
    limits = {"model_tokens": more.pop("tokens", 500)}
    tool = Tool(uid="t", name="t", description="", input_schema={}, **limits)
    return result_of(Called(outcome, tool, more.get("schema")), revision, client=client)


def text_in(result: Any) -> str:
    return "".join(block["text"] for block in result["content"] if block["type"] == "text")


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_large_result_is_a_part_with_a_handle_and_a_link(home: Any, revision: str) -> None:
    client = ServedClient()
    result = told(given({"rows": ROWS}), revision, client)
    assert len(text_in(result)) <= 2000 and "its handle is r1" in text_in(result)
    assert "structuredContent" not in result and result["isError"] is False
    links = [block for block in result["content"] if block["type"] == "resource_link"]
    assert [link["uri"] for link in links] == (
        ["vespe://results/r1"] if revision >= "2025-06-18" else []
    )
    assert client.results.text_of("r1")[0].startswith('{"rows":[{"id":0,')


def test_structured_content_stays_whole_where_clients_check_it(home: Any) -> None:
    client = ServedClient()
    for revision, value, schema, whole in (
        (NEW, {"rows": ROWS}, OBJECT, True),
        ("2025-11-25", {"rows": ROWS}, OBJECT, True),
        (NEW, ROWS, ARRAY, True),
        ("2025-11-25", ROWS, ARRAY, False),
        ("2025-03-26", {"rows": ROWS}, OBJECT, False),
        (NEW, {"rows": ROWS}, None, False),
    ):
        result = told(given(value), revision, client, schema=schema)
        assert (result.get("structuredContent") == value) is whole
        assert len(text_in(result)) <= 2000


def test_what_fits_and_what_a_tool_says_is_told_whole_stays_as_it_is(home: Any) -> None:
    client = ServedClient()
    assert told(given({"rows": ROWS}), NEW, client, tokens="whole") == result_of(
        Called(given({"rows": ROWS})), NEW
    )
    assert told(given("x" * 2000), NEW, client)["content"][0]["text"] == "x" * 2000
    assert not client.results.known


def test_a_long_error_and_what_was_cut_at_the_tools_cap_are_parts_too(
    home: Any, tmp_path: Any
) -> None:
    client = ServedClient()
    failed = told(given(error=Failure(code="x", message="y" * 9000)), NEW, client)
    assert failed["isError"] and len(text_in(failed)) <= 2000
    assert client.results.text_of("r1")[0] == "y" * 9000
    (tmp_path / "whole").write_text("z" * 5000, encoding="utf-8")
    cut = given("z" * 100, truncated=True, output_file=str(tmp_path / "whole"))
    assert told(cut, NEW, client)["content"][1]["uri"] == "vespe://results/r2"
    assert client.results.text_of("r2")[0] == "z" * 5000


def test_images_and_audio_of_a_ready_result_stay_and_its_texts_are_bounded(home: Any) -> None:
    client = ServedClient()
    blocks = [{"type": "text", "text": "word " * 2000}, IMAGE, AUDIO]
    result = told(given({"content": blocks, "isError": True, "_meta": {"a": 1}}), NEW, client)
    assert [block["type"] for block in result["content"]] == [
        "text",
        "image",
        "audio",
        "resource_link",
    ]
    assert result["isError"] and result["_meta"]["a"] == 1 and len(text_in(result)) <= 2000
    alone = told(given({"content": blocks[:1]}), NEW, client)
    assert [block["type"] for block in alone["content"]] == ["text", "resource_link"]
    loud = {"content": [{"type": "audio", "data": "aGkh" * 9000, "mimeType": "audio/wav"}]}
    assert told(given(loud), NEW, client)["content"] == loud["content"]
