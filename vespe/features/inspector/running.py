"""Calls from a page: each goes the one call path, and what needs a person's word waits for it,
bound to what was shown.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, TypeVar

from vespe.calls import policy_answers
from vespe.calls.path import CallPath, checked_inputs, refused
from vespe.calls.policy import Answer, CallPolicy, Question, policy_of
from vespe.calls.question_texts import QuestionText, question_text
from vespe.errors import InvalidArguments, Refused, VespeError
from vespe.models import Call, JsonObject, Outcome, Tool
from vespe.records import dataclass

MOST: Final = 50
"""Outcomes that are kept for their pages, and questions that wait."""
T = TypeVar("T")


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


class Runs:
    """The calls of one inspector."""

    def __init__(self, path: CallPath) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._ran: OrderedDict[str, Ran] = OrderedDict()
        self._waiting: OrderedDict[str, UnconfirmedCall] = OrderedDict()
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

    async def start(self, given: Given) -> tuple[str, bool]:
        """Run a call, or let it wait for a person's word; returns its key, and whether it waits.
        Raises as `CallPath.run` does.
        """
        try:
            inputs = checked_inputs(given.tool, given.arguments)
        except InvalidArguments:
            # what does not fit never runs, and is told and logged as at every door
            return await self._run(given), False
        return await self._decided(given, inputs, answer=None)

    async def go_on(self, key: str, answer: Answer) -> tuple[str, bool] | None:
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
    ) -> tuple[str, bool]:
        why, question = self._asked(given.tool, inputs, answer)
        if question is None:
            return (
                (self._kept(given, Refused(why)), False) if why else (await self._run(given), False)
            )
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
        ), True

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

    async def _run(self, given: Given) -> str:
        self.running += 1
        try:
            outcome = await self._path.now().arun_tool(
                given.tool, Call(tool=given.tool.uid, arguments=given.arguments)
            )
        finally:
            self.running -= 1
        return self._keep(self._ran, Ran(given=given, outcome=outcome))

    def _kept(self, given: Given, error: VespeError) -> str:
        return self._keep(self._ran, Ran(given=given, outcome=refused(given.tool, error)))

    def _keep(self, kept: "OrderedDict[str, T]", value: T) -> str:
        key = os.urandom(12).hex()
        with self._lock:
            kept[key] = value
            while len(kept) > MOST:
                kept.popitem(last=False)
        return key
