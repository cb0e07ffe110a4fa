"""The requests and whole answers of openai, as far as tests/providers/test_openai.py does not judge
them already.
"""

from vespe.features.agents.providers import openai
from vespe.features.agents.providers.openai import OpenAIProvider

USER = [{"role": "user", "content": "Hi"}]
PROVIDER = OpenAIProvider("m", api_key="k")


def test_a_stream_asks_for_usage_unless_the_caller_does_not_want_it() -> None:
    made = openai.payload("m", USER, None, options=None, stream=True)
    assert made == {
        "model": "m",
        "messages": USER,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert "stream_options" not in openai.payload(
        "m", USER, None, options={"stream_options": None}, stream=True
    )


def test_what_only_vespe_knows_is_not_sent() -> None:
    spoken = {
        "role": "assistant",
        "content": "Hi",
        "reasoning_content": "hm",
        "anthropic_blocks": ["part"],
    }
    assert openai.payload("m", [spoken], None, options=None, stream=False)["messages"] == [
        {"role": "assistant", "content": "Hi"}
    ]


def test_calls_of_a_whole_answer_are_read_like_streamed_ones() -> None:
    call = {"function": {"name": "f", "arguments": {"a": 1}}}
    read = PROVIDER.answer(
        {
            "choices": [
                {
                    "message": {"role": "assistant", "content": None, "tool_calls": [call]},
                    "finish_reason": "stop",
                }
            ]
        }
    )
    assert read.message["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a":1}'}
    assert read.message["tool_calls"][0]["id"] and read.finish_reason is not None
