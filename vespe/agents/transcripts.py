"""A conversation that is kept: inner messages, which calls were begun, and the file that it can be resumed from."""

import contextlib
import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from vespe.agents.open_calls import ModelCall, calls_of, read_turns, with_ids
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations
from vespe.models import JsonObject, JsonValue
from vespe.processes.signals import whole

MAX_BYTES: Final = 256 * 1024 * 1024
_OWN: Final = "vespe"
_STARTED: Final = "started"
_ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")


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
        count = 0
        for index, message in enumerate(messages):
            if not isinstance(message, dict) or not isinstance(message.get("role"), str):
                raise InvalidDocument("must be an object with a `role`", path="messages", pointer=f"/{index}")
            self.messages.append(_named(message, before=count))
            count += _count(self.messages[-1])
        stray = read_turns(self.messages).stray
        if stray is not None:
            raise InvalidDocument("calls have no result, and the conversation goes on", path="messages", pointer=f"/{stray}")
        self.started = set(started)

    @property
    def open(self) -> list[ModelCall]:
        """The calls that have no result yet, in order."""
        return read_turns(self.messages).open

    @whole
    def add(self, message: JsonObject) -> None:
        """Add what somebody said: the user, or the model, whose calls are then open."""
        self.started = set()
        self.messages.append(_named(message, before=sum(map(_count, self.messages))))
        self._changed()

    @whole
    def start(self, calls: Iterable[ModelCall]) -> None:
        """Note that these calls are about to run."""
        self.started |= {call.place for call in calls}
        self._changed()

    @whole
    def answer(self, results: Mapping[int, JsonObject], *, settled: Iterable[int] = ()) -> None:
        """Add results, tool messages by the places of their calls; all results of a turn stand in the order of its calls.

        `settled` are places of calls of which it is known now that those without a result were not begun.
        """
        settled = self.started & set(settled)
        if not results and not settled:
            return
        turns = read_turns(self.messages)
        first = turns.last + 1
        known = {place: self.messages[index] for place, index in turns.results.items()} | dict(results)
        others = [m for index, m in enumerate(self.messages[first:], first) if index not in turns.results.values()]
        self.messages[first:] = [known[place] for place in sorted(known)] + others
        self.started -= settled
        self._changed()

    @whole
    def undo(self) -> bool:
        """Take back the last thing that the user said, and all that followed; gives whether there was one."""
        index = next((at for at in reversed(range(len(self.messages))) if self.messages[at].get("role") == "user"), None)
        if index is None:
            return False
        self.started = set()
        del self.messages[index:]
        self._changed()
        return True

    def as_document(self) -> JsonObject:
        """Return the transcript as its file holds it: OpenAI's `model` and `messages`, and under `vespe` what was begun."""
        begun = sorted(self.started & {call.place for call in self.open})
        document: JsonObject = {"model": self.model} if self.model else {}
        return document | {"messages": self.messages} | ({_OWN: {_STARTED: begun}} if begun else {})

    def _changed(self) -> None:
        if self.keep is not None:
            self.keep(self)


def _named(message: JsonObject, *, before: int) -> JsonObject:
    return with_ids(message, before=before) if message.get("role") == "assistant" else message


def _count(message: JsonObject) -> int:
    return len(calls_of(message)) if message.get("role") == "assistant" else 0


@contextlib.contextmanager
def held(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the file of a conversation, so that no two processes run its calls at the same time.

    Raises StorageError where another process holds it. The lock lies in the user's state directory, and ends with its holder.
    """
    real = os.path.realpath(path)
    name = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
    directory = os.path.join(locations.user_state_dir(), "conversations", name)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StorageError("make", directory, error) from error
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(atomic.locked(directory, timeout_s=0))
        except StorageError:
            busy = OSError(errno.EAGAIN, "another process works on this conversation")
            raise StorageError("use", real, busy) from None
        yield


def load(path: str | os.PathLike[str]) -> Transcript:
    """Read a transcript: a list of messages in OpenAI's chat format, or an object with `messages`.

    Raises StorageError, and InvalidDocument with the place of what is wrong.
    """
    name = os.fspath(path)
    document: JsonValue = strict_json.parse_json(atomic.read_bytes(os.path.realpath(name), limit=MAX_BYTES), path=name, limit=MAX_BYTES)
    held = document if isinstance(document, dict) else {"messages": document}
    messages, own = held.get("messages"), held.get(_OWN)
    if not isinstance(messages, list):
        raise InvalidDocument("must be a list of messages, or an object with `messages`", path=name)
    started = own.get(_STARTED) if isinstance(own, dict) else None
    model = held.get("model")
    places = [place for place in started if isinstance(place, int)] if isinstance(started, list) else []
    try:
        made = Transcript(messages, model=model if isinstance(model, str) else "", started=places)
        _check(made.messages)
        return made
    except InvalidDocument as error:
        pointer = f"{'/messages' if isinstance(document, dict) else ''}{error.pointer}"
        raise InvalidDocument(error.reason, path=name, pointer=pointer) from None


def _check(messages: list[JsonObject]) -> None:
    """Refuse what no model's API would take, so that a file that somebody edited is mended before anything of it runs."""
    for index, message in enumerate(messages):
        if message["role"] not in _ROLES:
            raise InvalidDocument(f"is not one of {', '.join(_ROLES)}", path="messages", pointer=f"/{index}/role")
        for name, kinds, wanted in (("content", (str, list), "a text or a list of parts"), ("tool_calls", (list,), "a list of calls")):
            if message.get(name) is not None and not isinstance(message[name], kinds):
                raise InvalidDocument(f"must be {wanted}", path="messages", pointer=f"/{index}/{name}")
    lost = read_turns(messages).lost
    if lost is not None:
        raise InvalidDocument("is a result, and answers no call", path="messages", pointer=f"/{lost}")


def save(transcript: Transcript, path: str | os.PathLike[str], *, durable: bool = True) -> None:
    """Write a transcript in one step, for its owner alone; raises StorageError."""
    atomic.write_atomic(path, strict_json.dump_json(transcript.as_document()), mode=0o600, durable=durable)
