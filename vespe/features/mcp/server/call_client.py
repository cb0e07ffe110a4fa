"""The client of one call, and how its user is asked: in the revisions with a handshake by a request
while the call waits, in 2026-07-28 by a result, after which the client makes the call anew.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace

from vespe.calls.asking import Asker, CallSuspended, PersonReply, ToolQuestion
from vespe.calls.policy import Question
from vespe.errors import NeedsInput, Refused
from vespe.features.mcp.server import elicitation, request_state, revisions
from vespe.features.mcp.server.elicitation import APPROVAL
from vespe.features.mcp.server.progress import Notify
from vespe.features.mcp.server.request_state import RequestState
from vespe.features.mcp.server.served_client import ServedClient
from vespe.models import JsonObject
from vespe.records import dataclass


class CallClient:
    """The client of one call, whose user nobody can ask."""

    asks = False
    waits = False
    """Whether a call can wait for an answer, and go on with it."""

    def __init__(self, client: ServedClient) -> None:
        self.client = client

    @property
    def takes_several(self) -> bool:
        """Whether several questions of the call may wait at the same time."""
        return False

    def begin(self, bound: Callable[[], JsonObject]) -> None:
        """Take in what the client brings of an earlier round of the call; `bound` gives what that
        must have been made for. Raises ProtocolError where it was not, StorageError, Refused.
        """

    def check_allowed(self, question: Question) -> None:
        """Ask whether a call may run; raises Refused where it may not, NeedsInput without an
        answer, Interrupted, and CallSuspended.
        """
        raise NeedsInput(
            f"calls of {question.tool.name!r} need the user's approval, and the client cannot ask",
            hint="use a client that declares elicitation",
        )

    def reply(self, question: ToolQuestion) -> PersonReply:
        """Ask what a tool asks; raises as `check_allowed` does."""
        raise NeedsInput(
            f"{question.tool!r} asks the user a question, but the client cannot ask",
            hint="use a client that declares elicitation",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTheWay:
    """How a call is heard of and ended on its way: `notify` takes messages from its thread, and
    `cancel` ends it; without one it runs in the thread that takes requests, which nothing may keep.
    `aside` is around what waits for a person; `withdraw` takes the message that a question is over,
    which a call that was cancelled sends too.
    """

    notify: Notify
    withdraw: Notify | None = None
    cancel: threading.Event | None = None
    aside: Callable[[], AbstractContextManager[None]] = nullcontext


class WaitingCallClient(CallClient):
    """A client that is sent questions while the call waits for their answers."""

    asks = waits = True

    def __init__(self, client: ServedClient, way: OnTheWay) -> None:
        super().__init__(client)
        self._way = way

    def check_allowed(self, question: Question) -> None:
        with _nothing_run():
            reply = self._asked(elicitation.approval(question), over=threading.Event())
            allowed = elicitation.allows(reply, tool=question.tool.name)
        if not allowed:
            raise _denied(question)

    def reply(self, question: ToolQuestion) -> PersonReply:
        return self._asked(elicitation.form(question), over=question.over)

    def _asked(self, params: JsonObject, *, over: threading.Event) -> PersonReply:
        cancel = self._way.cancel
        if cancel is None:
            raise CallSuspended
        with self._way.aside():
            answer = self.client.questions.ask(
                params,
                self._way.notify,
                withdraw=self._way.withdraw or self._way.notify,
                cancel=cancel,
                over=over,
            )
        return elicitation.reply_in(answer)


class RoundCallClient(CallClient):
    """A client that is given questions as the result of the call, and makes it anew with their
    answers.

    What was answered in earlier rounds, and that the call was allowed, is in the state that it
    brings back. A tool's own question may be answered without one; an approval never.
    """

    asks = True

    def __init__(
        self, client: ServedClient, *, responses: JsonObject | None, state: str | None
    ) -> None:
        super().__init__(client)
        self._responses, self._text = responses or {}, state
        self._state = RequestState()
        self._bound: Callable[[], JsonObject] = dict
        self._waiting: tuple[RoundCallClient, str] = (self, "")
        self.one_at_a_time = threading.Lock()
        """Held while a call of the call's program asks."""
        self._at = self._asked = ""
        self._allowed = False
        self._answers: dict[str, JsonObject] = {}
        self._wanted: dict[str, JsonObject] = {}

    def begin(self, bound: Callable[[], JsonObject]) -> None:
        self._bound = lambda: {**bound(), "client": self.client.name}
        if self._text is not None:
            self._state = request_state.open_once(self._text, self._bound())

    @property
    def program(self) -> str:
        """The digest of what was kept of the call's program in the round before, or ""."""
        return self._state.program

    def wait_for(self, inner: "ProgramCallClient", *, program: str) -> None:
        """Let `result` ask what a call of the call's program waits for."""
        self._waiting = inner, program

    def check_allowed(self, question: Question) -> None:
        params = elicitation.approval(question)
        self._asked = elicitation.digest_of(params)
        # what was asked is what is about to run, in the same words
        same = self._state.asked == self._asked
        if same and self._state.approved:
            self._allowed = True
            return
        if not same or APPROVAL not in self._responses:
            self._want(APPROVAL, params)
        with _nothing_run():
            reply = elicitation.reply_in(self._responses[APPROVAL])
            self._allowed = elicitation.allows(reply, tool=question.tool.name)
        if not self._allowed:
            raise _denied(question)

    def reply(self, question: ToolQuestion) -> PersonReply:
        key, params = elicitation.key_of(question), elicitation.form(question)
        before = self._state.answers.get(key, {})
        if before.get("digest") == question.digest and not question.problem:
            self._answers[key] = before
            return PersonReply(action=before["action"], content=before["content"])
        if key not in self._responses or question.problem:
            self._want(key, params, question)
        reply = elicitation.reply_in(self._responses[key])
        self._answers[key] = {
            "digest": question.digest,
            "action": reply.action,
            "content": dict(reply.content),
        }
        return reply

    def _want(self, key: str, params: JsonObject, *questions: ToolQuestion) -> None:
        self._answers.pop(key, None)
        self._wanted = {key: params}
        raise CallSuspended(*questions)

    def result(self) -> JsonObject:
        """Return the result that asks what is wanted; raises StorageError and Refused where no
        state can be made.
        """
        by, program = self._waiting
        state = RequestState(
            asked=by._asked,
            approved=by._allowed,
            answers=by._answers,
            at=by._at,
            program=program,
        )
        wanted = {
            key: {"method": "elicitation/create", "params": params}
            for key, params in by._wanted.items()
        }
        return revisions.input_required(wanted, request_state.seal(state, self._bound()))


