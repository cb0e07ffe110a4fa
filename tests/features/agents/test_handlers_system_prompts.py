"""A prompt of ours beside the user's system message."""

from vespe.features.agents.handlers import GptHandler

USER = {"role": "user", "content": "go"}


def test_the_prompt_comes_behind_the_first_system_message_or_as_one() -> None:
    assert GptHandler().prepare_payload({"messages": [USER]}, [], "P")["messages"][0] == {
        "role": "system",
        "content": "P",
    }
    joined = GptHandler().prepare_payload(
        {"messages": [{"role": "developer", "content": "D"}, USER]}, [], "P"
    )
    assert joined["messages"] == [{"role": "developer", "content": "D\n\nP"}, USER]
    parts = GptHandler().prepare_payload(
        {"messages": [{"role": "system", "content": [{"type": "text", "text": "D"}]}]}, [], "P"
    )
    assert parts["messages"][0]["content"][-1] == {"type": "text", "text": "P"}


def test_no_prompt_changes_nothing_and_nothing_that_is_given_is_changed() -> None:
    payload = {"messages": [{"role": "system", "content": "S"}]}
    assert GptHandler().prepare_payload(payload, [], "") == payload
    GptHandler().prepare_payload(payload, [], "P")
    assert payload == {"messages": [{"role": "system", "content": "S"}]}
