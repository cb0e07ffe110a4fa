"""The handlers of the APIs, by name."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import NUMBER, Bench
from vespe import Call, CallPolicy, Outcome, Tool
from vespe.adapters import SHAPES
from vespe.adapters.base import ToolShape
from vespe.adapters.gemini_interactions import InteractionsShape
from vespe.documents import strict_json
from vespe.features.agents.handler_base import StreamContext, StreamingRequest
from vespe.features.agents.handlers import HANDLERS

SHOWN: dict[str, ToolShape] = SHAPES | {"gemini": InteractionsShape()}
"""How each handler's API is told of tools; what is exported for Gemini is its older API's."""
RECORDED = [api for api in HANDLERS if api != "gemini"]


@pytest.mark.parametrize("api", HANDLERS)
def test_each_takes_tools_and_puts_them_and_the_prompt_into_a_payload_of_its_api(
    bench: Bench, api: str
) -> None:
    bench.tool("double", lambda n: n * 2, schema=NUMBER)
    handler, payload = (
        HANDLERS[api](),
        {"model": "m", "messages": [{"role": "user", "content": "go"}]},
    )
    made = handler.prepare_payload(payload, [bench.project().load_tool("double")], "Use tools.")
    assert handler.supports_tools() and len(made["tools"]) == 1 and "tools" not in payload
    own = {
        "anthropic": "system",
        "openai-responses": "instructions",
        "gemini": "system_instruction",
    }.get(api)
    assert "Use tools." in (made[own] if own else made["messages"][0]["content"])
    assert handler.prepare_payload(payload, [], "") == payload
    assert (
        handler.prepare_payload(
            payload | {"tools": None}, [bench.project().load_tool("double")], ""
        )["tools"]
        == made["tools"]
    )


@pytest.mark.parametrize("api", HANDLERS)
@pytest.mark.parametrize("given", SHAPES)
def test_a_definition_of_another_api_goes_into_the_payload_as_this_one_takes_it(
    bench: Bench, api: str, given: str
) -> None:
    bench.tool("double", lambda n: n * 2, schema=NUMBER)
    tool = bench.project().load_tool("double")
    made = HANDLERS[api]().prepare_payload({"messages": []}, [SHAPES[given].definition(tool)], "")
    assert made["tools"] == [SHOWN[api].definition(tool)]


@pytest.mark.parametrize("api", HANDLERS)
@pytest.mark.parametrize("body", [b"", b"garbage", b"\x00\xff" * 100, b"data: {\n\n", b"{}\n[]\n"])
def test_none_of_them_raises_or_runs_anything_for_what_is_no_answer(
    bench: Bench, api: str, body: bytes
) -> None:
    bench.tool("double", lambda n: n * 2, schema=NUMBER)
    path = bench.project().call_path()
    standard: dict[str, Any] = {}
    context = StreamContext(tools=[path.tool("double")], runner=path)
    result = HANDLERS[api]().process_stream(
        [body], StreamingRequest(payload={"messages": []}), standard, context
    )
    assert (result.results, result.continuation, result.next_request, bench.ran) == (
        (),
        (),
        None,
        [],
    )


class Noting:
    """Runs nothing, and notes what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[str, str]] = []

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        self.given.append((tool.name, strict_json.compact_json(call.arguments)))
        return Outcome(tool=tool.name, uid=None, result="done")


def recordings(shared: Path, api: str) -> Iterator[tuple[bytes, dict[str, Any]]]:
    folder = api.removeprefix("openai-")
    for file in sorted((shared / "corpus/streams" / folder).glob("*.*")):
        if file.suffix in (".sse", ".ndjson", ".jsonl"):
            beside = file.with_suffix(".request.json")
            request = json.loads(beside.read_bytes()) if beside.exists() else {}
            yield (
                file.read_bytes(),
                request
                if isinstance(request.get("messages", request.get("input")), list)
                else {"messages": []},
            )


def handled(
    api: str, body: bytes, payload: dict[str, Any], tools: list[Tool]
) -> tuple[Noting, Any]:
    noting = Noting()
    context = StreamContext(tools=tools, runner=noting, policy=CallPolicy(policy="all"))
    return noting, HANDLERS[api]().process_stream(
        [body], StreamingRequest(payload=payload), {}, context
    )


@pytest.mark.parametrize("api", RECORDED)
def test_p40c_every_recording_has_a_result_for_each_call_wherever_it_is_cut(
    shared: Path, api: str
) -> None:
    with_calls = 0
    for number, (body, payload) in enumerate(recordings(shared, api)):
        _, first = handled(api, body, payload, [])
        names = {call["function"]["name"] for call in first.message.get("tool_calls", ())}
        tools = [
            Tool(uid=name, name=name, description="", input_schema={"type": "object"})
            for name in names
            if name
        ]
        whole, result = handled(api, body, payload, tools)
        calls = result.message.get("tool_calls", ())
        assert len(result.results) == (0 if result.error else len(calls))
        with_calls += bool(whole.given)
        step = max(1, len(body) // 16)
        for at in range(number * 7 % step, len(body), step):
            cut, _ = handled(api, body[:at], payload, tools)
            assert not set(cut.given) - set(whole.given), (at, cut.given)
    assert with_calls
