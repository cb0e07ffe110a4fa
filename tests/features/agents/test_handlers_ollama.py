"""Ollama's streamed answers, handled."""

import pytest

from tests.adapters.streams.streamed import context, cut, ollama_body
from tests.features.agents.agents_on_disk import Bench
from vespe import OllamaHandler, StreamingRequest

REQUEST = StreamingRequest(payload={"model": "m", "messages": [{"role": "user", "content": "go"}]})


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_tool_messages_with_the_tools_name_follow(bench: Bench, size: int) -> None:
    result = OllamaHandler().process_stream(cut(ollama_body(), size), REQUEST, {}, context(bench))
    assistant, first, second = result.continuation
    assert assistant["tool_calls"][0]["function"] == {"name": "double", "arguments": {"n": 2}}
    assert (first["role"], first["tool_name"], first["content"]) == ("tool", "double", "4")
    assert second["content"].startswith("[tool error]")


def test_calls_without_ids_in_the_next_turn_are_no_repetition(bench: Bench) -> None:
    shared = context(bench)
    first = OllamaHandler().process_stream([ollama_body()], REQUEST, {}, shared)
    assert first.next_request is not None
    OllamaHandler().process_stream([ollama_body()], first.next_request, {}, shared)
    assert bench.ran == ["double", "double"]
