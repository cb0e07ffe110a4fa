"""A tool's image, told to each API as that API's own image part."""

from typing import Any

import pytest

from tests.adapters import judges
from vespe.adapters import ADAPTERS, result_parts
from vespe.adapters.plain_text import PlainTextAdapter
from vespe.models import Outcome, Tool

TOOL = Tool(uid="", name="look", description="", input_schema={"type": "object"})
PNG = "iVBORw0KGgo="
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
RESULT: dict[str, Any] = {"content": [{"type": "text", "text": "a dot"}, IMAGE]}
OUTCOME = Outcome(tool="look", uid=None, result=RESULT)
URL = f"data:image/png;base64,{PNG}"


def told(api: str, result: Any = RESULT) -> Any:
    return ADAPTERS[api](TOOL).format_tool_output(result, call_id="i")


def test_content_with_an_image_is_parts_and_anything_else_is_one_text() -> None:
    assert result_parts.shown(RESULT) == [
        {"type": "text", "text": "a dot"},
        {"type": "image_url", "image_url": {"url": URL}},
    ]
    assert result_parts.shown({"content": [RESULT["content"][0]]}) == (
        '{"content":[{"type":"text","text":"a dot"}]}'
    )
    assert result_parts.shown("x") == "x"


@pytest.mark.parametrize(
    "block",
    [
        {**IMAGE, "mimeType": "image/svg+xml"},
        {**IMAGE, "data": "no base64"},
        {**IMAGE, "data": "iVBORw0KG"},
        {**IMAGE, "data": 1},
        {"type": "resource", "resource": {"uri": "a:b", "blob": PNG, "mimeType": "text/plain"}},
        {"type": "resource", "resource": None},
        "x",
    ],
)
def test_what_no_api_takes_as_an_image_is_text(block: Any) -> None:
    assert isinstance(result_parts.shown({"content": [block]}), str)


def test_an_image_as_an_embedded_resource_or_without_padding_is_shown_too() -> None:
    resource = {"uri": "a:b", "blob": PNG.rstrip("="), "mimeType": "image/png"}
    shown = result_parts.shown({"content": [{"type": "resource", "resource": resource}]})
    assert shown == [{"type": "image_url", "image_url": {"url": URL}}]


def test_anthropic_is_told_an_image_block() -> None:
    block = told("anthropic", OUTCOME)
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert block["content"] == [
        {"type": "text", "text": "a dot"},
        {"type": "image", "source": source},
    ]
    message = {"role": "user", "content": [block]}
    assert judges.accepts("anthropic message", message), judges.complaint(
        "anthropic message", message
    )


def test_responses_are_told_an_input_image() -> None:
    assert told("openai-responses", OUTCOME)["output"] == [
        {"type": "input_text", "text": "a dot"},
        {"type": "input_image", "image_url": URL},
    ]


def test_gemini_is_told_inline_data_in_the_response() -> None:
    response = told("gemini", OUTCOME)["functionResponse"]
    assert response["response"] == {"result": "a dot"}
    assert response["parts"] == [{"inlineData": {"mimeType": "image/png", "data": PNG}}]


def test_ollama_is_told_images() -> None:
    message = told("ollama", OUTCOME)
    assert (message["content"], message["images"]) == ("a dot", [PNG])


def test_mcp_is_told_the_content() -> None:
    result = told("mcp", OUTCOME)
    assert result == {"content": RESULT["content"], "isError": False}
    assert judges.accepts("mcp result", result)


def test_where_no_image_can_be_the_type_of_the_image_stands_in_its_place() -> None:
    message = told("openai", OUTCOME)
    assert message["content"] == "a dot\n[image/png]"
    assert judges.accepts("openai message", message)
    assert PlainTextAdapter(TOOL).format_tool_output(OUTCOME) == (
        '{"tool":"look","result":"a dot\\n[image/png]"}'
    )


def test_an_empty_text_beside_an_image_is_left_out() -> None:
    block = told("anthropic", {"content": [{"type": "text", "text": ""}, IMAGE]})
    assert [one["type"] for one in block["content"]] == ["image"]
