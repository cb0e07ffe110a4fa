"""A model on loopback, by OpenAI's and Anthropic's protocols: it calls one tool once, then repeats
what it was told.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.loopback import Exchange, Loopback


@contextmanager
def calling(name: str, arguments: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve; yields the base URL, and the requests as they come. Anthropic's is the same without
    its `/v1`.
    """
    seen: list[dict[str, Any]] = []

    def answer(exchange: Exchange) -> bool:
        request = json.loads(exchange.body)
        seen.append(request)
        respond = _as_anthropic if exchange.target.startswith("/v1/messages") else _as_openai
        return exchange.reply(json.dumps(respond(request, name, arguments)).encode())

    with Loopback(answer) as server:
        yield f"http://127.0.0.1:{server.port}/v1", seen


def _as_openai(request: dict[str, Any], name: str, arguments: Any) -> dict[str, Any]:
    told = [message for message in request["messages"] if message["role"] == "tool"]
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    said = (
        {"content": _text(told[-1]["content"])} if told else {"content": None, "tool_calls": [call]}
    )
    choice = {
        "index": 0,
        "finish_reason": "stop" if told else "tool_calls",
        "message": {"role": "assistant", **said},
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def _as_anthropic(request: dict[str, Any], name: str, arguments: Any) -> dict[str, Any]:
    blocks = [
        block
        for message in request["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    told = [block for block in blocks if block["type"] == "tool_result"]
    call = {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}
    content = [{"type": "text", "text": told[-1]["content"]} if told else call]
    ended = {"stop_reason": "end_turn" if told else "tool_use", "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "usage": usage,
        **ended,
    }


def _text(content: Any) -> str:
    """The text of a message's content, a text or parts."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")
