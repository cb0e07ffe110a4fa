"""Programs that a client's model writes: their calls are decided on and run as the client's own."""

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from vespe import errors, features
from vespe.calls.arguments import checked_inputs
from vespe.calls.asking import CallSuspended
from vespe.calls.outcomes import failed, refused
from vespe.calls.program_place import ProgramPlace, in_program, said_line
from vespe.features.mcp.server.call_client import CallClient, ProgramCallClient, RoundCallClient
from vespe.features.mcp.server.program_rounds import ProgramRounds
from vespe.models import Call, Outcome, Tool
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.calls.path import CallPath
    from vespe.features.programs.code_bridge import CodeBridge
    from vespe.features.programs.running import InnerCall

Decided = Callable[[Tool, Call, CallClient | None], Outcome]
"""Runs one call, or says why it may not run; the client is whose user is asked about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientsCalls:
    """Makes a program's calls: neighbours that only read at the same time, others in order. `by` is
    whose user is asked; with `rounds` a call that waits for an answer ends the round.
    """

    decided: Decided
    ending: threading.Event
    by: CallClient | None
    lines: Sequence[str] = ()
    rounds: ProgramRounds | None = None

    def run(self, calls: Sequence["InnerCall"]) -> Sequence[Outcome]:
        """Make calls that a program waits for together; raises CallSuspended."""
        own, found = features.load("programs", "own_calls"), list[Outcome]()
        for reads, group in itertools.groupby(calls, lambda call: call.reads):
            works = [partial(self._one, call) for call in group]
            if reads and len(works) > 1:
                found += self._taken(own.at_the_same_time(works, self.ending))
            else:
                for work in works:
                    found += self._taken([work()])
        return found

    def _taken(self, made: "Sequence[Outcome | _Waiting]") -> Iterator[Outcome]:
        """Return outcomes; the first call that waits ends the round, once all beside it are
        noted.
        """
        for one in made:
            if isinstance(one, _Waiting):
                assert self.rounds is not None
                self.rounds.suspend(one.client, one.suspended)
            else:
                yield one

    def _one(self, call: "InnerCall") -> "Outcome | _Waiting":
        rounds = self.rounds
        if rounds is not None and (noted := rounds.noted(call)) is not None:
            return noted
        client = self.by if rounds is None else rounds.client_of(call)
        place = ProgramPlace(said=said_line(self.lines, call.line), number=call.number)
        try:
            with in_program(place):
                outcome = self.decided(call.tool, call.as_call(), client)
        except CallSuspended as suspended:
            if not isinstance(client, ProgramCallClient):
                raise
            return _Waiting(client, suspended)
        except errors.VespeError as error:
            outcome = failed(call.tool, error)
        if rounds is not None and not self.ending.is_set():
            rounds.note(call, outcome)
        return outcome


class _Waiting(NamedTuple):
    """A call that waits for an answer, which comes with another round."""

    client: ProgramCallClient
    suspended: CallSuspended


def run_program(
    bridge: "CodeBridge",
    arguments: object,
    *,
    path: "CallPath",
    decided: Decided,
    cancel: threading.Event | None,
    by: CallClient | None,
) -> Outcome:
    """Run what a client gave to `run_code`, or go on with it; raises as `CodeBridge.run` and `by`
    do.
    """
    own = features.load("programs", "own_calls")
    code_bridge = features.load("programs", "code_bridge")
    tool = bridge.own[bridge.program]
    try:
        inputs = checked_inputs(tool, arguments)  # type: ignore[arg-type]  # it refuses what is none
    except errors.InvalidArguments as error:
        return refused(tool, error)
    ending = cancel or threading.Event()
    rounds = ProgramRounds.of(by) if isinstance(by, RoundCallClient) else None
    call_id = own.new_id() if rounds is None else rounds.call_id
    call = Call(tool=tool.name, arguments=inputs, call_id=call_id)
    calls = ClientsCalls(
        decided=decided,
        ending=ending,
        by=by if by is None or by.waits else CallClient(by.client),
        lines=inputs["code"].splitlines(),
        rounds=rounds,
    )
    order = code_bridge.ProgramOrder(
        code=inputs["code"],
        calls=calls,
        call_id=call_id,
        setting=path.user.sandbox,
        cancel=ending,
        **({} if rounds is None else rounds.goes_on),
    )
    made = own.told(path, call, lambda: bridge.run(order), over=lambda: bridge.over(order))
    outcome: Outcome = code_bridge.told(made)
    return outcome
