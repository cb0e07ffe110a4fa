"""Calls from a page: each goes the one call path, and what needs a person's word waits for it,
bound to what was shown. A tool that asks while it runs waits for the next form.
"""

import asyncio
import contextlib
import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias, TypeVar

from vespe.calls import policy_answers
from vespe.calls.asking import CANCEL, PersonReply, ToolQuestion
from vespe.calls.path import CallPath, checked_inputs, refused
from vespe.calls.policy import Answer, CallPolicy, Question, policy_of
from vespe.calls.question_texts import QuestionText, question_text
from vespe.errors import InvalidArguments, Refused, VespeError
from vespe.models import Call, JsonObject, Outcome, Tool
from vespe.records import dataclass

MOST: Final = 50
"""Outcomes that are kept for their pages, and questions that wait."""
_LOOK_S: Final = 0.1
T = TypeVar("T")
Next: TypeAlias = Literal["ran", "waiting", "asked"]
"""What is next with a call: nothing, a person's word on it, or an answer to what its tool asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A call as its form gave it: `fields` is what was typed, by the name of the input; `whole` the
    arguments as JSON, if any.
    """

    tool: Tool
    arguments: JsonObject | str
    fields: Mapping[str, str]
    whole: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A call that came to its end, and what came of it."""

    given: Given
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class UnconfirmedCall:
    """A call that waits for a person's word: why, the inputs as they would run, what it would do,
    and the digest of the tool that was shown.

    The digest is "" where nobody can vouch for the tool's directory, as at the terminal.
    """

    given: Given
    inputs: JsonObject
    why: str
    digest: str
    text: QuestionText | None = None


class OpenCall:
    """A call on its way, whose tool may ask; made in the event loop of the pages.

    `question` is what it asks now, `values` what was typed as the answer, and `problem` why that
    does not fit. `came_late` says that the answer before came when nobody waited for it any more.
    """

    def __init__(self, given: Given, path: CallPath) -> None:
        self.given = given
        self.question: ToolQuestion | None = None
        self.values: Mapping[str, Sequence[str]] = {}
        self.problem = ""
        self.came_late = False
        self._loop = asyncio.get_running_loop()
        self._asked: asyncio.Queue[_Asked] = asyncio.Queue()
        self._shown: _Asked | None = None
        call = Call(tool=given.tool.uid, arguments=given.arguments)
        path = replace(path, asker=self._ask)
        self.task = asyncio.ensure_future(path.arun_tool(given.tool, call))

    async def next(self) -> Outcome | None:
        """Wait until the call has ended, or asks: None. Where nobody waits any more it is ended."""
        asked = asyncio.ensure_future(self._waiting())
        try:
            await asyncio.wait((self.task, asked), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task
            raise
        finally:
            if not asked.done():
                asked.cancel()
        if self.task.done():
            return self.task.result()
        self._shown = asked.result()
        self.question, self.values = self._shown.question, {}
        self.problem = self.question.problem
        return None

    async def _waiting(self) -> "_Asked":
        """Wait for the next question that somebody still waits for an answer to."""
        while True:
            asked = await self._asked.get()
            if not asked.question.over.is_set():
                return asked

    def answer(self, reply: PersonReply) -> None:
        """Give what a person says to the question that is shown, and to no other one."""
        if self._shown is not None:
            self.came_late = self._shown.question.over.is_set()
            self._shown.replies.put(reply)

    def _ask(self, question: ToolQuestion) -> PersonReply:
        """Show a question, from a thread that waits for the answer."""
        asked = _Asked(question)
        self._loop.call_soon_threadsafe(self._asked.put_nowait, asked)
        while not question.over.is_set():
            with contextlib.suppress(queue.Empty):
                return asked.replies.get(timeout=_LOOK_S)
        return PersonReply(action=CANCEL)


class _Asked:
    """A question, and the replies to it alone: the time of one may be up, and the tool may ask
    another one, while a person still looks at the first.
    """

    def __init__(self, question: ToolQuestion) -> None:
        self.question = question
        self.replies: queue.SimpleQueue[PersonReply] = queue.SimpleQueue()


class Runs:
    """The calls of one inspector."""

    def __init__(self, path: CallPath) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._ran: OrderedDict[str, Ran] = OrderedDict()
        self._waiting: OrderedDict[str, UnconfirmedCall] = OrderedDict()
        self._open: OrderedDict[str, OpenCall] = OrderedDict()
        self._policy: tuple[object, CallPolicy] | None = None
        self._answer: Answer | None = None
        self._question: Question | None = None
        self.running = 0

    def ran(self, key: str) -> Ran | None:
        """Return a call that ended, as long as it is kept."""
        return self._ran.get(key)

    def waiting(self, key: str) -> UnconfirmedCall | None:
        """Return a call that waits for a person's word."""
        return self._waiting.get(key)

    def asking(self, key: str) -> OpenCall | None:
        """Return a call whose tool waits for an answer."""
        found = self._open.get(key)
        return None if found is None or found.task.done() else found

    def stop(self) -> None:
        """End the calls that wait for answers."""
        for one in self._open.values():
            one.task.cancel()

    async def start(self, given: Given) -> tuple[str, Next]:
        """Run a call, or let it wait for a person's word; returns its key, and what is next with
        it. Raises as `CallPath.run` does.
        """
        try:
            inputs = checked_inputs(given.tool, given.arguments)
        except InvalidArguments:
            # what does not fit never runs, and is told and logged as at every door
            return await self._run(given)
        return await self._decided(given, inputs, answer=None)

    async def answer(self, key: str, reply: PersonReply) -> tuple[str, Next] | None:
        """Give what a person says to what a tool asks; None where nobody waits for it any more.
        Raises as `start` does.
        """
        with self._lock:
            found = self._open.pop(key, None)
        if found is None:
            return None
        found.answer(reply)
        return await self._next(found)

    async def go_on(self, key: str, answer: Answer) -> tuple[str, Next] | None:
        """Give a person's word on a call that waits; None where it waits no more. Raises as `start`
        does.

        A tool that is another one than the one that was shown is asked about again.
        """
        with self._lock:
            waiting = self._waiting.pop(key, None)
        if waiting is None:
            return None
        same = waiting.digest == policy_answers.digest_of(waiting.given.tool)
        return await self._decided(waiting.given, waiting.inputs, answer=answer if same else None)

    async def _decided(
        self, given: Given, inputs: JsonObject, *, answer: Answer | None
    ) -> tuple[str, Next]:
        why, question = self._asked(given.tool, inputs, answer)
        if question is None:
            return (self._kept(given, Refused(why)), "ran") if why else await self._run(given)
        digest = policy_answers.digest_of(given.tool)
        return self._keep(
            self._waiting,
            UnconfirmedCall(
                given=given,
                inputs=inputs,
                why=question.why,
                digest=digest,
                text=question_text(question),
            ),
        ), "waiting"

    def _asked(
        self, tool: Tool, inputs: JsonObject, answer: Answer | None
    ) -> tuple[str, Question | None]:
        """Return why the policy denies a call, and the question that it asks where nobody answered
        it yet.
        """
        with self._lock:
            self._answer, self._question = answer, None
            why = self._current_policy().why_not(tool, inputs)
            return why, self._question

    def _current_policy(self) -> CallPolicy:
        """Return the policy of the project's configuration as it is now; answers for the session
        are forgotten where it changes.
        """
        path = self._path.now()
        seen = (path.workspace.config.document, path.user.approvals)
        if self._policy is None or self._policy[0] != seen:
            self._policy = (seen, policy_of(path, ask=self._ask))
        return self._policy[1]

    def _ask(self, question: Question) -> Answer:
        if self._answer is not None:
            return self._answer
        self._question = question
        return Answer(allowed=False)

    async def _run(self, given: Given) -> tuple[str, Next]:
        made = OpenCall(given, self._path.now())
        self.running += 1
        made.task.add_done_callback(self._ended)
        return await self._next(made)

    def _ended(self, _: object) -> None:
        self.running -= 1

    async def _next(self, call: OpenCall) -> tuple[str, Next]:
        outcome = await call.next()
        if outcome is not None:
            return self._keep(self._ran, Ran(given=call.given, outcome=outcome)), "ran"
        return self._keep(self._open, call), "asked"

    def _kept(self, given: Given, error: VespeError) -> str:
        return self._keep(self._ran, Ran(given=given, outcome=refused(given.tool, error)))

    def _keep(self, kept: "OrderedDict[str, T]", value: T) -> str:
        key = os.urandom(12).hex()
        with self._lock:
            kept[key] = value
            while len(kept) > MOST:
                _, oldest = kept.popitem(last=False)
                if isinstance(oldest, OpenCall):
                    oldest.task.cancel()
        return key
