"""The questions that a tool asks a person while it runs: what is asked, who answers, and the door
between them, which is the same for every type of tool and every entry point.

An entry point says who answers: `CallPath(asker=…)`, or `answered_by(asker)` around calls. Without
one a tool that asks ends with `needs_input`.
"""

import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import field, replace
from functools import partial
from typing import Any, Final, Literal, TypeAlias, cast

from vespe.calls import in_process
from vespe.calls.in_process import Bounds, FunctionImplementation, Pause
from vespe.calls.secrets import redact
from vespe.documents import strict_json
from vespe.documents.escaping import inert
from vespe.errors import (
    Declined,
    Interrupted,
    InvalidDocument,
    NeedsInput,
    TimedOut,
    ToolExecutionError,
    UsageError,
    VespeError,
)
from vespe.files.digests import sha256
from vespe.models import JsonObject
from vespe.processes.ask_channel import MAX_LINE
from vespe.records import dataclass

ASK_TIMEOUT_S: Final = 600.0
"""How long a person has for one question. The deadline of the call stands still meanwhile."""
MAX_QUESTIONS: Final = 8
"""How many questions one call may ask."""
MAX_TEXT: Final = 4000
"""How many characters a question may have."""
_TRIES: Final = 3
_NAME: Final = 64
_LOOK_S: Final = 0.1
PersonAction: TypeAlias = Literal["accept", "decline", "cancel"]
ACCEPT: Final = "accept"
DECLINE: Final = "decline"
CANCEL: Final = "cancel"
_ACTIONS: Final = (ACCEPT, DECLINE, CANCEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolQuestion:
    """A question that a tool asks the user: the name of the `tool`, the `text`, and the `schema` of
    the answer, a flat object as in MCP's elicitation. Control characters in the text are escaped.

    `key` distinguishes the question from others of the same call: its name, or a value derived from
    text and schema. If the question is asked again, `problem` says what was wrong with the previous
    answer. `over` is set when an answer is no longer needed, because the call has ended or the time
    is up.

    ```python
    from vespe import PersonReply, ToolQuestion

    def says_yes(question: ToolQuestion) -> PersonReply:
        return PersonReply(action="accept" if question.key == "sure" else "decline")

    question = ToolQuestion(tool="paint", text="Sure?", schema={"type": "object"}, key="sure")
    assert says_yes(question).action == "accept"
    ```
    """

    tool: str
    text: str
    schema: JsonObject
    key: str
    problem: str = ""
    over: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    @property
    def digest(self) -> str:
        """A digest of tool, text and schema, which distinguishes different questions with the same
        key.
        """
        said: JsonObject = {"tool": self.tool, "text": self.text, "schema": self.schema}
        return sha256(strict_json.compact_json(said).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReply:
    """The user's reply: `action` is accept, decline or cancel, as in MCP. `content` is the answer
    and matches the question's schema.

    ```python
    from vespe import PersonReply

    reply = PersonReply(action="accept", content={"colour": "blue"})
    assert reply.content["colour"] == "blue" and PersonReply(action="decline").content == {}
    ```
    """

    action: PersonAction
    content: Mapping[str, Any] = field(default_factory=dict)


Asker: TypeAlias = Callable[[ToolQuestion], PersonReply]
"""Asks a person, and waits for the answer. It runs in a thread of its own, one question at a time,
and should return once `question.over` is set; what it returns then is dropped.

It may raise `CallSuspended` where the answer can only come with another call.
"""


@dataclass(frozen=True, slots=True)
class AtOnce:
    """An asker that takes several questions of a call at the same time, each in its own thread."""

    asker: Asker

    def __call__(self, question: ToolQuestion) -> PersonReply:
        """Ask one."""
        return self.asker(question)


class CallSuspended(BaseException):
    """An asker ends the call: it is made anew once the `questions` have an answer.

    It passes through `CallPath.run` and its siblings as it is. It is no Exception, so that a tool
    that catches all of these does not take it for its own.
    """

    def __init__(self, *questions: ToolQuestion) -> None:
        super().__init__("the call needs an answer and will start again with it")
        self.questions = questions


class CallQuestions:
    """The questions of one call of a tool, each put to `asker` once; safe from several threads,
    whose questions are asked one at a time, unless the asker is one of `AtOnce`.

    `cancel` is the call's, and `secrets` are the values that the tool was given, which no question
    shows. `pause` says how long its deadline has to stand still, `suspended` that an asker ended
    it, whatever the tool made of that, and `loop` is the event loop of others that the tool runs
    in.
    """

    def __init__(
        self,
        tool: str,
        asker: Asker,
        *,
        cancel: threading.Event | None = None,
        secrets: Collection[str] = (),
    ) -> None:
        self.asker, self.pause, self._secrets = asker, Pause(), secrets
        self.suspended: CallSuspended | None = None
        self.loop: Any = None
        self._tool, self._cancel = tool, cancel
        self._lock = threading.Lock()
        self._turn: AbstractContextManager[object] = (
            nullcontext() if isinstance(asker, AtOnce) else threading.Lock()
        )
        self._asked: dict[str, _Asked] = {}

    @property
    def paused_s(self) -> float:
        """How long the call has waited for a person."""
        return self.pause.seconds

    @property
    def is_suspended(self) -> bool:
        """Whether the call is to end, and to be made anew once there is an answer."""
        return self.suspended is not None

    def answer(self, line: bytes | None, over: threading.Event) -> bytes:
        """Answer a line by which a process asks (see `processes/ask_channel.py`); None is one that
        was too long. Never raises; b"" where the call is ended instead, so that the tool does not
        go on.
        """
        try:
            asked = _asked_by(line)
            reply = self.reply(
                asked["question"], asked.get("schema"), name=asked.get("name"), leave=Leave(over)
            )
            said: JsonObject = {"action": reply.action, "content": dict(reply.content)}
        except (Interrupted, CallSuspended):
            return b""
        except VespeError as error:
            why = {"code": error.code, "message": str(error)}
            if error.hint:
                why["hint"] = error.hint
            said = {"action": CANCEL, "content": {}, "error": why}
        return strict_json.compact_bytes({"answer": 1, **said})

    def check_thread(self) -> None:
        """Raise where the caller would block the event loop that its whole process runs in."""
        if self.loop is not None and in_process.running_loop() is self.loop:
            raise ToolExecutionError(
                "vespe.ask would block the event loop that this tool runs in",
                hint="`await vespe.aask(…)` in an async function",
            )

    def reply(
        self,
        text: str,
        schema: JsonObject | None = None,
        *,
        name: str | None = None,
        leave: "Leave | None" = None,
    ) -> PersonReply:
        """Return what a person says, unless somebody sets `leave`. The same question of the same
        call has the same answer.

        Raises ToolExecutionError where the tool asks for what cannot be asked, NeedsInput where no
        answer can be had, and CallSuspended.
        """
        asked = self._question(text, schema, name)
        while True:
            with self._lock:
                is_first, known = self._known(asked, name)
            if is_first:
                return self._first(asked, known, leave or Leave())
            while not known.over.wait(_LOOK_S):
                if leave is not None and leave.is_set():
                    raise Interrupted(f"the call of {self._tool!r} was cancelled at a question")
            if known.reply is not None:
                return known.reply

    def _known(self, asked: ToolQuestion, name: str | None) -> "tuple[bool, _Asked]":
        """Return what is known of a question, and whether it is asked for the first time."""
        if self.suspended is not None:
            raise self.suspended
        known = self._asked.get(asked.key)
        if known is None:
            if len(self._asked) == MAX_QUESTIONS:
                raise ToolExecutionError(
                    f"{self._tool!r} asked more than {MAX_QUESTIONS} questions in one call",
                    hint="ask for several values in one question: its schema can have several "
                    "fields",
                )
            self._asked[asked.key] = made = _Asked(asked.digest)
            return True, made
        if known.digest != asked.digest:
            raise ToolExecutionError(
                f"{self._tool!r} asked two questions with the name {name!r} in one call",
                hint="give each question a different name",
            )
        return False, known

    def _first(self, asked: ToolQuestion, known: "_Asked", leave: "Leave") -> PersonReply:
        """Ask, and let others know; where that fails the question may be asked again."""
        try:
            with self._turn:
                if self.suspended is not None:
                    raise self.suspended
                known.reply = self._put(asked, leave)
            return known.reply
        finally:
            if known.reply is None:
                with self._lock:
                    self._asked.pop(asked.key, None)
            known.over.set()

    def ask(
        self,
        text: str,
        schema: JsonObject | None = None,
        *,
        name: str | None = None,
        leave: "Leave | None" = None,
    ) -> JsonObject:
        """Return the answer; raises Declined where the person gives none, else as `reply` does."""
        reply = self.reply(text, schema, name=name, leave=leave)
        if reply.action != ACCEPT:
            raise Declined(self._tool, action=reply.action)
        return dict(reply.content)

    def _question(self, text: str, schema: JsonObject | None, name: str | None) -> ToolQuestion:
        schema = {"type": "object", "properties": {}} if schema is None else schema
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT:
            raise ToolExecutionError(
                f"{self._tool!r} asked a question that is not a string of 1 to {MAX_TEXT} "
                "characters"
            )
        if name is not None and not (isinstance(name, str) and 0 < len(name) <= _NAME):
            raise ToolExecutionError(
                f"{self._tool!r} asked a question whose name is not a string of 1 to {_NAME} "
                "characters"
            )
        from vespe.schemas import answers

        if problem := answers.problem_of_schema(schema):
            raise ToolExecutionError(
                f"{self._tool!r} asked for an answer that cannot be entered in a form: {problem}",
                hint="the schema is an object with properties that are strings, numbers, integers, "
                "booleans, or lists of choices",
            )
        text, schema, name = redact([text, schema, name], self._secrets)
        made = ToolQuestion(tool=self._tool, text=inert(text), schema=schema, key=name or "")
        return made if name else replace(made, key=f"question-{made.digest[:12]}")

    def _put(self, question: ToolQuestion, leave: "Leave") -> PersonReply:
        # most calls ask nothing, and a command would wait for what they need to ask
        from vespe.calls.program_place import waiting_for_person
        from vespe.schemas import answers

        for _ in range(_TRIES):
            with self.pause, waiting_for_person():
                reply = self._answer(question, leave)
            if reply.action != ACCEPT:
                return PersonReply(action=reply.action)
            content = answers.with_defaults(question.schema, reply.content)
            if not (problem := answers.problem_of(question.schema, content)):
                return PersonReply(action=ACCEPT, content=content)
            question = replace(question, problem=problem, over=threading.Event())
        raise NeedsInput(
            f"the answer to {self._tool!r} does not fit: {question.problem}",
            hint="make the call again",
        )

    def _answer(self, question: ToolQuestion, leave: "Leave") -> PersonReply:
        leave.also += (self._cancel,) if self._cancel is not None else ()
        putting = FunctionImplementation(self._tool, partial(self.asker, question))
        try:
            reply = in_process.run(putting, {}, Bounds(ASK_TIMEOUT_S, True, leave))
        except CallSuspended as suspended:
            self.suspended = suspended
            raise
        except TimedOut:
            raise NeedsInput(
                f"{self._tool!r} asked the user, who did not answer within "
                f"{ASK_TIMEOUT_S / 60:g} minutes",
                hint="make the call again",
            ) from None
        except Interrupted:
            raise Interrupted(f"the call of {self._tool!r} was cancelled at a question") from None
        finally:
            question.over.set()
        return _checked(reply)


class _Asked:
    """A question that was asked, and its answer once there is one."""

    __slots__ = ("digest", "over", "reply")

    def __init__(self, digest: str) -> None:
        self.digest, self.over = digest, threading.Event()
        self.reply: PersonReply | None = None


class Leave(threading.Event):
    """Is set where nobody waits for an answer any more: itself, or one of `also`."""

    def __init__(self, *also: threading.Event) -> None:
        super().__init__()
        self.also = also

    def is_set(self) -> bool:
        """Whether one of them is set."""
        return super().is_set() or any(one.is_set() for one in self.also)


class NobodyAsked:
    """Stands where a process could ask, and nobody is there to answer: a call whose process asks
    all the same is ended, so that it does not go on without an answer.
    """

    paused_s: Final = 0.0

    def __init__(self, tool: str) -> None:
        self.is_suspended = False
        self._tool = tool

    def answer(self, line: bytes | None, over: threading.Event) -> bytes:
        """Have the call ended."""
        self.is_suspended = True
        return b""

    def check(self) -> None:
        """Raise NeedsInput where the process has asked."""
        if self.is_suspended:
            raise NeedsInput(
                f"{self._tool!r} asks the user a question, but there is no one to ask here"
            )


def _asked_by(line: bytes | None) -> JsonObject:
    """Read a line by which a process asks; raises ToolExecutionError for what is none."""
    if line is None:
        raise ToolExecutionError(f"a question line may have at most {MAX_LINE} bytes")
    try:
        asked = strict_json.parse_object(line)
    except InvalidDocument as error:
        raise ToolExecutionError(
            f"a question line must be a JSON object; it {error.reason}"
        ) from None
    if asked.get("ask") != 1 or not isinstance(asked.get("question"), str):
        raise ToolExecutionError(
            'a question line has the form {"ask": 1, "question": TEXT, "schema": {...}}, '
            "with an optional name"
        )
    return asked


def _checked(reply: object) -> PersonReply:
    if not isinstance(reply, PersonReply) or reply.action not in _ACTIONS:
        raise UsageError(
            "the ask function must return a vespe.PersonReply whose action is one of "
            f"{', '.join(_ACTIONS)}, not {reply!r:.80}"
        )
    return reply


_HERE: Final[ContextVar[CallQuestions | None]] = ContextVar("vespe_questions", default=None)
"""Those of the call that runs here; outside a call, who would be asked."""


def asker_here(own: Asker | None) -> Asker | None:
    """Return who is asked by a call that begins here: its path's `own` asker, else that of
    `answered_by` or of the call that it is made in.
    """
    if own is not None:
        return own
    around = _HERE.get()
    return None if around is None else around.asker


@contextmanager
def answered_by(asker: Asker | None) -> Iterator[None]:
    """Let `asker` answer the questions of calls that are made in this block, in this thread or task
    and those that it starts. With None, questions cannot be answered.

    ```python
    from vespe import PersonReply, ToolQuestion, Toolset, answered_by, ask

    def paint() -> str:
        \"""Paint the wall.\"""
        colour = {"type": "object", "properties": {"colour": {"type": "string"}}}
        return f"painted {ask('Which colour?', colour)['colour']}"

    def me(question: ToolQuestion) -> PersonReply:
        return PersonReply(action="accept", content={"colour": "blue"})

    with answered_by(me):
        assert Toolset(paint).call("paint").unwrap() == "painted blue"
    ```
    """
    token = _HERE.set(None if asker is None else CallQuestions("", asker))
    try:
        yield
    finally:
        _HERE.reset(token)


@contextmanager
def asking(questions: CallQuestions) -> Iterator[None]:
    """Let the code of one call ask; raises CallSuspended at its end where an asker did, even if the
    code caught it.
    """
    token = _HERE.set(questions)
    try:
        yield
    finally:
        _HERE.reset(token)
        if questions.suspended is not None:
            raise questions.suspended


def ask(question: str, schema: JsonObject | None = None, *, name: str | None = None) -> JsonObject:
    """Ask the user a question from an in-process tool, and return the answer.

    `schema` describes the answer: an object whose properties are strings, numbers, integers,
    booleans or lists of choices. Without it, the user can only agree or decline. `name`
    distinguishes the question from others of the tool. Raises `vespe.errors.Declined` if the user
    declines, and `vespe.errors.NeedsInput` if there is no one to ask.

    Ask before the tool changes anything, because over MCP the call may start again when the answer
    has arrived. The same question in the same call is asked once. In an async function, use `aask`.

    ```python
    from vespe import Toolset, ask

    def remove(path: str) -> str:
        \"""Remove a file.\"""
        ask(f"Remove {path}?", name="remove")
        return f"{path} is gone"

    error = Toolset(remove).call("remove", path="a.txt").error
    assert error is not None and error.code == "needs_input"  # there is no one to ask
    ```
    """
    if (call := _HERE.get()) is None:
        return _asked_outside(question, schema, name)
    call.check_thread()
    return call.ask(question, schema, name=name)


async def aask(
    question: str, schema: JsonObject | None = None, *, name: str | None = None
) -> JsonObject:
    """Ask the user a question from an async tool, without blocking its event loop; see `ask`.

    ```python
    from vespe import PersonReply, Toolset, aask, answered_by

    async def remove(path: str) -> str:
        \"""Remove a file.\"""
        await aask(f"Remove {path}?")
        return f"{path} is gone"

    with answered_by(lambda question: PersonReply(action="accept")):
        assert Toolset(remove).call("remove", path="a.txt").unwrap() == "a.txt is gone"
    ```
    """
    leave = Leave()
    if (call := _HERE.get()) is None:
        work = partial(_asked_outside, question, schema, name)
    else:
        work = partial(call.ask, question, schema, name=name, leave=leave)
    return cast(JsonObject, await in_process.in_thread(work, leave=leave.set))


def _asked_outside(question: str, schema: JsonObject | None, name: str | None) -> JsonObject:
    """Ask where this process is that of a tool (`types/python_script/child.py`); raises NeedsInput
    anywhere else.
    """
    outside: Any = sys.modules.get("vespe_ask")
    if outside is None:
        raise NeedsInput("the tool asks the user a question, but there is no one to ask here")
    try:
        return cast(JsonObject, outside.ask(question, schema, name=name))
    except outside.Declined as no:
        raise Declined(no.tool, action=no.action) from None
    except outside.NeedsInput as error:
        raise NeedsInput(str(error), hint=error.hint) from None
