"""The requests and whole answers of anthropic, as far as tests/providers/test_anthropic.py does not
judge them already.
"""

from vespe.features.agents.providers import anthropic
from vespe.features.agents.providers.anthropic import AnthropicProvider

USER = [{"role": "user", "content": "Hi"}]
PROVIDER = AnthropicProvider("m", api_key="k")


def test_anthropic_is_told_a_limit_where_the_caller_names_none() -> None:
    assert anthropic.payload("m", USER, None, options=None, stream=False) == {
        "model": "m",
        "max_tokens": 8192,
        "messages": USER,
    }


def test_a_choice_of_openais_is_said_in_anthropics_words() -> None:
    def told(choice: object) -> object:
        return anthropic.payload(
            "m", USER, None, options={"tool_choice": choice}, stream=False
        ).get("tool_choice")

    named = {"type": "function", "function": {"name": "f"}}
    assert [
        told(choice) for choice in ("auto", "none", "required", named, {"type": "any"}, None)
    ] == [
        {"type": "auto"},
        {"type": "none"},
        {"type": "any"},
        {"type": "tool", "name": "f"},
        {"type": "any"},
        None,
    ]


def test_thinking_of_a_whole_answer_comes_back_as_it_was() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Hi"},
    ]
    spoken = PROVIDER.answer(
        {"role": "assistant", "content": blocks, "stop_reason": "end_turn", "usage": None}
    ).message
    assert (
        anthropic.payload("m", [*USER, spoken], None, options=None, stream=False)["messages"][1][
            "content"
        ]
        == blocks
    )


def test_an_answer_that_says_nothing_is_a_message_all_the_same() -> None:
    assert PROVIDER.answer({"content": [], "stop_reason": "end_turn"}).message == {
        "role": "assistant",
        "content": None,
    }
