"""The handlers of the APIs, by name."""

from typing import Any

import pytest

from tests.conversation.agents_on_disk import NUMBER, Bench
from vespe.conversation.handler_base import StreamContext, StreamingRequest
from vespe.conversation.handlers import HANDLERS


@pytest.mark.parametrize("api", HANDLERS)
def test_each_takes_tools_and_puts_them_and_the_prompt_into_a_payload_of_its_api(bench: Bench, api: str) -> None:
    bench.tool("double", lambda n: n * 2, schema=NUMBER)
    handler, payload = HANDLERS[api](), {"model": "m", "messages": [{"role": "user", "content": "go"}]}
    made = handler.prepare_payload(payload, [bench.project().load_tool("double")], "Use tools.")
    assert handler.supports_tools() and len(made["tools"]) == 1 and "tools" not in payload
    assert "Use tools." in (made["system"] if api == "anthropic" else made["messages"][0]["content"])
    assert handler.prepare_payload(payload, [], "") == payload


@pytest.mark.parametrize("api", HANDLERS)
@pytest.mark.parametrize("body", [b"", b"garbage", b"\x00\xff" * 100, b"data: {\n\n", b"{}\n[]\n"])
def test_none_of_them_raises_or_runs_anything_for_what_is_no_answer(bench: Bench, api: str, body: bytes) -> None:
    bench.tool("double", lambda n: n * 2, schema=NUMBER)
    path = bench.project().call_path()
    standard: dict[str, Any] = {}
    context = StreamContext(tools=[path.tool("double")], runner=path)
    result = HANDLERS[api]().process_stream([body], StreamingRequest(payload={"messages": []}), standard, context)
    assert (result.results, result.continuation, result.next_request, bench.ran) == ((), (), None, [])
