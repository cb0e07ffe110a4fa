"""A model on loopback that speaks OpenAI's chat completions: it calls one tool once, then repeats what it was told."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.loopback import Exchange, Loopback


@contextmanager
def calling(name: str, arguments: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve; yields the base URL, and the requests as they come."""
    seen: list[dict[str, Any]] = []

    def answer(exchange: Exchange) -> bool:
        request = json.loads(exchange.body)
        seen.append(request)
        told = [message for message in request["messages"] if message["role"] == "tool"]
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        message = (
            {"role": "assistant", "content": told[-1]["content"]} if told else {"role": "assistant", "content": None, "tool_calls": [call]}
        )
        choice = {"index": 0, "finish_reason": "stop" if told else "tool_calls", "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        response = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        return exchange.reply(json.dumps(response).encode())

    with Loopback(answer) as server:
        yield f"http://127.0.0.1:{server.port}/v1", seen
