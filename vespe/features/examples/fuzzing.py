"""Arguments made from a tool's input schema, to find what crashes it, hangs it or breaks its word.
The owner of hypothesis.
"""

import contextlib
import os
import random
import shlex
import time
from collections.abc import Callable
from typing import Any, Final

from vespe.documents import strict_json
from vespe.errors import MissingExtra, StorageError, UsageError
from vespe.files import atomic, locations
from vespe.lazy import hypothesis, hypothesis_jsonschema
from vespe.models import JsonObject, Outcome, Tool
from vespe.records import dataclass, json_of
from vespe.schemas import validator

_BATCH: Final = 40
_ENOUGH: Final = 10
"""Calls from which on "always" says something."""
_BUGS: Final = frozenset(
    (
        "ArithmeticError",
        "AssertionError",
        "AttributeError",
        "BufferError",
        "EOFError",
        "FloatingPointError",
        "ImportError",
        "IndentationError",
        "IndexError",
        "KeyError",
        "MemoryError",
        "ModuleNotFoundError",
        "NameError",
        "NotImplementedError",
        "OverflowError",
        "RecursionError",
        "StopIteration",
        "SyntaxError",
        "SystemError",
        "TypeError",
        "UnboundLocalError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
        "ZeroDivisionError",
    )
)
"""Exceptions that nobody raises to refuse an argument; ValueError, OSError, RuntimeError and a
tool's own are its way to say no.
"""
_TRACEBACK: Final = "Traceback (most recent call last)"


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzFinding:
    """The smallest arguments found that show one kind of failure: `crash`, `hang`, `output`,
    `traceback` or, where no call did anything else than raise the same error, `always`.
    """

    kind: str
    message: str
    arguments: JsonObject
    command: str

    def to_json(self) -> JsonObject:
        """Return the finding as `tool fuzz --json` prints it."""
        return json_of(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuzzed:
    """What a run found, how many calls it made, in how many seconds, and the seed that makes it
    again.
    """

    findings: tuple[FuzzFinding, ...]
    calls: int
    seconds: float
    seed: int


def fuzz(tool: Tool, run: Callable[[JsonObject], Outcome], *, seconds: float, seed: int) -> Fuzzed:
    """Call a tool with generated arguments until the time is up, and make those that show a failure
    as small as they get.

    `run` makes one call. At most one finding of each kind is given. Raises MissingExtra, and
    UsageError where no argument can be made from the schema.
    """
    work = _Fuzz(tool, run, seconds)
    rounds = random.Random(seed)
    while work.has_time and len(work.findings) < len(_KINDS):
        work.round(random.Random(rounds.getrandbits(64)))
    work.find_what_always_fails()
    spent = time.monotonic() - work.began
    return Fuzzed(
        findings=tuple(work.findings.values()), calls=work.calls, seconds=spent, seed=seed
    )


def _keep_storage_out_of_the_project() -> None:
    """Let Hypothesis keep what it computes in the user's cache; without one it stays where
    Hypothesis puts it, `.hypothesis`. Where Hypothesis is missing, who uses it says so.
    """
    place = os.path.join(locations.user_cache_dir(), "hypothesis")
    with contextlib.suppress(StorageError, ImportError):
        atomic.private_directory(place)
        hypothesis.configuration.set_hypothesis_home_dir(place)


class _Over(BaseException):
    """The time is up: no further argument is made. Hypothesis lets pass what is no Exception."""


class _Fuzz:
    def __init__(self, tool: Tool, run: Callable[[JsonObject], Outcome], seconds: float) -> None:
        _keep_storage_out_of_the_project()  # first: making a strategy stores tables of characters
        self.tool, self._run = tool, run
        self.calls = 0
        self.findings: dict[str, FuzzFinding] = {}
        self._said: set[str] = set()
        self._least: JsonObject | None = None
        self._judge = validator.compile_schema(tool.input_schema, closed=True)
        self._strategy = _strategy(validator.closed_schema(tool.input_schema))
        self._settings = hypothesis.settings(
            max_examples=_BATCH,
            database=None,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        self.began = time.monotonic()  # what it takes to load the libraries is not the tool's time
        self._deadline = self.began + seconds

    @property
    def has_time(self) -> bool:
        return time.monotonic() < self._deadline

    def round(self, source: random.Random) -> None:
        """Make one batch of arguments; the first failure of a new kind is made smaller."""
        search = _Search(self)
        try:
            smallest = hypothesis.find(
                self._strategy, search.fails, settings=self._settings, random=source
            )
        except hypothesis.errors.NoSuchExample:
            return
        except hypothesis.errors.Unsatisfiable:
            raise _unmade(self.tool.name, "no value seems to satisfy it") from None
        except (hypothesis.errors.Flaky, _Over):  # what was seen is a finding still
            if not search.kind:
                return
            smallest = search.smallest
        self._keep(search.kind, search.message, smallest)

    def find_what_always_fails(self) -> None:
        """Keep a finding where every call raised, with one and the same text whatever the arguments
        were: that is no answer to an argument.
        """
        if self.findings or self._least is None or self.calls < _ENOUGH or len(self._said) != 1:
            return
        (said,) = self._said
        if not said:
            return
        message = (
            f"each of {self.calls} calls failed with the same error, whatever the arguments: {said}"
        )
        self._keep("always", message, self._least)

    def _keep(self, kind: str, message: str, arguments: JsonObject) -> None:
        command = (
            f"vespe tool run {shlex.quote(self.tool.name)} --args "
            f"{shlex.quote(strict_json.compact_json(arguments))}"
        )
        self.findings[kind] = FuzzFinding(
            kind=kind, message=message, arguments=arguments, command=command
        )

    def judge(self, arguments: Any) -> tuple[str, str] | None:
        """Make one call, and return what failed; raises _Over where there is no time left for
        it.
        """
        if not self.has_time:
            raise _Over
        if not self._judge.is_valid(arguments):
            return None
        return failure(self._call(arguments))

    def _call(self, arguments: JsonObject) -> Outcome:
        self.calls += 1
        outcome = self._run(arguments)
        error = outcome.error
        # Two texts are as many as all: "" stands for a call that did not raise.
        if len(self._said) < 2:
            raised = error is not None and "exception" in error.details
            self._said.add(error.message if error is not None and raised else "")
            if self._least is None or len(strict_json.compact_json(arguments)) < len(
                strict_json.compact_json(self._least)
            ):
                self._least = arguments
        return outcome


class _Search:
    """The way to the smallest arguments of one failure; what is known is not asked again."""

    def __init__(self, work: _Fuzz) -> None:
        self._work = work
        self._known: dict[str, bool] = {}
        self.kind = self.message = ""
        self.smallest: JsonObject = {}

    def fails(self, arguments: Any) -> bool:
        """Whether a call with these arguments shows the failure; the first that is seen says
        which.
        """
        key = strict_json.compact_json(arguments)
        if key not in self._known:
            self._known[key] = self._shows(arguments)
        return self._known[key]

    def _shows(self, arguments: Any) -> bool:
        found = self._work.judge(arguments)
        if (
            found is None
            or found[0] in self._work.findings
            or (self.kind and found[0] != self.kind)
        ):
            return False
        if not self.kind or len(strict_json.compact_json(arguments)) <= len(
            strict_json.compact_json(self.smallest)
        ):
            (self.kind, self.message), self.smallest = found, arguments
        return True


def failure(outcome: Outcome) -> tuple[str, str] | None:
    """Say what an outcome tells of a bug, as (kind, sentence); None where the tool did its work or
    said no in its own way.
    """
    error = outcome.error
    if error is None:
        text = (
            outcome.result
            if isinstance(outcome.result, str)
            else strict_json.compact_json(outcome.result)
        )
        return ("traceback", "the result holds a Python traceback") if _TRACEBACK in text else None
    if error.code in _KINDS_BY_CODE:
        return _KINDS_BY_CODE[error.code], error.message
    details = error.details
    if error.code == "tool_error" and (
        "signal" in details or details.get("exception") in _BUGS or _is_silent(details)
    ):
        return "crash", error.message
    if _TRACEBACK in error.message or _TRACEBACK in str(details.get("stderr", "")):
        return "traceback", f"its error output is a Python traceback: {error.message}"
    return None


def _is_silent(details: JsonObject) -> bool:
    """A Python tool whose process ended without an answer: an executor tells its exit status and no
    exception.
    """
    return "exit_status" in details and "logs" in details and "exception" not in details


_KINDS_BY_CODE: Final = {
    "timed_out": "hang",
    "invalid_output": "output",
    "output_too_large": "output",
}
_KINDS: Final = ("crash", "hang", "output", "traceback")


def _strategy(schema: Any) -> Any:
    plain = {
        keyword: value for keyword, value in schema.items() if keyword not in ("$schema", "$id")
    }
    try:
        return hypothesis_jsonschema.from_schema(plain)
    except ImportError as error:
        raise MissingExtra(
            "making arguments", extra="fuzz", module=error.name or "hypothesis_jsonschema"
        ) from None
    except (ValueError, TypeError, hypothesis.errors.InvalidArgument) as error:
        raise _unmade("this tool", str(error).partition("\n")[0]) from None


def _unmade(name: str, why: str) -> UsageError:
    return UsageError(f"no arguments can be generated from the input schema of {name}: {why}")