class ProgramCallClient(RoundCallClient):
    """The client of a call that a program makes, whose own call is the one that is made anew.

    What `outer` was answered counts if it was asked about this call: by its number, with the same
    files of its tool, and the same arguments.
    """

    def __init__(self, outer: RoundCallClient, number: int) -> None:
        super().__init__(outer.client, responses=None, state=None)
        self._outer, self._number = outer, number

    def begin(self, bound: Callable[[], JsonObject]) -> None:
        self._at = f"{self._number}:{elicitation.digest_of(bound())}"
        if self._outer._state.at == self._at:
            self._state, self._responses = self._outer._state, self._outer._responses

    def check_allowed(self, question: Question) -> None:
        with self._outer.one_at_a_time:
            if self._outer.waits:
                return self._outer.check_allowed(question)
            return super().check_allowed(question)

    def reply(self, question: ToolQuestion) -> PersonReply:
        with self._outer.one_at_a_time:
            return self._outer.reply(question) if self._outer.waits else super().reply(question)


class TaskCallClient(RoundCallClient):
    """A client whose call is a task: the task waits for the answers. Until a call that may become
    one does, the client is asked as by every other call.
    """

    def __init__(
        self,
        client: ServedClient,
        way: OnTheWay,
        asker: Callable[[], Asker | None],
        *,
        responses: JsonObject | None,
        state: str | None,
    ) -> None:
        super().__init__(client, responses=responses, state=state)
        self._way, self._asker = way, asker

    @property
    def waits(self) -> bool:  # type: ignore[override]  # it begins to once the call is a task
        return self._asker() is not None

    def check_allowed(self, question: Question) -> None:
        if (asker := self._asker()) is None:
            return super().check_allowed(question)
        params, name = elicitation.approval(question), question.tool.name
        asked = ToolQuestion(
            tool=name,
            text=params["message"],
            schema=params["requestedSchema"],
            key=APPROVAL,
            over=self._way.cancel or threading.Event(),
        )
        with _nothing_run(), self._way.aside():
            allowed = elicitation.allows(asker(asked), tool=name)
        if not allowed:
            raise _denied(question)
        return None

    @property
    def takes_several(self) -> bool:
        return self._asker() is not None

    def reply(self, question: ToolQuestion) -> PersonReply:
        if (asker := self._asker()) is None:
            return super().reply(question)
        form = elicitation.form(replace(question, problem=""))
        named = replace(
            question,
            key=elicitation.key_of(question),
            text=form["message"],
            schema=form["requestedSchema"],
        )
        return asker(named)


@contextmanager
def _nothing_run() -> Iterator[None]:
    """Say of what goes wrong here that the call did not run."""
    try:
        yield
    except NeedsInput as error:
        raise NeedsInput(f"{error}; nothing was run", hint=error.hint) from None


def _denied(question: Question) -> Refused:
    return Refused(f"the user has denied this call of {question.tool.name!r}")
