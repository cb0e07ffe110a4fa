"""A conversation that is kept: inner messages, which calls were begun, and the file that it can be
resumed from.
"""

import contextlib
import errno
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from vespe.adapters.translated import Conversation
from vespe.documents import fields, strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.features.agents.open_calls import ModelCall, Turns, read_turns, with_ids
from vespe.files import atomic, locations
from vespe.files.log_file import LogFile
from vespe.models import JsonObject, JsonValue

MAX_BYTES: Final = 256 * 1024 * 1024
_OWN: Final = "vespe"
_STARTED: Final = "started"
_PROVIDER: Final = "provider"
_LINES: Final = "vespe_conversation"
_RESULTS: Final = "results"
_PROGRAMS: Final = "programs"
_PROGRAM: Final = "program"
_UNKNOWN: Final = "unknown"
_UNKNOWN_OWN: Final = "unknown_own"
_FIRST_OF_LINES: Final = b'{"vespe_conversation":'
_ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")


class Transcript:
    """A conversation in OpenAI's format that is consistent after each change: every call has one
    result, or is pending in the last turn.

    `keep` is called with the transcript after each change that a crash must not undo: a new
    message, calls that are about to run, results. `changed` is then the index of the first message
    that differs. A call that was begun and has no result is never run again. Messages are replaced,
    never modified in place. `provider` and `model` are used when the conversation continues.
    `results` contains, by handle, the results that the model saw in part. Raises InvalidDocument if
    `messages` is not a conversation.

    ```python
    from vespe import Agent, SimulatedProvider, Toolset, Transcript

    conversation = Transcript()
    conversation.add({"role": "user", "content": "I am Ada."})
    conversation.add({"role": "assistant", "content": "Hello, Ada."})
    model = SimulatedProvider({"turns": [{"text": "Ada."}]})
    Agent(model, tools=Toolset(), transcript=conversation).run("Who am I?")
    roles = [message["role"] for message in conversation.messages]
    assert roles == ["user", "assistant", "user", "assistant"]
    ```
    """

    def __init__(
        self,
        messages: Iterable[JsonObject] = (),
        *,
        model: str = "",
        provider: str = "",
        started: Iterable[int] = (),
        results: Mapping[str, JsonObject] | None = None,
        keep: Callable[["Transcript"], None] | None = None,
    ) -> None:
        self.messages: list[JsonObject] = Conversation()
        self.model, self.provider, self.keep = model, provider, keep
        self.changed = 0
        self.results: dict[str, JsonObject] = dict(results or {})
        # Of programs over tools, by the ids of their calls: what they saw, and the calls they made.
        self.programs: dict[str, JsonObject] = {}
        self.program_change: tuple[str, int] | None = None
        # What its file says that Vespe does not know: of the conversation, and under `vespe`.
        self.unknown: JsonObject = {}
        self.unknown_own: JsonObject = {}
        self._read = Turns()
        self._last: JsonObject | None = None
        for index, message in enumerate(messages):
            if not isinstance(message, dict) or not isinstance(message.get("role"), str):
                raise InvalidDocument(
                    "must be an object with a `role`", path="messages", pointer=f"/{index}"
                )
            self._append(message)
        if self._read.stray is not None:
            raise InvalidDocument(
                "calls have no result, but the conversation continues",
                path="messages",
                pointer=f"/{self._read.stray}",
            )
        self.started = set(started)

    @property
    def open(self) -> list[ModelCall]:
        """The calls that have no result yet, in order."""
        return self._turns().open

    def add(self, message: JsonObject) -> None:
        """Add a message of the user, or of the model, whose calls are then pending."""
        self._turns()
        self.started = set()
        self._append(message)
        self._changed(len(self.messages) - 1)

    def start(self, calls: Iterable[ModelCall]) -> None:
        """Record that these calls are about to run."""
        self.started |= {call.place for call in calls}
        self._changed(len(self.messages))

    def note_program(self, call_id: str, record: JsonObject, number: int = 0) -> None:
        """Record the state of a program after its call with this number changed; 0 is the initial
        state.
        """
        self.programs[call_id] = record
        self.program_change = call_id, number
        self._changed(len(self.messages))
        self.program_change = None

    def answer(self, results: Mapping[int, JsonObject], *, settled: Iterable[int] = ()) -> None:
        """Add results: tool messages by the positions of their calls. The results of a turn are
        stored in the order of its calls.

        `settled` are positions of calls; those of them without a result are now known not to have
        begun.
        """
        turns = self._turns()
        first = turns.last + 1
        behind = self.messages[first:]
        known = {place: self.messages[index] for place, index in turns.results.items()} | dict(
            results
        )
        others = [
            message
            for index, message in enumerate(behind, first)
            if index not in turns.results.values()
        ]
        now = [known[place] for place in sorted(known)] + others
        settled = self.started & set(settled)
        if now == behind and not settled:
            return
        self.messages[first:] = now
        turns.settle(known, length=len(self.messages))
        self._last = self.messages[-1]
        self.started -= settled
        self._changed(
            first
            + next(
                (n for n, (new, old) in enumerate(zip(now, behind, strict=False)) if new != old),
                len(behind),
            )
        )

    def undo(self) -> bool:
        """Remove the last message of the user and everything after it. Returns whether there was
        one.
        """
        index = next(
            (
                at
                for at in reversed(range(len(self.messages)))
                if self.messages[at].get("role") == "user"
            ),
            None,
        )
        if index is None:
            return False
        self.started = set()
        del self.messages[index:]
        self._changed(index)
        return True

    def as_document(self) -> JsonObject:
        """Return the transcript in its file format: OpenAI's `model` and `messages`, and under
        `vespe` the provider and the calls that were begun.
        """
        begun = sorted(self.started & {call.place for call in self.open})
        own: JsonObject = ({_PROVIDER: self.provider} if self.provider else {}) | (
            {_STARTED: begun} if begun else {}
        )
        own |= {_RESULTS: self.results} if self.results else {}
        own |= {_PROGRAMS: self.programs} if self.programs else {}
        own = {**self.unknown_own, **own}
        document: JsonObject = {"model": self.model} if self.model else {}
        document |= {"messages": self.messages, **({_OWN: own} if own else {})}
        return {**self.unknown, **document}

    def _append(self, message: JsonObject) -> None:
        named = (
            with_ids(message, before=self._read.count)
            if message.get("role") == "assistant"
            else message
        )
        self.messages.append(named)
        self._read.add(named)
        self._last = named

    def _turns(self) -> Turns:
        """Return what is known of the calls; where somebody else changed the list of messages, all
        of it is read again.
        """
        if self._read.length != len(self.messages) or (
            self.messages and self.messages[-1] is not self._last
        ):
            self._read = read_turns(self.messages)
            self._last = self.messages[-1] if self.messages else None
        return self._read

    def _changed(self, first: int) -> None:
        self.changed = first
        if self.keep is not None:
            self.keep(self)


