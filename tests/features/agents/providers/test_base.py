"""What a reply and an answer are before anyone says otherwise."""

from vespe.features.agents.providers.base import ModelAnswer, Reply


def test_an_answer_is_whole_and_a_reply_has_no_key_in_it_unless_it_is_said() -> None:
    assert ModelAnswer(message={}).complete and ModelAnswer(message={}).cut_calls == frozenset()
    assert Reply(status=200, headers=(), pieces=iter(())).redacted({"a": "b"}) == {"a": "b"}
