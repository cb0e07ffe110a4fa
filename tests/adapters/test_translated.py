"""A conversation that grows is translated as one that is whole, and no message of it twice."""

import contextlib
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adapters import conversations, corpus
from vespe.adapters import anthropic, ollama
from vespe.adapters.openai import to_wire
from vespe.adapters.translated import Conversation, translated
from vespe.errors import InvalidDocument

ROADS: dict[str, Callable[[Any], Any]] = {
    "openai": to_wire,
    "anthropic": anthropic.from_openai_messages,
    "settled": lambda messages: anthropic.from_openai_messages(messages, settle_system=True),
    "ollama": ollama.from_openai_messages,
}


class Counting:
    """Notes the indices that it was given."""

    def __init__(self) -> None:
        self.given: list[int] = []

    def add(self, message: Any, index: int) -> None:
        if message.get("role") == "bad":
            raise InvalidDocument("is bad", path=f"messages[{index}]")
        self.given.append(index)


def said(*words: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": word} for word in words]


def test_only_what_was_added_is_translated() -> None:
    messages = Conversation(said("a", "b"))
    first = translated(messages, "k", Counting)
    messages.extend(said("c"))
    assert translated(messages, "k", Counting) is first and first.given == [0, 1, 2]
    assert translated(messages, "other", Counting).given == [0, 1, 2]


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop(),
        lambda m: m.__setitem__(0, said("x")[0]),
        lambda m: m.reverse(),
        lambda m: m.clear(),
    ],
)
def test_a_message_that_was_replaced_or_taken_out_begins_the_translation_anew(
    change: Callable[[Any], object],
) -> None:
    messages = Conversation(said("a", "b"))
    first = translated(messages, "k", Counting)
    change(messages)
    again = translated(messages, "k", Counting)
    assert again is not first and again.given == list(range(len(messages)))


def test_a_message_that_is_refused_is_refused_again_and_what_was_mended_goes() -> None:
    messages = Conversation([*said("a"), {"role": "bad"}])
    for _ in range(2):
        with pytest.raises(InvalidDocument, match=r"messages\[1\]"):
            translated(messages, "k", Counting)
    messages[1] = said("b")[0]
    assert translated(messages, "k", Counting).given == [0, 1]
    with pytest.raises(InvalidDocument, match=r"messages\[0\]: must be an object"):
        translated(Conversation([3]), "k", Counting)  # type: ignore[list-item]  # wrong on purpose


def grown(messages: list[Any], road: Callable[[Any], Any]) -> None:
    """Check that a conversation that grows message by message goes out as each of its beginnings
    does, and shares nothing.
    """
    kept, earlier = Conversation(), list[tuple[Any, Any]]()
    for end, message in enumerate(messages, start=1):
        kept.append(message)
        wanted = outcome(road, messages[:end])
        made = outcome(road, kept)
        assert made == wanted
        earlier.append((made, copy.deepcopy(made)))
    assert all(made == then for made, then in earlier)


def outcome(road: Callable[[Any], Any], messages: Any) -> Any:
    try:
        return road(messages)
    except InvalidDocument as error:
        return str(error)


@pytest.mark.parametrize("road", ROADS)
def test_a_conversation_goes_out_as_it_grows_as_it_does_whole(road: str) -> None:
    for messages in conversations.openai(40):
        grown(messages, ROADS[road])


@pytest.mark.parametrize("road", ROADS)
def test_every_recorded_conversation_goes_out_as_it_grows_as_it_does_whole(
    shared: Path, road: str
) -> None:
    for path in sorted((shared / "corpus" / "conversations").glob("*/*.json")):
        request = json.loads(path.read_text(encoding="utf-8"))["request"]
        with contextlib.suppress(InvalidDocument):
            grown(
                corpus.inner(path.parent.name, request) if "messages" in request else [],
                ROADS[road],
            )
