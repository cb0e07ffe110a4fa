"""Programs that a model writes: each call in one is decided on, run, recorded and counted as the
model's own, and what became of it is noted before the program goes on.

A program that was put off, or whose process was killed, is run again from the start: what is noted
of a call is its result then, so that no effect is made twice. A call that had begun, and of which
nothing else is known, is not made again unless its tool only reads or may be called twice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from vespe import features
from vespe.adapters.large_results.handles import LargeResults
from vespe.calls.log import arguments_digest
from vespe.calls.outcomes import refused
from vespe.calls.path import CallPath
from vespe.calls.program_place import CallWaits, ProgramPlace, in_program, said_line
from vespe.errors import Interrupted
from vespe.features.agents.call_checks import Ready
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.limits import Stop
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.recording_file import outcome_of
from vespe.models import Call, Failure, JsonObject, JsonValue, Outcome, Tool
from vespe.projects import user_config

if TYPE_CHECKING:
    from vespe.features.programs.code_bridge import CodeBridge
    from vespe.features.programs.running import InnerCall

MAX_CALLS: Final = 100
_AGAIN: Final = ("readOnlyHint", "idempotentHint")


def _nothing(*_: object) -> None:
    return None


@dataclass(kw_only=True)
class ProgramNotes:
    """What is kept of the programs of a conversation: `records` by the ids of their calls, `note`
    is told of each change. Where nobody can be asked, a program `waits`. `settled` has what a
    person says became of a call that nobody saw end, by its id: a result, or None where it is to
    run.
    """

    records: dict[str, JsonObject] = field(default_factory=dict)
    note: Callable[[str, JsonObject, int], object] = _nothing
    waits: bool = False
    settled: dict[str, JsonValue] = field(default_factory=dict)


class _Whole:
    """Large results as a program has them: references are resolved, and its results are whole."""

    def __init__(self, results: LargeResults) -> None:
        self._results = results

    def begin_turn(self) -> None:
        """Take no note: the turn is the model's."""

    def shown(self, tool: Tool, outcome: Outcome, *, place: int = 0) -> Outcome:
        """Return the whole outcome."""
        return outcome

    def read(self, arguments: JsonObject | str) -> Outcome:
        """Answer a call of `read_result`."""
        return self._results.read(arguments)

    def text_of(self, handle: str) -> tuple[str, bool]:
        """Return what a handle stands for."""
        return self._results.text_of(handle)

    def tool_of(self, handle: str) -> str:
        """Return the tool whose result a handle stands for."""
        return self._results.tool_of(handle)

    @property
    def known(self) -> Mapping[str, JsonObject]:
        """What each handle stands for."""
        return self._results.known


@dataclass(kw_only=True)
class _PlacedPolicy:
    """Decides as `inner` does, on calls of a program."""

    inner: Any
    place: ProgramPlace
    lines: Sequence[str]
    current: dict[str, "InnerCall"] = field(default_factory=dict)

    def begin(self, calls: Sequence["InnerCall"]) -> None:
        """Take note of the calls that are decided on next, in order."""
        self._next = [*calls]

    def why_not(self, tool: Tool, inputs: JsonObject) -> str:
        """Say why a call may not run, or ""."""
        call = next((one for one in self._next if one.tool.name == tool.name), None)
        if call is not None:
            self._next.remove(call)
            self.place.number = call.number
            self.place.said = said_line(self.lines, call.line)
        with in_program(self.place):
            why: str = self.inner.why_not(tool, inputs)
            return why

    def saw(self, tool: Tool) -> None:
        """Take note of a result, as the inner one does."""
        getattr(self.inner, "saw", _nothing)(tool)

    def heard(self, said: JsonValue, *, tool: str = "") -> None:
        """Take note of what was said, as the inner one does."""
        if (told := getattr(self.inner, "heard", None)) is not None:
            told(said, tool=tool)