class ConversationFile:
    """The file of a conversation that grows: `keep` adds a line for each change, so that keeping it
    costs what changed.

    The first change writes all of it, in one step; `close` makes one JSON document of it, as `save`
    does. After a crash the lines are there: `load` reads them, and leaves out a last one that is
    not whole, since what it says had not happened yet.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.path.realpath(path)
        self._lines: LogFile | None = None
        self._told = 0

    def keep(self, transcript: Transcript) -> None:
        """Keep a transcript's last change; raises StorageError."""
        if self._lines is None:
            head: JsonObject = {
                _LINES: 1,
                "model": transcript.model,
                "provider": transcript.provider,
                **({_UNKNOWN: transcript.unknown} if transcript.unknown else {}),
                **({_UNKNOWN_OWN: transcript.unknown_own} if transcript.unknown_own else {}),
            }
            text = f"{strict_json.compact_json(head)}\n{self._line(transcript, 0)}\n"
            atomic.write_atomic(self._path, text, mode=0o600, durable=False)
            self._lines = LogFile(self._path, limit=sys.maxsize, kept=True)
            return
        try:
            self._lines.append(self._line(transcript, transcript.changed).encode("utf-8"))
        except OSError as error:
            self._lines = None
            raise StorageError("write", self._path, error) from error

    def close(self, transcript: Transcript) -> None:
        """Write the whole conversation as one document, where any of it was kept; where that cannot
        be done the lines stay.
        """
        if self._lines is not None:
            self._lines.close()
            with contextlib.suppress(StorageError):
                save(transcript, self._path, durable=False)

    def _line(self, transcript: Transcript, first: int) -> str:
        """Return a change as a line: the messages from the first other one on, and the results that
        are new since the last line.
        """
        change: JsonObject = {
            "from": first,
            "messages": transcript.messages[first:],
            _STARTED: sorted(transcript.started),
        }
        new = dict(list(transcript.results.items())[self._told :])
        self._told += len(new)
        change |= {_RESULTS: new} if new else {}
        return strict_json.compact_json(change | _of_program(transcript, whole=first == 0))


def _of_program(transcript: Transcript, *, whole: bool) -> JsonObject:
    """Return what a line says of programs: what changed of one, or the `whole` of all."""
    if whole or transcript.program_change is None:
        return {_PROGRAMS: transcript.programs} if whole and transcript.programs else {}
    call_id, number = transcript.program_change
    record = transcript.programs[call_id]
    if number == 0:
        return {_PROGRAM: {"id": call_id, "record": record}}
    return {_PROGRAM: {"id": call_id, "number": number, "call": record["calls"][number - 1]}}


def _programs_of_line(line: JsonObject, programs: dict[str, JsonObject]) -> None:
    """Take what a line says of programs."""
    given, change = line.get(_PROGRAMS), line.get(_PROGRAM)
    programs |= _results_of(given)
    if not isinstance(change, dict) or not isinstance(call_id := change.get("id"), str):
        return
    if isinstance(record := change.get("record"), dict):
        programs[call_id] = record
        return
    calls = programs.get(call_id, {}).get("calls")
    number = change.get("number")
    if isinstance(calls, list) and isinstance(number, int) and 0 < number <= len(calls) + 1:
        calls[number - 1 : number] = [change.get("call")]


