"""The calls of one turn: checked, allowed, run in order (neighbours that only read at the same
time), and each answered once.
"""

import contextlib
import itertools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeAlias

from vespe import errors
from vespe.adapters.large_results import reading
from vespe.adapters.large_results.handles import LargeResults
from vespe.calls import path, tracing
from vespe.calls.bridge import OWN, Bridge
from vespe.calls.program_place import CallWaits
from vespe.calls.taint import copied
from vespe.calls.threads import in_this_context
from vespe.features.agents.call_checks import Ready, check, refused_caller
from vespe.features.agents.call_results import ENDED, CallResult, Known, interrupted, not_run
from vespe.features.agents.events import Runner
from vespe.features.agents.limits import Quota, Stop
from vespe.features.agents.open_calls import ModelCall, read_turns
from vespe.features.agents.program_calls import ProgramNotes, run_program
from vespe.models import Call, JsonObject, JsonValue, Outcome, Tool
from vespe.processes.signals import uninterruptible

MAX_PARALLEL: Final = 8
_Tell: TypeAlias = Callable[[Callable[[], None]], object]
_LOOK_S: Final = 0.5
_PATIENCE_S: Final = 10.0
"""How long calls that were told to end are waited for; the call path ends a process tree well
before that.
"""


class PolicyLike(Protocol):
    """What decides on calls: a CallPolicy, or a set of tools with one of its own."""

    def why_not(self, tool: Tool, inputs: JsonObject) -> str:
        """Say why a call may not run, in words for the model, or "" where it may."""
        ...


def _nothing(_: object) -> None:
    return None


