"""The check of a program before anything of it runs: syntax, names, and types against the
declarations of the tools that it uses; all that is wrong in one answer.
"""

import contextlib
import functools
import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from vespe.errors import ProgramFailed, TimedOut, VespeError
from vespe.features.programs import interpreter, source
from vespe.features.programs.functions import GATE, function_names, stubs
from vespe.features.programs.source import AWAITED, Program, problem
from vespe.lazy import difflib, pydantic_monty
from vespe.models import JsonObject, Tool
from vespe.records import dataclass

_TIMEOUT_S: Final = 20.0
_KEPT: Final = 256
_KEPT_WHOLE: Final = 64
_SAID: Final = re.compile(r"main\.py:(\d+):\d+: error\[([a-z-]+)\] (.*)")
_UNKNOWN: Final = re.compile(r"Name `([^`]+)` used when not defined")
_NO_MEMBER: Final = re.compile(r"Module `([^`]+)` has no member `([^`]+)`")
_NO_ATTRIBUTE: Final = re.compile(r"has no attribute `([^`]+)`$")
_NO_TOOL: Final = re.compile(r"there is no tool or variable called '(\w+)'")
_ONE_OF: Final = re.compile(r"Expected `Literal\[.*\]`, found `(str|int)`$")
_SCRIPT: Final = re.compile(r'File "[^"]*", line (\d+)')
_MOST_PROBLEMS: Final = 50
_TOO_MUCH: Final = "checking it takes too much time or memory: split it"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedProgram:
    """A program whose check is over, with the tools that it uses, by their functions; `names` are
    their names in the set that it was checked over.
    """

    program: Program
    tools: Mapping[str, Tool]
    names: Mapping[str, str]


def loadable(tools: Mapping[str, Tool]) -> Iterator[Tool]:
    """Return the tools that can be loaded: any of them may be meant by a program that has not
    passed its check, and their secrets are redacted where it is logged.
    """
    for name in tools:
        with contextlib.suppress(VespeError, KeyError):
            yield tools[name]


_passed: "OrderedDict[tuple[str, str], None]" = OrderedDict()
_latest: "OrderedDict[tuple[str, bool], tuple[Mapping[str, Tool], CheckedProgram]]" = OrderedDict()
"""What was checked last, by its text and whether there are handles, with its tools."""
_lock: Final = threading.Lock()


def check_program(
    code: str, tools: Mapping[str, Tool], *, setting: str, handles: bool = False
) -> CheckedProgram:
    """Check a program over tools by the names that models know; only those that it uses are
    loaded.

    `setting` is the user's `sandbox`. With `handles`, the handle of a large result may be an
    argument in the place of any value. A mapping always has the same names: another set of tools is
    another mapping. Raises InvalidProgram with all that is wrong, and as `interpreter.session`
    does.
    """
    if (kept := _kept((code, handles), tools)) is not None:
        return kept
    program, names = _read(code, tuple(tools))
    used = {name: tools[names[name]] for name in program.used}
    declared = stubs(used, handles=handles)
    key = program.text, declared
    with _lock:
        known = key in _passed
        if known:
            _passed.move_to_end(key)
    if not known or program.problems:
        found = [*program.problems, *_types(program, declared, names, setting=setting)]
        if found:
            raise source.refused(_ordered(found))
        with _lock:
            _passed[key] = None
            while len(_passed) > _KEPT:
                _passed.popitem(last=False)
    return _keep((code, handles), tools, CheckedProgram(program=program, tools=used, names=names))


def _kept(code: tuple[str, bool], tools: Mapping[str, Tool]) -> CheckedProgram | None:
    """Return what was found before, where the tools that a program uses are what they were then: to
    declare them again takes longer than to run a short program.
    """
    over, checked = _latest.get(code, (None, None))
    if checked is None or over is not tools:
        return None
    same = all(tools[checked.names[name]] == tool for name, tool in checked.tools.items())
    return checked if same else None


def _keep(
    code: tuple[str, bool], tools: Mapping[str, Tool], checked: CheckedProgram
) -> CheckedProgram:
    with _lock:
        _latest[code] = tools, checked
        _latest.move_to_end(code)
        while len(_latest) > _KEPT_WHOLE:
            _latest.popitem(last=False)
    return checked


@functools.lru_cache(64)
def _read(code: str, tools: tuple[str, ...]) -> tuple[Program, Mapping[str, str]]:
    """Read a program, once for the same tools; return their names by their functions, too."""
    names = function_names(tools)
    return source.read_program(code, names), names


