"""A conversation that is kept: inner messages, which calls were begun, and the file that it can be resumed from."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from vespe import documents
from vespe.conversation.open_calls import ModelCall, calls_of, read_turns, with_ids
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

MAX_BYTES: Final = 256 * 1024 * 1024
_OWN: Final = "vespe"
_STARTED: Final = "started"


class Transcript:
    """A conversation in the inner format, consistent after each change: a call has one result, or waits for it in the last turn.

    `keep` is called with the transcript after each change that a crash must not undo: a new message, calls about to be
    run, results. A call that was begun and has no result is never run again. Raises InvalidDocument for what is no conversation.
    """

    def __init__(
        self,
        messages: Iterable[JsonObject] = (),
        *,
        model: str = "",
        started: Iterable[int] = (),
        keep: Callable[["Transcript"], None] | None = None,
    ) -> None:
        self.messages: list[JsonObject] = []
        self.model, self.keep = model, keep
        self._calls = 0
        for index, message in enumerate(messages):
            if not isinstance(message, dict) or not isinstance(message.get("role"), str):
                raise InvalidDocument("must be an object with a `role`", path="messages", pointer=f"/{index}")
            self._append(message)
        self._turns = read_turns(self.messages)
        if self._turns.stray is not None:
            raise InvalidDocument("calls have no result, and the conversation goes on", path="messages", pointer=f"/{self._turns.stray}")
        self.started = set(started)

    @property
    def open(self) -> list[ModelCall]:
        """The calls that have no result yet, in order."""
        return list(self._turns.open)

    def add(self, message: JsonObject) -> None:
        """Add what somebody said: the user, or the model, whose calls are then open."""
        self._append(message)
        self._turns = read_turns(self.messages)
        self.started = set()
        self._changed()

    def start(self, calls: Iterable[ModelCall]) -> None:
        """Note that these calls are about to run."""
        self.started |= {call.place for call in calls}
        self._changed()

    def answer(self, results: Mapping[int, JsonObject]) -> None:
        """Add results, tool messages by the places of their calls; all results of a turn stand in the order of its calls."""
        if not results:
            return
        first = self._turns.last + 1
        known = {place: self.messages[index] for place, index in self._turns.results.items()} | dict(results)
        others = [m for index, m in enumerate(self.messages[first:], first) if index not in self._turns.results.values()]
        self.messages[first:] = [known[place] for place in sorted(known)] + others
        self._turns = read_turns(self.messages)
        self._changed()

    def undo(self) -> bool:
        """Take back the last thing that the user said, and all that followed; gives whether there was one."""
        index = next((at for at in reversed(range(len(self.messages))) if self.messages[at].get("role") == "user"), None)
        if index is None:
            return False
        del self.messages[index:]
        self._calls = sum(len(calls_of(message)) for message in self.messages if message["role"] == "assistant")
        self._turns = read_turns(self.messages)
        self.started = set()
        self._changed()
        return True

    def as_document(self) -> JsonObject:
        """Give the transcript as its file holds it: OpenAI's `model` and `messages`, and under `vespe` what was begun."""
        begun = sorted(self.started & {call.place for call in self._turns.open})
        document: JsonObject = {"model": self.model} if self.model else {}
        return document | {"messages": self.messages} | ({_OWN: {_STARTED: begun}} if begun else {})

    def _append(self, message: JsonObject) -> None:
        if message.get("role") == "assistant":
            message = with_ids(message, before=self._calls)
            self._calls += len(calls_of(message))
        self.messages.append(message)

    def _changed(self) -> None:
        if self.keep is not None:
            self.keep(self)


def load(path: str | os.PathLike[str]) -> Transcript:
    """Read a transcript: a list of messages in OpenAI's chat format, or an object with `messages`.

    Raises StorageError, and InvalidDocument with the place of what is wrong.
    """
    name = os.fspath(path)
    document: JsonValue = documents.parse_json(documents.read_bytes(os.path.realpath(name), limit=MAX_BYTES), path=name, limit=MAX_BYTES)
    held = document if isinstance(document, dict) else {"messages": document}
    messages, own = held.get("messages"), held.get(_OWN)
    if not isinstance(messages, list):
        raise InvalidDocument("must be a list of messages, or an object with `messages`", path=name)
    started = own.get(_STARTED) if isinstance(own, dict) else None
    model = held.get("model")
    places = [place for place in started if isinstance(place, int)] if isinstance(started, list) else []
    try:
        return Transcript(messages, model=model if isinstance(model, str) else "", started=places)
    except InvalidDocument as error:
        pointer = f"{'/messages' if isinstance(document, dict) else ''}{error.pointer}"
        raise InvalidDocument(error.reason, path=name, pointer=pointer) from None


def save(transcript: Transcript, path: str | os.PathLike[str], *, durable: bool = True) -> None:
    """Write a transcript in one step, for its owner alone; raises StorageError."""
    documents.write_atomic(path, documents.dump_json(transcript.as_document()), mode=0o600, durable=durable)