@dataclass(kw_only=True)
class TurnRunner:
    """Runs turns' calls: `tools` are what the model was shown, `strict` the names of those shown in
    strict mode, `programs` of those that programs which the vendor runs may call.

    `on_start` is told of each call as it begins, `on_result` of each result as it is there, both in
    the thread that runs the turn; `before` is told of the calls that are about to begin, and none
    of them does if it raises. `known` gives what became of a call in a recording: such a call is
    neither checked nor run, and has no result where that is WAITS. `quota` is how many calls of
    each tool may run. With a `bridge` calls of its tools are answered, and what they call is called
    in their place. With `large` the model is told a part of a result that is too large for it, and
    its `read_result` is answered. `on_inner` is told of each result of a call that a program of the
    model makes, and `program_notes` are kept of these.
    """

    tools: Mapping[str, Tool]
    runner: Runner
    policy: PolicyLike
    strict: frozenset[str] = frozenset()
    programs: frozenset[str] = frozenset()
    max_parallel: int = MAX_PARALLEL
    before: Callable[[Sequence[ModelCall]], None] = _nothing
    on_start: Callable[[Ready], None] = _nothing
    on_result: Callable[[CallResult], None] = _nothing
    known: Callable[[ModelCall], Known] = _nothing
    quota: Quota = field(default_factory=Quota)
    bridge: Bridge | None = None
    large: LargeResults | None = None
    on_inner: Callable[[CallResult], None] = _nothing
    program_notes: ProgramNotes = field(default_factory=ProgramNotes)

    def run(
        self,
        turn: Sequence[ModelCall],
        results: dict[int, CallResult],
        *,
        stop: Stop,
        most: int | None = None,
        arrived: Mapping[str, float] | None = None,
        cut: Collection[int] = (),
    ) -> None:
        """Run a turn's calls and put each result into `results` by its place, as it is there.

        Neighbouring calls of read-only tools run at the same time; any other call waits for those
        before it, and those behind it wait for it. Calls stay without a result, and were not begun,
        where `stop` was set before, or `most` calls have run. What was begun has a result even
        where this raises (KeyboardInterrupt): at worst that it was interrupted. `arrived` has
        `time.perf_counter()` of each call's last byte by its id, `cut` the places of calls that may
        not have come whole.
        """
        work = _Work(self, results, stop, most=most, arrived=arrived or {})
        if self.large is not None:
            self.large.begin_turn()
        ready = [
            one for call in turn if (one := self._checked(call, cut=call.place in cut)) is not None
        ]
        try:
            for group in _groups(ready):
                if self.max_parallel > 1 and sum(isinstance(one, Ready) for one in group) > 1:
                    work.together(group)
                else:
                    work.in_order(group)
        finally:
            work.settle()

    def is_program(self, one: Ready) -> bool:
        """Whether a call is of the tool that runs programs."""
        return self.bridge is not None and one.tool is self.bridge.own.get(self.bridge.program)

    def is_unknown(self, call: ModelCall, begun: Collection[int], noted: Container[str]) -> bool:
        """Whether a call is among those `begun` in an earlier session and nobody knows what became
        of it. A program goes on, whether anything of it is `noted` or nothing yet: each of its
        calls is noted before it is made.
        """
        program = self.bridge.program if self.bridge is not None else ""
        goes_on = call.call_id in noted or (program != "" and call.name == program)
        return call.place in begun and not goes_on

    def saw(self, tool: Tool) -> None:
        """Tell the policy, where it wants to know, that the model is given a result of this
        tool.
        """
        told: Callable[[Tool], object] = getattr(self.policy, "saw", _nothing)
        told(tool)

    def heard(self, said: JsonValue, *, tool: str = "") -> None:
        """Tell the policy, where it wants to know, what a tool or the user said."""
        told: Callable[..., object] | None = getattr(self.policy, "heard", None)
        if told is not None:
            told(said, tool=tool)

    def saw_before(self, messages: Sequence[JsonObject]) -> None:
        """Tell the policy of the results that a conversation holds already; what is not known now
        could have read anything.
        """
        called: dict[object, str] = {}
        for message in messages:
            called |= {call.call_id: self._name(call) for call in _calls(message)}
            if message.get("role") == "user":
                self.heard(message.get("content"))
            elif message.get("role") == "tool":
                name = called.get(message.get("tool_call_id"), "an earlier call")
                self.heard(message.get("content"), tool=name)
        names = {self._name(call) for message in messages for call in _calls(message)}
        for name in names - {*OWN, reading.READ}:
            self.saw(
                self.tools.get(name) or Tool(uid="", name=name, description="", input_schema={})
            )

    def _name(self, call: ModelCall) -> str:
        return (call if self.bridge is None else bridged(call, self.bridge)).name

    def _checked(self, call: ModelCall, *, cut: bool) -> Ready | CallResult | None:
        refused = refused_caller(call, self.programs)
        call = call if self.bridge is None else bridged(call, self.bridge)
        if (outcome := self.known(call)) is not None:
            return None if isinstance(outcome, str) else CallResult(call=call, outcome=outcome)
        return refused or checked(
            call, self.tools, strict=self.strict, bridge=self.bridge, cut=cut, large=self.large
        )


def checked(
    call: ModelCall,
    tools: Mapping[str, Tool],
    *,
    strict: Collection[str],
    bridge: Bridge | None,
    cut: bool,
    large: LargeResults | None = None,
) -> Ready | CallResult:
    """Return a call ready to run, or its result: why it does not run, or what a `bridge` answers to
    a call of its own tools, and `large` to one of `read_result`.

    `tools` and `strict` are as `check` takes them; `cut` says that the call may not have come
    whole.
    """
    if cut:
        return not_run(
            call,
            "the answer was cut off, and this call may be incomplete",
            code="cut",
            retryable=True,
        )
    if large is not None and call.name == reading.READ and call.name not in tools:
        one = check(call, {reading.READ: reading.TOOL})
        return (
            one
            if isinstance(one, CallResult)
            else CallResult(call=call, outcome=large.read(one.inputs), ran=True)
        )
    if bridge is None or call.name not in bridge.own:
        return check(call, tools, strict=strict, large=large)
    one = check(call, bridge.own, strict=strict, large=large)
    if call.name == bridge.program:
        return one
    return (
        one
        if isinstance(one, CallResult)
        else CallResult(call=call, outcome=bridge.answer(call.name, one.inputs), ran=True)
    )


