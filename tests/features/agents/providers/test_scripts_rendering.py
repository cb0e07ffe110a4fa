"""A scripted turn as OpenAI's own types read it."""

import json

from openai.types.chat import ChatCompletion, ChatCompletionChunk

from vespe.features.agents.providers import scripts

TURN = {
    "text": "Hello you",
    "tool_calls": [{"name": "f", "arguments": {"a": "é" * 20}}],
    "reasoning": "hm",
}


def test_a_whole_answer_is_a_completion_of_openais() -> None:
    read = ChatCompletion.model_validate_json(scripts.whole(TURN, number=3, model="m"))
    call = (read.choices[0].message.tool_calls or [])[0]
    assert (read.id, read.choices[0].message.content, call.id, read.choices[0].finish_reason) == (
        "chatcmpl-simulated-3",
        "Hello you",
        "call_3_1",
        "tool_calls",
    )


def test_a_streamed_answer_is_chunks_of_openais() -> None:
    events = [
        event.removeprefix(b"data: ").strip()
        for event in scripts.streamed(TURN, number=1, model="m")
    ]
    assert events[-1] == b"[DONE]"
    chunks = [ChatCompletionChunk.model_validate_json(event) for event in events[:-1]]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == "Hello you"
    assert chunks[-1].usage is not None and chunks[-1].choices == []


def test_an_error_has_the_shape_of_openais() -> None:
    error = json.loads(scripts.failure({"status": 503, "message": "busy"}))["error"]
    assert (error["message"], error["type"]) == ("busy", "server_error")