@dataclass(kw_only=True)
class ModelProgram:
    """Makes the calls of one program: by its notes, else through `turns`, the model's
    TurnRunner, which imports this module.
    """

    turns: Any
    stop: Stop
    one: Ready
    notes: ProgramNotes
    results: list[CallResult] = field(default_factory=list)
    again: bool = False
    """Whether it has been run before."""

    def __post_init__(self) -> None:
        self.call_id = self.one.call.call_id or "program"
        self.again = self.call_id in self.notes.records
        fixed = features.load("programs", "running").Fixed
        if not self.again:
            made = fixed.now()
            record: JsonObject = {"began": made.began, "seed": made.seed, "calls": []}
            self.notes.records[self.call_id] = record
            self.notes.note(self.call_id, record, 0)
        self.record = self.notes.records[self.call_id]
        self.fixed = fixed(began=str(self.record["began"]), seed=str(self.record["seed"]))
        self.record.pop("waits", None)
        code = str(self.one.inputs.get("code", ""))
        place = ProgramPlace(program=self.call_id, waits=self.notes.waits)
        self.policy = _PlacedPolicy(inner=self.turns.policy, place=place, lines=code.splitlines())

    def run(self, calls: Sequence["InnerCall"]) -> Sequence[Outcome]:
        """Make calls that the program waits for together."""
        found = {call.number: self._noted(call) for call in calls}
        new = [call for call in calls if found[call.number] is None]
        if new:
            found |= self._made(new)
        return [
            found[call.number] or refused(call.tool, Interrupted("not run: the run was ended"))
            for call in calls
        ]

    def _noted(self, call: "InnerCall") -> Outcome | None:
        """Return what is noted of a call, None where it is to be made."""
        entries = self.record["calls"]
        if call.number > len(entries):
            return None
        entry, digest = entries[call.number - 1], arguments_digest(call.arguments)
        if entry["tool"] != call.tool.name or entry["digest"] != digest:
            raise _stopped(
                "diverged",
                f"the program makes another call than before: {call.call_id} was of "
                f"{entry['tool']!r}, and now is of {call.tool.name!r}",
                call,
            )
        if "outcome" in entry:
            return outcome_of(entry["outcome"])
        if call.call_id in self.notes.settled:
            return self._settled(call)
        if any(call.tool.annotations.get(hint) is True for hint in _AGAIN):
            return None
        said = (
            f"{call.call_id}, a call of {call.tool.name!r}, had started, and its outcome is "
            "unknown; it is not run again automatically"
        )
        if self.notes.waits:
            self._note_waiting(call, said, unknown=True)
            raise CallWaits(said)
        raise _stopped("unknown_outcome", said, call)

    def _settled(self, call: "InnerCall") -> Outcome | None:
        said = self.notes.settled[call.call_id]
        if said is None:
            return None
        outcome = Outcome(tool=call.tool.name, uid=call.tool.uid, result=said)
        self._done(call, outcome)
        return outcome

    def _made(self, calls: Sequence["InnerCall"]) -> dict[int, Outcome | None]:
        made = [
            ModelCall(
                call_id=call.call_id,
                name=call.tool.name,
                arguments=call.arguments,
                place=call.number,
                parent=self.call_id,
            )
            for call in calls
        ]
        by_place = {call.number: call for call in calls}
        self.policy.begin(calls)
        results: dict[int, CallResult] = {}

        def begins(begun: Sequence[ModelCall]) -> None:
            for one in begun:
                self._entry(by_place[one.place], {})

        def finished(result: CallResult) -> None:
            call = by_place[result.call.place]
            self._done(call, result.outcome)
            told = replace(result, call=replace(result.call, arguments=self._shown(call)))
            self.results.append(told)
            self.turns.on_inner(told)

        large: Any = None if self.turns.large is None else _Whole(self.turns.large)
        inner = replace(
            self.turns,
            policy=self.policy,
            strict=frozenset(),
            programs=frozenset(),
            before=begins,
            on_result=finished,
            known=_nothing,
            bridge=None,
            large=large,
        )
        try:
            inner.run(made, results, stop=self.stop)
        except CallWaits as waits:
            self._note_waiting(by_place[self.policy.place.number], waits.why, unknown=False)
            raise
        return {place: result.outcome for place, result in results.items()}

    def _shown(self, call: "InnerCall") -> JsonValue:
        """Return the arguments of a call as others are told of them, recordings too: a program may
        have put together what nobody wrote in it.
        """
        home: CallPath | None = self.turns.bridge.home
        tools = (call.tool,)
        return call.arguments if home is None else home.without_secrets(call.arguments, tools)

    def _note_waiting(self, call: "InnerCall", why: str, *, unknown: bool) -> None:
        self.record["waits"] = {
            "id": call.call_id,
            "tool": call.tool.name,
            "arguments": call.arguments,
            "line": call.line,
            "why": why,
            "unknown_outcome": unknown,
        }
        self.notes.note(self.call_id, self.record, 0)

    def _done(self, call: "InnerCall", outcome: Outcome) -> None:
        self._entry(call, {"outcome": outcome.to_dict()})

    def _entry(self, call: "InnerCall", more: JsonObject) -> None:
        entry: JsonObject = {
            "tool": call.tool.name,
            "digest": arguments_digest(call.arguments),
            "arguments": call.arguments,
            "line": call.line,
            **more,
        }
        entries = self.record["calls"]
        while len(entries) < call.number:
            entries.append(dict(entry, tool="", digest=""))
        entries[call.number - 1] = entry
        self.notes.note(self.call_id, self.record, call.number)


def run_program(
    turns: Any, one: Ready, *, stop: Stop, most: int | None
) -> tuple[Outcome, tuple[CallResult, ...]]:
    """Run a program that a model wrote; return its outcome as the model is told of it, and the
    calls that it made. Raises CallWaits where it is put off.
    """
    bridge: CodeBridge = turns.bridge
    program = ModelProgram(turns=turns, stop=stop, one=one, notes=turns.program_notes)
    code_bridge = features.load("programs", "code_bridge")
    order = code_bridge.ProgramOrder(
        code=str(one.inputs["code"]),
        calls=program,
        call_id=program.call_id,
        setting=_setting(bridge.home),
        max_calls=MAX_CALLS if most is None else max(0, min(MAX_CALLS, most)),
        cancel=stop,
        fixed=program.fixed,
        skips_sleeps=program.again,
        made=len(program.record["calls"]),
    )
    call = Call(tool=one.tool.name, arguments=one.inputs, call_id=program.call_id)
    if bridge.home is None:
        outcome = bridge.run(order)
    else:
        own = features.load("programs", "own_calls")
        outcome = own.told(
            bridge.home, call, lambda: bridge.run(order), over=lambda: bridge.over(order)
        )
    told: Outcome = code_bridge.told(outcome)
    return told, tuple(program.results)


def _setting(home: CallPath | None) -> str:
    return home.user.sandbox if home is not None else user_config.load_user_config().sandbox


def _stopped(code: str, message: str, call: "InnerCall") -> Exception:
    stopped: Exception = features.load("programs", "running").ProgramStopped(
        Failure(
            code=code,
            message=message,
            details={"call": call.call_id, "tool": call.tool.name, "arguments": call.arguments},
        )
    )
    return stopped