def _document_of_lines(data: bytes, name: str) -> JsonObject:
    """Return the document that lines of changes come to."""
    head, *lines = [
        strict_json.parse_object(line, path=name, limit=MAX_BYTES)
        for line in data.split(b"\n")[:-1]
    ]
    messages: list[JsonValue] = []
    started: JsonValue = []
    results: JsonObject = {}
    programs: dict[str, JsonObject] = {}
    for number, line in enumerate(lines, start=2):
        first, said = line.get("from"), line.get("messages")
        if (
            not isinstance(first, int)
            or not 0 <= first <= len(messages)
            or not isinstance(said, list)
        ):
            raise InvalidDocument(f"line {number} is not a change of the conversation", path=name)
        messages[first:] = said
        started = line.get(_STARTED)
        new = line.get(_RESULTS)
        results |= new if isinstance(new, dict) else {}
        _programs_of_line(line, programs)
    unknown, own = head.get(_UNKNOWN), head.get(_UNKNOWN_OWN)
    return {
        **(unknown if isinstance(unknown, dict) else {}),
        "model": head.get("model"),
        "messages": messages,
        _OWN: {
            **(own if isinstance(own, dict) else {}),
            _PROVIDER: head.get("provider"),
            _STARTED: started,
            **({_RESULTS: results} if results else {}),
            **({_PROGRAMS: programs} if programs else {}),
        },
    }


@contextlib.contextmanager
def held(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the file of a conversation, so that no two processes run its calls at the same time.

    Raises StorageError where another process holds it. The lock lies in the user's state directory,
    and ends with its holder.
    """
    real = os.path.realpath(path)
    name = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
    directory = os.path.join(locations.user_state_dir(), "conversations", name)
    atomic.private_directory(directory)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(atomic.locked(directory, timeout_s=0, reentrant=False))
        except StorageError:
            busy = OSError(errno.EAGAIN, "another process is using this conversation")
            raise StorageError("use", real, busy) from None
        yield


def load(path: str | os.PathLike[str]) -> Transcript:
    """Read a transcript: a list of messages in OpenAI's chat format, or an object with `messages`.

    Raises StorageError, and InvalidDocument with the place of what is wrong.
    """
    name = os.fspath(path)
    data = atomic.read_bytes(os.path.realpath(name), limit=MAX_BYTES)
    if data.startswith(_FIRST_OF_LINES):
        document: JsonValue = _document_of_lines(data, name)
    else:
        document = strict_json.parse_json(data, path=name, limit=MAX_BYTES)
    held = document if isinstance(document, dict) else {"messages": document}
    messages, own = held.get("messages"), held.get(_OWN)
    if not isinstance(messages, list):
        raise InvalidDocument("must be a list of messages, or an object with `messages`", path=name)
    own = own if isinstance(own, dict) else {}
    started = own.get(_STARTED)
    model, provider = (
        value if isinstance(value, str) else "" for value in (held.get("model"), own.get(_PROVIDER))
    )
    places = (
        [place for place in started if isinstance(place, int)] if isinstance(started, list) else []
    )
    try:
        made = Transcript(messages, model=model, provider=provider, started=places)
        made.results = _results_of(own.get(_RESULTS))
        made.programs = _results_of(own.get(_PROGRAMS))
        made.unknown = fields.others(document, ("model", "messages", _OWN))
        made.unknown_own = fields.others(own, (_PROVIDER, _STARTED, _RESULTS, _PROGRAMS))
        _check(made.messages)
        return made
    except InvalidDocument as error:
        pointer = f"{'/messages' if isinstance(document, dict) else ''}{error.pointer}"
        raise InvalidDocument(error.reason, path=name, pointer=pointer) from None


def _results_of(given: JsonValue) -> dict[str, JsonObject]:
    """Return what a file says of results that were shown in part; what is no such thing is left
    out.
    """
    held = given if isinstance(given, dict) else {}
    return {handle: one for handle, one in held.items() if isinstance(one, dict)}


def _check(messages: list[JsonObject]) -> None:
    """Refuse what no model's API would take, so that a file that somebody edited is mended before
    anything of it runs.
    """
    for index, message in enumerate(messages):
        if message["role"] not in _ROLES:
            raise InvalidDocument(
                f"is not one of {', '.join(_ROLES)}", path="messages", pointer=f"/{index}/role"
            )
        for name, kinds, wanted in (
            ("content", (str, list), "a string or a list of parts"),
            ("tool_calls", (list,), "a list of calls"),
        ):
            if message.get(name) is not None and not isinstance(message[name], kinds):
                raise InvalidDocument(
                    f"must be {wanted}", path="messages", pointer=f"/{index}/{name}"
                )
    lost = read_turns(messages).lost
    if lost is not None:
        raise InvalidDocument(
            "is a result, and answers no call", path="messages", pointer=f"/{lost}"
        )


def save(transcript: Transcript, path: str | os.PathLike[str], *, durable: bool = True) -> None:
    """Write a transcript in one step, for its owner alone; raises StorageError."""
    atomic.write_atomic(
        path, strict_json.dump_json(transcript.as_document()), mode=0o600, durable=durable
    )
