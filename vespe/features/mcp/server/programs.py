"""Programs that a client's model writes: their calls are decided on and run as the client's own."""

import itertools
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from vespe import errors, features
from vespe.calls.arguments import checked_inputs
from vespe.calls.outcomes import failed, refused
from vespe.models import Call, Outcome, Tool
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.calls.path import CallPath
    from vespe.features.programs.code_bridge import CodeBridge
    from vespe.features.programs.running import InnerCall

Decided = Callable[[Tool, Call], Outcome]
"""Runs one call, or says why it may not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientsCalls:
    """Makes a program's calls: neighbours that only read at the same time, others in order."""

    decided: Decided
    ending: threading.Event

    def run(self, calls: Sequence["InnerCall"]) -> Sequence[Outcome]:
        """Make calls that a program waits for together."""
        own, found = features.load("programs", "own_calls"), list[Outcome]()
        for reads, group in itertools.groupby(calls, lambda call: call.reads):
            works = [partial(self._one, call) for call in group]
            if reads and len(works) > 1:
                found += own.at_the_same_time(works, self.ending)
            else:
                found += [work() for work in works]
        return found

    def _one(self, call: "InnerCall") -> Outcome:
        try:
            return self.decided(call.tool, call.as_call())
        except errors.VespeError as error:
            return failed(call.tool, error)


def run_program(
    bridge: "CodeBridge",
    arguments: object,
    *,
    path: "CallPath",
    decided: Decided,
    cancel: threading.Event | None,
) -> Outcome:
    """Run what a client gave to `run_code`; raises as `CodeBridge.run` does."""
    own = features.load("programs", "own_calls")
    code_bridge = features.load("programs", "code_bridge")
    tool = bridge.own[bridge.program]
    try:
        inputs = checked_inputs(tool, arguments)  # type: ignore[arg-type]  # it refuses what is none
    except errors.InvalidArguments as error:
        return refused(tool, error)
    ending = cancel or threading.Event()
    call = Call(tool=tool.name, arguments=inputs, call_id=own.new_id())
    order = code_bridge.ProgramOrder(
        code=inputs["code"],
        calls=ClientsCalls(decided=decided, ending=ending),
        call_id=str(call.call_id),
        setting=path.user.sandbox,
        cancel=ending,
    )
    outcome: Outcome = code_bridge.told(own.told(path, call, lambda: bridge.run(order)))
    return outcome