@dataclass(kw_only=False)
class _Work:
    """One turn on its way."""

    owner: TurnRunner
    results: dict[int, CallResult]
    stop: Stop
    most: int | None = field(kw_only=True)
    arrived: Mapping[str, float] = field(kw_only=True)
    begun: dict[int, Ready] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def in_order(self, checked: Sequence[Ready | CallResult]) -> None:
        for one in checked:
            if self.stop.is_set() or self._full():
                return
            if self._allowed(one) and isinstance(one, Ready) and not self.stop.is_set():
                self.owner.before([one.call])
                self._run(one, _at_once)

    def together(self, checked: Sequence[Ready | CallResult]) -> None:
        waiting: deque[Ready] = deque()
        for one in checked:
            if self.stop.is_set():
                return
            if not self._full(len(waiting)) and self._allowed(one) and isinstance(one, Ready):
                waiting.append(one)
        if not waiting:
            return
        self.owner.before([one.call for one in waiting])
        told: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        running = min(self.owner.max_parallel, len(waiting))
        serve = in_this_context(self._serve)
        threads = [
            threading.Thread(
                target=serve, args=(waiting, told), daemon=True, name=f"vespe-call-{n}"
            )
            for n in range(running)
        ]
        try:
            # a thread whose start is cut short is one that nobody would wait for
            with uninterruptible():
                for thread in threads:
                    thread.start()
            while running:
                act = _next(told)
                running -= act is None
                _at_once(act)
        finally:
            if running:
                self._end(threads)

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        """Tell calls that still run to end, and wait for them, but not for ever."""
        self.stop.set()
        until = time.monotonic() + _PATIENCE_S
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))

    def settle(self) -> None:
        """Answer what was begun and has no result: it was interrupted."""
        with self.lock:
            for place, one in self.begun.items():
                self.results.setdefault(place, interrupted(one.call))

    def _serve(
        self, waiting: deque[Ready], told: "queue.SimpleQueue[Callable[[], None] | None]"
    ) -> None:
        """Run calls until none waits; who is told of them is told in the thread that runs the
        turn.
        """
        try:
            while not self.stop.is_set():
                try:
                    one = waiting.popleft()
                except IndexError:
                    return
                self._run(one, told.put)
        finally:
            told.put(None)

    def _full(self, waiting: int = 0) -> bool:
        return self.most is not None and len(self.begun) + waiting >= self.most

    def _allowed(self, one: Ready | CallResult) -> bool:
        """Whether a call may run; where not, its result says why."""
        if isinstance(one, CallResult):
            self._refuse(one)
            return False
        if self.owner.is_program(one):  # its calls are decided on, one by one
            return True
        if why := self.owner.quota.why_not(one.tool.name):
            self._refuse(
                not_run(
                    one.call,
                    f"{why}; continue without it",
                    code="max_calls_per_tool",
                    tool=one.tool,
                )
            )
            return False
        with copied(one.origins):
            why = self.owner.policy.why_not(one.tool, one.inputs)
        if why:
            self._refuse(
                not_run(one.call, f"{why}; continue without it", code="denied", tool=one.tool)
            )
            return False
        self.owner.quota.take(one.tool.name)
        return True

    def _refuse(self, result: CallResult) -> None:
        if not result.ran:
            call = result.call
            tool = self.owner.tools.get(call.name)
            tracing.tell_refused(call.name, result.outcome, tool=tool, call_id=call.call_id)
        self._done(result, _at_once)

    def _run(self, one: Ready, tell: _Tell) -> None:
        with self.lock:
            self.begun[one.call.place] = one
        tell(lambda: self.owner.on_start(one))
        began = time.perf_counter()
        arrived = self.arrived.get(one.call.call_id)
        wait = {} if arrived is None else {"wait_ms": round((began - arrived) * 1000, 3)}
        inner: tuple[CallResult, ...] = ()
        if self.owner.is_program(one):
            outcome, inner = self._program(one)
        else:
            outcome = self._outcome(one)
            self.owner.saw(one.tool)
        self.owner.heard(
            outcome.result if outcome.error is None else outcome.error.message, tool=one.tool.name
        )
        timing = wait | {"duration_ms": round((time.perf_counter() - began) * 1000, 3)}
        outcome = noted(outcome, one)
        done = CallResult(call=one.call, outcome=outcome, ran=True, timing=timing, inner=inner)
        self._done(done, tell)

    def _program(self, one: Ready) -> tuple[Outcome, tuple[CallResult, ...]]:
        left = None if self.most is None else self.most - len(self.begun)
        try:
            return run_program(self.owner, one, stop=self.stop, most=left)
        except CallWaits:
            with self.lock:  # it is not over, and has no result
                self.begun.pop(one.call.place, None)
            raise
        except errors.VespeError as error:
            return path.refused(one.tool, error), ()

    def _outcome(self, one: Ready) -> Outcome:
        call = Call(
            tool=one.tool.uid or one.tool.name,
            arguments=one.inputs,
            call_id=one.call.call_id,
            parent=one.call.parent or None,
        )
        try:
            outcome = path.as_told(
                one.tool, self.owner.runner.run_tool(one.tool, call, cancel=self.stop)
            )
        except errors.VespeError as error:
            return path.refused(one.tool, error)
        if outcome.error is not None and outcome.error.code == "interrupted":
            return replace(outcome, error=replace(outcome.error, message=ENDED, hint=""))
        return outcome

    def _done(self, result: CallResult, tell: _Tell) -> None:
        result = bounded(result, self.owner.tools, self.owner.large)
        with self.lock:
            new = self.results.setdefault(result.call.place, result) is result
        if new:
            tell(lambda: self.owner.on_result(result))


