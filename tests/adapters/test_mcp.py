"""MCP: entries of `tools/list`, `tools/call` requests, and results both ways."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.adapters.judges import accepts, complaint
from vespe.adapters.mcp import McpAdapter, McpShape, from_tool_message, to_tool_message
from vespe.errors import InvalidDocument, InvalidToolCall, ToolExecutionError
from vespe.models import Tool

OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOL = Tool(uid="tool-t", name="today", description="D.", input_schema={"type": "object"})


def test_annotations_title_and_an_object_output_are_listed() -> None:
    annotations = {"readOnlyHint": True, "title": "Today"}
    tool = Tool(
        uid="tool-t",
        name="today",
        description="D.",
        input_schema={"type": "object"},
        output_schema=OBJECT,
        annotations=annotations,
    )
    shown = McpShape().definition(tool)
    assert (shown["title"], shown["outputSchema"], shown["annotations"]) == (
        "Today",
        OBJECT,
        annotations,
    )
    assert shown["inputSchema"] == {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": ["object", "null"]},
        {"$ref": "#/$defs/a", "$defs": {"a": OBJECT}},
        {},
    ],
)
def test_an_output_of_any_kind_is_listed_and_its_results_are_structured(
    shared: Path, schema: dict[str, Any]
) -> None:
    tool = Tool(
        uid="tool-t",
        name="today",
        description="D.",
        input_schema={"type": "object"},
        output_schema=schema,
    )
    listed = McpShape().definition(tool)
    assert listed["outputSchema"] == schema
    newest = json.loads(
        (shared / "corpus" / "mcp-messages" / "schema" / "2026-07-28" / "schema.json").read_text(
            encoding="utf-8"
        )
    )
    judge = jsonschema_rs.validator_for({**newest, "$ref": "#/$defs/Tool"})
    assert judge.is_valid(listed) and not judge.is_valid({**listed, "outputSchema": "x"})
    assert McpAdapter(tool).format_tool_output("r")["structuredContent"] == "r"


def test_an_entry_is_read_with_its_title_annotations_and_what_only_mcp_knows() -> None:
    annotations = {"readOnlyHint": True}
    entry = {
        "name": "t",
        "title": "T",
        "inputSchema": OBJECT,
        "outputSchema": OBJECT,
        "annotations": annotations,
        "icons": [],
    }
    tool = McpShape().read({**entry, "annotations": {**annotations, "destructiveHint": None}})
    assert (tool.output_schema, tool.annotations) == (OBJECT, {"readOnlyHint": True, "title": "T"})
    assert McpShape().definition(tool)["icons"] == []


def test_a_call_is_read_from_a_request_or_its_params() -> None:
    params = {"name": "today", "arguments": {"a": 1}}
    for given, identifier in (
        ({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}, "7"),
        (params, None),
    ):
        (call,) = McpAdapter(TOOL).parse_llm_response(given)
        assert (call.call_id, call.arguments) == (identifier, {"a": 1})
    with pytest.raises(InvalidToolCall):
        McpAdapter(TOOL).parse_llm_response({"method": "tools/call", "params": {}})


@pytest.mark.parametrize(
    ("output", "result"),
    [
        (
            {"a": 1},
            {
                "content": [{"type": "text", "text": '{"a":1}'}],
                "structuredContent": {"a": 1},
                "isError": False,
            },
        ),
        ("r", {"content": [{"type": "text", "text": "r"}], "isError": False}),
        (ToolExecutionError("no"), {"content": [{"type": "text", "text": "no"}], "isError": True}),
    ],
)
def test_results_and_errors(output: object, result: dict[str, Any]) -> None:
    assert McpAdapter(TOOL).format_tool_output(output) == result
    assert accepts("mcp result", result), complaint("mcp result", result)


RESULTS: list[dict[str, Any]] = [
    {"content": []},
    {"content": [{"type": "text", "text": "a"}], "isError": True},
    {
        "content": [{"type": "text", "text": "a", "annotations": {"priority": 1}}],
        "structuredContent": {"a": 1},
        "isError": False,
    },
    {
        "content": [
            {"type": "image", "data": "AA", "mimeType": "image/png"},
            {"type": "audio", "data": "AA", "mimeType": "audio/wav"},
        ]
    },
    {
        "content": [
            {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}},
            {"type": "text", "text": "b"},
        ]
    },
    {"content": [{"type": "resource_link", "uri": "file:///a", "name": "a"}]},
]


@pytest.mark.parametrize("result", RESULTS)
def test_a_result_as_a_tool_message_comes_back(result: dict[str, Any]) -> None:
    message = to_tool_message(result, "c")
    assert (message["role"], message["tool_call_id"]) == ("tool", "c")
    assert from_tool_message(message) == result


def test_the_protocols_own_example_results_come_back(shared: Path) -> None:
    examples = sorted((shared / "corpus" / "mcp-messages").rglob("examples/CallToolResult/*.json"))
    assert len(examples) >= 2
    for path in examples:
        result = {
            key: value
            for key, value in json.loads(path.read_text(encoding="utf-8")).items()
            if key in ("content", "structuredContent", "isError")
        }
        assert from_tool_message(to_tool_message(result, "c")) == result


def test_a_result_that_is_json_is_its_text() -> None:
    assert from_tool_message({"role": "tool", "content": {"n": 1}}) == {
        "content": [{"type": "text", "text": '{"n":1}'}]
    }


def test_an_image_by_url_is_a_link_and_audio_is_refused() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://e.com/a.png"}}
    assert from_tool_message({"content": [image]}) == {
        "content": [{"type": "resource_link", "uri": "https://e.com/a.png", "name": "a.png"}]
    }
    for wrong in ({"type": "input_audio"}, {"type": "text", "text": 3}):
        with pytest.raises(InvalidDocument, match="takes no content of type"):
            from_tool_message({"content": [wrong]})
    assert to_tool_message({"content": [{"type": "image", "data": 3}, {"type": "text"}]}, "c")[
        "mcp_blocks"
    ] == [
        {"type": "image", "data": 3},
        {"type": "text"},
    ]


def test_structured_content_alone_is_its_text_too_and_goes_back_alone() -> None:
    result: dict[str, Any] = {"content": [], "structuredContent": {"n": 1}, "isError": False}
    message = to_tool_message(result, "c")
    assert (message["content"], message["structured_content"]) == ('{"n":1}', {"n": 1})
    assert from_tool_message(message) == result


def test_what_is_no_result_and_no_message_is_said() -> None:
    wrong: Any
    for wrong in ([], None):
        with pytest.raises(InvalidDocument, match="must be an object"):
            to_tool_message(wrong, "c")
        with pytest.raises(InvalidDocument, match="must be an object"):
            from_tool_message(wrong)


@pytest.mark.parametrize(
    "titles",
    [
        {"title": "A"},
        {"annotations": {"title": "A"}},
        {"title": "A", "annotations": {"title": "A"}},
        {"title": "A", "annotations": {"title": "B"}},
    ],
)
def test_a_title_comes_back_where_it_stood(titles: dict[str, Any]) -> None:
    entry: dict[str, Any] = {
        "name": "t",
        "inputSchema": OBJECT | {"additionalProperties": False},
        **titles,
    }
    tool = McpShape().read(entry)
    assert tool.annotations["title"] in ("A", "B")
    assert McpShape().definition(tool) == entry


@pytest.mark.parametrize(
    ("key", "value"),
    [("outputSchema", "x"), ("outputSchema", True), ("annotations", "x"), ("title", 5)],
)
def test_a_field_of_another_kind_is_refused_and_not_dropped(key: str, value: object) -> None:
    with pytest.raises(InvalidDocument, match=f"the tool 't': `{key}` must be a"):
        McpShape().read({"name": "t", "inputSchema": OBJECT, key: value})
    assert McpShape().read({"name": "t", "inputSchema": OBJECT, key: None}).output_schema is None


def test_the_id_of_a_call_may_be_a_number() -> None:
    wanted: Any = 7
    assert to_tool_message({"content": []}, wanted)["tool_call_id"] == "7"
