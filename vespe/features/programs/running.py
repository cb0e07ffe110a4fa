"""A program on its way: it runs until it calls a tool, whoever has it run makes that call, and it
goes on with what became of it.
"""

import datetime
import functools
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, Final, Protocol

from vespe import defaults, errors
from vespe.adapters import tool_errors
from vespe.calls.outcomes import failed, finished
from vespe.calls.program_place import counted_in
from vespe.documents import strict_json
from vespe.features.programs import interpreter, source
from vespe.features.programs.checking import CheckedProgram
from vespe.features.programs.functions import arguments_of
from vespe.features.programs.source import AWAITED, CALLED, PLAIN
from vespe.lazy import pydantic_monty
from vespe.models import Call, Execution, Failure, JsonObject, JsonValue, Outcome, Tool
from vespe.records import dataclass

RUN_CODE: Final = "run_code"
TIMEOUT_S: Final = 60.0
MAX_CALLS: Final = 100
_SUSPENSIONS: Final = 1000
"""More than the calls of a program: a wait for several is one, too, and so is each sleep."""
_RECURSION: Final = 400
_MOST_SAID: Final = 2000
_NO_FILES: Final = "a program has no files, environment or processes: call a tool"
_DENIED: Final = {"denied", "permission_denied"}
_BY_CLASS: Final = (
    (errors.InvalidArguments, ValueError),
    (errors.Refused, PermissionError),
    (errors.TimedOut, TimeoutError),
)
PROGRAM_TOOL: Final = Tool(
    uid="",
    name=RUN_CODE,
    description="Run a Python program whose functions are tools.",
    input_schema={
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The program."}},
        "required": ["code"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerCall:
    """A call that a program makes: `call_id` is the program's own with a number behind it, `line`
    where it stands in the program, None where that is not known, and `left_s` how long the program
    may still take.
    """

    call_id: str
    number: int
    tool: Tool
    arguments: JsonObject
    line: int | None = None
    left_s: float = TIMEOUT_S

    @property
    def reads(self) -> bool:
        """Whether its tool is annotated as read-only."""
        return self.tool.annotations.get("readOnlyHint") is True

    def as_call(self) -> Call:
        """Return the call as a call path takes it; its deadline is not later than the program's."""
        usual = self.tool.timeout_s or defaults.TIMEOUT_S
        return Call(
            tool=self.tool.uid or self.tool.name,
            arguments=self.arguments,
            timeout_s=None if usual <= self.left_s else max(self.left_s, 0.001),
            call_id=self.call_id,
            parent=self.call_id.rpartition("/")[0],
        )


class ProgramCalls(Protocol):
    """Who makes the calls of a program."""

    def run(self, calls: Sequence[InnerCall]) -> Sequence[Outcome]:
        """Make calls that a program waits for together, and return what became of each. Raises
        ProgramStopped where the program is not to go on.
        """
        ...


class ProgramStopped(Exception):
    """A program is not to go on, and cannot catch this: what became of it is `outcome`."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """What a program sees of the world beside its calls: the time at which it began, and a seed."""

    began: str
    seed: str

    @classmethod
    def now(cls) -> "Fixed":
        """Return those of a program that begins now."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        return cls(began=now, seed=os.urandom(16).hex())


@dataclass(kw_only=True)
class ProgramRun:
    """One run of a program that was checked: `calls` makes its calls, `setting` is the user's
    `sandbox`, `skips_sleeps` is for one that is run again to go on where it was.
    """

    checked: CheckedProgram
    calls: ProgramCalls
    setting: str
    call_id: str
    timeout_s: float = TIMEOUT_S
    max_calls: int = MAX_CALLS
    cancel: threading.Event | None = None
    fixed: Fixed = field(default_factory=Fixed.now)
    skips_sleeps: bool = False
    made: int = 0
    _prints: list[str] = field(default_factory=list)
    _printed: int = 0
    _waiting: dict[int, "InnerCall | BaseException | float"] = field(default_factory=dict)
    _held: "interpreter.WorkerSession | None" = None
    _text: bytes = b""

    def __post_init__(self) -> None:
        self._text = self.checked.program.run.encode("utf-8")

    def run(self) -> Outcome:
        """Run the program to its Outcome; raises only what is not the program's: MissingExtra, a
        sandbox that is required and missing, KeyboardInterrupt.
        """
        started = time.perf_counter()
        try:
            result = self._result()
            beside = Execution(result=result, logs="".join(self._prints))
            return finished(PROGRAM_TOOL, result, secrets=(), started=started, beside=beside)
        except ProgramStopped as stopped:
            took = (time.perf_counter() - started) * 1000
            made = Outcome(tool=RUN_CODE, uid=None, error=stopped.failure, duration_ms=took)
        except (errors.MissingExtra, errors.Refused):
            raise
        except errors.VespeError as error:
            made = failed(PROGRAM_TOOL, error, started=started)
        return replace(made, logs="".join(self._prints))

    def _result(self) -> JsonValue:
        interpreter.require()
        options = {
            "limits": {
                "max_memory": interpreter.MEMORY_BYTES,
                "max_recursion_depth": _RECURSION,
                "max_feed_duration_secs": self.timeout_s,
                "max_suspensions": _SUSPENSIONS + 2 * self.max_calls,
            },
            "os_policy": {
                "datetime": datetime.datetime.fromisoformat(self.fixed.began),
                "random_start": {"seed": self.fixed.seed},
            },
        }
        with (
            interpreter.session(
                self.setting, cancel=self.cancel, timeout_s=self.timeout_s, **options
            ) as held,
            counted_in(held.watched.waited),
        ):
            self._held = held
            try:
                return self._read(self._driven(held))
            except pydantic_monty.MontyError as error:
                raise self._failure(error) from None

    def _driven(self, held: interpreter.WorkerSession) -> Any:
        text = self.checked.program.run
        try:
            return self._drive(held.turn(lambda: self._feed(text)))
        except pydantic_monty.MontyRuntimeError as error:
            if not _is_unsayable(error, text):
                raise
        return self._drive(held.turn(lambda: self._feed(PLAIN)))

    def _feed(self, text: str) -> Any:
        assert self._held is not None
        return self._held.inner.feed_start(text, print_callback=self._print)

    def _print(self, _: str, text: str) -> None:
        self._printed += len(text.encode("utf-8", "replace"))
        if self._printed <= defaults.MAX_OUTPUT_BYTES:
            self._prints.append(text)
        elif self._held is not None:
            interpreter.end(self._held.watched, interpreter.PRINTED)

    def _drive(self, snapshot: Any) -> Any:
        assert self._held is not None
        while not isinstance(snapshot, pydantic_monty.MontyComplete):
            answer = self._answer(snapshot)
            snapshot = self._held.turn(answer)
        return snapshot.output

    def _answer(self, snapshot: Any) -> Any:
        """Do what a program waits for, and return what has it go on."""
        if isinstance(snapshot, pydantic_monty.NameLookupSnapshot):
            return lambda: snapshot.resume()
        if isinstance(snapshot, pydantic_monty.FutureSnapshot):
            settled: Any = self._settle(snapshot.pending_call_ids)
            return lambda: snapshot.resume(settled)
        given = self._system(snapshot) if snapshot.is_os_function else self._called(snapshot)
        return lambda: snapshot.resume(given)

    def _system(self, snapshot: Any) -> JsonObject:
        name = str(snapshot.function_name)
        if name not in ("system.sleep", "system.async_sleep"):
            return {"exception": PermissionError(_NO_FILES)}
        seconds = float(snapshot.args[0])
        if name == "system.async_sleep":
            self._waiting[snapshot.call_id] = seconds
            return {"future": ...}
        self._sleep(seconds)
        return {"return_value": None}

    def _called(self, snapshot: Any) -> JsonObject:
        """Make a call, or begin one that is awaited later."""
        said = str(snapshot.function_name)
        name = said.removeprefix(AWAITED).removeprefix(CALLED)
        tool = self.checked.tools.get(name)
        if tool is None or name == said:
            return {"exception": NameError(f"name {name!r} is not defined")}
        is_awaited = said.startswith(AWAITED)
        try:
            call = self._call(name, tool, snapshot)
        except errors.InvalidArguments as error:
            refused = ValueError(tool_errors.sentence(error))
            if not is_awaited:
                return {"exception": refused}
            self._waiting[snapshot.call_id] = refused
            return {"future": ...}
        if is_awaited:
            self._waiting[snapshot.call_id] = call
            return {"future": ...}
        return _told(self._made([call])[0])

    def _call(self, name: str, tool: Tool, snapshot: Any) -> InnerCall:
        packed = snapshot.args[0] if snapshot.args else None
        arguments = arguments_of(tool, name, packed)
        self.made += 1
        if self.made > self.max_calls:
            said = "1 call" if self.max_calls == 1 else f"{self.max_calls} calls"
            raise ProgramStopped(
                Failure(
                    code="max_calls",
                    message=f"the program was ended: it may make {said}",
                    details={"calls": self.max_calls},
                )
            )
        before = self._text.count(b"\n", 0, snapshot.position.start)
        line = before + 1 - self.checked.program.first_line
        return InnerCall(
            call_id=f"{self.call_id}/{self.made}",
            number=self.made,
            tool=tool,
            arguments=arguments,
            line=line if line > 0 else None,
            left_s=self._held.watched.until - time.monotonic() if self._held else self.timeout_s,
        )

    def _made(self, calls: Sequence[InnerCall]) -> Sequence[Outcome]:
        assert self._held is not None
        outcomes = self.calls.run(calls)
        if self.cancel is not None and self.cancel.is_set():
            raise errors.Interrupted("the program was cancelled and has been ended")
        if time.monotonic() >= self._held.watched.until:
            raise self._late()
        return outcomes

    def _settle(self, waiting: Sequence[int]) -> dict[int, JsonObject]:
        """Make the calls that a program awaits, all at once; where it awaits none, sleep."""
        found = {number: self._waiting.pop(number) for number in sorted(waiting)}
        made = [(number, one) for number, one in found.items() if isinstance(one, InnerCall)]
        calls = dict(sorted(made, key=lambda pair: pair[1].number))
        settled: dict[int, JsonObject] = {
            number: {"exception": one}
            for number, one in found.items()
            if isinstance(one, BaseException)
        }
        if calls:
            outcomes = self._made([*calls.values()])
            settled |= {
                number: _told(outcome) for number, outcome in zip(calls, outcomes, strict=True)
            }
        sleeping = {number: one for number, one in found.items() if isinstance(one, float)}
        if sleeping and settled:
            self._waiting |= sleeping
        elif sleeping:
            self._sleep(max(sleeping.values()))
            settled = {number: {"return_value": None} for number in sleeping}
        return settled

    def _sleep(self, seconds: float) -> None:
        assert self._held is not None
        left = self._held.watched.until - time.monotonic()
        if self.skips_sleeps or seconds <= 0:
            return
        waits = threading.Event() if self.cancel is None else self.cancel
        if waits.wait(min(seconds, max(left, 0.0))):
            raise errors.Interrupted("the program was cancelled and has been ended")
        if seconds >= left:
            raise self._late()

    def _late(self) -> errors.TimedOut:
        return errors.TimedOut("the program", seconds=self.timeout_s, hint=interpreter.LONGER)

    def _read(self, output: Any) -> JsonValue:
        """Read a result, which comes as JSON that was made where the program ran."""
        text = output if isinstance(output, str) else "null"
        size = len(text.encode("utf-8", "replace"))
        if size + self._printed > defaults.MAX_OUTPUT_BYTES:
            raise errors.OutputTooLarge(
                f"the program's result has {size:,} bytes and what it printed {self._printed:,}: "
                f"both together may have {defaults.MAX_OUTPUT_BYTES:,}",
                kept=text.encode("utf-8", "replace")[: defaults.LARGER_CAP_BYTES],
                hint="return only what you need",
            )
        try:
            return strict_json.parse_json(text)
        except errors.InvalidDocument as error:
            raise errors.InvalidOutput(
                f"the result cannot be represented in JSON: {error}"
            ) from None

    def _failure(self, error: Any) -> errors.VespeError:
        """Return the error of a program that ended with one of its own."""
        said = str(error)
        if isinstance(error, pydantic_monty.MontySyntaxError) or said.startswith(
            "NotImplementedError: The"
        ):
            return source.refused([source.problem(0, said[:_MOST_SAID])])
        first = self.checked.program.first_line
        frames = error.traceback() if hasattr(error, "traceback") else []
        lines = [frame.line - first for frame in frames]
        own = [line for line in lines if 0 < line <= self.checked.program.text.count("\n") + 1]
        if said.startswith("TimeoutError: feed time limit"):
            return self._late()
        said = _plain(said)
        where = f"line {own[-1]}: " if own else ""
        details: JsonObject = {"line": own[-1]} if own else {}
        return errors.ProgramFailed(
            f"{where}{said[:_MOST_SAID]}", details=details | {"calls": self.made}
        )


def _plain(said: str) -> str:
    """Return what a program raised without the names that only its text that runs has."""
    if said.startswith("MemoryError"):
        return f"it needs more memory than the {interpreter.MEMORY_BYTES >> 20} MiB of a program"
    if "cannot suspend in this synchronous context" in said:
        return "a function that map, filter or a sort calls cannot call a tool: use a loop"
    if said.startswith("RuntimeError: suspension"):
        return "it waited too many times"
    if "exceptions can only be called with" in said:
        return "TypeError: an exception takes one string or no argument: use str(…) for a value"
    return said.replace(AWAITED, "").replace(CALLED, "")


def _is_unsayable(error: Any, text: str) -> bool:
    """Whether the result was there, and has values that JSON has not."""
    frames = error.traceback()
    return (
        str(error).startswith("TypeError")
        and bool(frames)
        and frames[-1].line == text.count("\n") + 1
    )


def _told(outcome: Outcome) -> JsonObject:
    """Return what has a program go on with what became of a call: its result, or an error that is
    raised where it was made.
    """
    if outcome.error is None:
        return {"return_value": outcome.result}
    return {"exception": raised(outcome.error)}


def raised(failure: Failure) -> Exception:
    """Return what a program sees raised by a call that failed."""
    said = tool_errors.sentence(failure)
    if failure.code in _DENIED:
        return PermissionError(said)
    known = _classes().get(failure.code, errors.VespeError)
    kind = next((kind for parent, kind in _BY_CLASS if issubclass(known, parent)), RuntimeError)
    return kind(said)


@functools.cache
def _classes() -> dict[str, type[errors.VespeError]]:
    return {
        one.code: one
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, errors.VespeError)
    }