def noted(outcome: Outcome, one: Ready) -> Outcome:
    """Return an outcome that says which results the arguments of its call were."""
    said = tuple(map(str, one.references))
    return replace(outcome, notes=(*outcome.notes, *said)) if said else outcome


def bounded(
    result: CallResult, tools: Mapping[str, Tool], large: LargeResults | None
) -> CallResult:
    """Return a result with what the model is told, where that is not the whole outcome. What
    `read_result` answered is within the bound.
    """
    call = result.call
    if large is None or (call.name == reading.READ and call.name not in tools):
        return result
    tool = tools.get(call.name) or Tool(uid="", name=call.name, description="", input_schema={})
    shown = large.shown(tool, result.outcome, place=call.place)
    return result if shown is result.outcome else replace(result, shown=shown)


def _calls(message: JsonObject) -> Sequence[ModelCall]:
    return read_turns([message]).open


def bridged(call: ModelCall, bridge: Bridge) -> ModelCall:
    """Return the call that a model makes by way of a bridge, under its own name; any other as it
    is.
    """
    given = call.arguments if isinstance(call.arguments, (dict, str)) and call.arguments else {}
    name, arguments = bridge.inner(call.name, given)
    return call if name == call.name else replace(call, name=name, arguments=arguments)


def _groups(checked: Sequence[Ready | CallResult]) -> Iterator[list[Ready | CallResult]]:
    """Yield the calls that may overlap together: neighbours that only read; any other call
    alone.
    """
    for reads, group in itertools.groupby(
        checked, lambda one: isinstance(one, CallResult) or one.read_only
    ):
        calls = list(group)
        yield from [calls] if reads else ([one] for one in calls)


def _next(told: "queue.SimpleQueue[Callable[[], None] | None]") -> Callable[[], None] | None:
    """Wait for what is told next, a moment at a time: Ctrl-C that comes just before a wait does not
    end it.
    """
    while True:
        with contextlib.suppress(queue.Empty):
            return told.get(timeout=_LOOK_S)


def _at_once(act: Callable[[], None] | None) -> None:
    if act is not None:
        act()