def _ordered(found: Collection[JsonObject]) -> list[JsonObject]:
    """Return what is wrong, by lines, each once."""
    unique: list[JsonObject] = []
    for one in sorted(found, key=lambda one: int(one["line"])):
        if one not in unique:
            unique.append(one)
    return unique[:_MOST_PROBLEMS]


def _types(
    program: Program, declared: str, names: Collection[str], *, setting: str
) -> Iterator[JsonObject]:
    interpreter.require()
    text, options = f"{GATE}()\n{program.checked}", _options(declared)
    with interpreter.session(setting, timeout_s=_TIMEOUT_S, **options) as held:
        try:
            snapshot: Any = held.turn(lambda: held.inner.feed_start(text))
            while getattr(snapshot, "function_name", GATE) != GATE:  # it asks for a module's stubs
                snapshot = held.turn(snapshot.resume_not_handled)
        except pydantic_monty.MontyTypingError as error:
            yield from _with_lacking([*_typing(error.display(), program, names)], program)
            return
        except pydantic_monty.MontyError as error:
            yield from _unsupported(error, program)
        except (ProgramFailed, TimedOut):
            yield problem(0, _TOO_MUCH)
    yield from _with_lacking([], program)


def _with_lacking(found: Collection[JsonObject], program: Program) -> Iterator[JsonObject]:
    """What the check of types found, and the names that values have not; of one name in one line
    only one, with the kind of the value where the check knows it.
    """
    by_place = {(one.line, one.name): one for one in program.lacking}
    known: dict[tuple[int, str], str] = {}
    for one in found:
        if (attribute := _NO_ATTRIBUTE.search(str(one["message"]))) is None:
            yield one
        else:
            known[int(one["line"]), attribute[1]] = str(one["message"])
    for (line, name), message in known.items():
        lacking = by_place.pop((line, name), None)
        hint = lacking.hint if lacking is not None else ""
        if '["' in hint and "`dict[" not in message:  # it has no keys
            hint = ""
        yield problem(line, f"{message}: {hint}" if hint else message)
    for lacking in by_place.values():
        yield problem(lacking.line, lacking.said)


def _options(declared: str) -> dict[str, Any]:
    return {
        "type_check": True,
        "type_check_stubs": declared,
        "type_check_format": "concise",
        "limits": {"max_memory": interpreter.MEMORY_BYTES},
    }


def _typing(said: str, program: Program, names: Collection[str]) -> Iterator[JsonObject]:
    for line in said.splitlines():
        if (found := _SAID.match(line)) is None:
            continue
        number, kind = int(found[1]) - 1, found[2]
        message = found[3].replace(AWAITED, "").rstrip("*")
        if _ONE_OF.search(message):  # which of them it is, is known when it runs
            continue
        if lacking := _NO_MEMBER.search(message):
            if (number, lacking[1], lacking[2]) in program.spared:
                continue
            message = source.absent(lacking[1], lacking[2])
        elif kind == "unresolved-import":  # said already
            continue
        if kind == "unresolved-reference" and (unknown := _UNKNOWN.search(message)):
            is_builtin = unknown[1] in source.BUILTINS
            message = source.no_builtin(unknown[1]) if is_builtin else _unknown(unknown[1], names)
        yield problem(number, message)


def unknown_names(error: VespeError) -> Iterator[str]:
    """Return the names that a program has, and that are neither tools nor variables."""
    for one in error.details.get("problems", ()):
        if found := _NO_TOOL.match(str(one["message"])):
            yield found[1]


def _unknown(name: str, names: Collection[str]) -> str:
    close = difflib.get_close_matches(name[:64], names, n=3)
    hint = f": did you mean {' or '.join(close)}?" if close else ""
    return f"there is no tool or variable called {name!r}{hint}"


def _unsupported(error: Any, program: Program) -> Iterator[JsonObject]:
    """What the interpreter itself cannot run; where the text was found wanting already, it may be
    the same.
    """
    if program.problems:
        return
    shown = str(error).replace("The monty syntax parser does", "The interpreter does")
    if shown.startswith("MemoryError"):
        yield problem(0, _TOO_MUCH)
        return
    places = _SCRIPT.findall(shown)
    message = next((line for line in reversed(shown.splitlines()) if line.strip()), shown)
    yield problem(
        int(places[-1]) - 1 if places else 0, message.removeprefix("NotImplementedError: ")
    )
