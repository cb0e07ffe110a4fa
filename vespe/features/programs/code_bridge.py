"""Programs in the place of many tools: a model searches for tools, reads about them, and calls them
as functions of the programs that it writes. What it is told never changes.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Final

from vespe import errors
from vespe.calls.bridge import DESCRIBE, OWN, SEARCH, Bridge
from vespe.calls.outcomes import failed
from vespe.calls.path import CallPath
from vespe.errors import ToolNotFound
from vespe.features.programs import interpreter, source
from vespe.features.programs.checking import CheckedProgram, check_program, loadable
from vespe.features.programs.functions import function_names, shown_stubs
from vespe.features.programs.running import (
    MAX_CALLS,
    PROGRAM_TOOL,
    RUN_CODE,
    TIMEOUT_S,
    Fixed,
    ProgramCalls,
    ProgramRun,
)
from vespe.features.programs.source import MODULES
from vespe.models import JsonObject, Outcome, Tool
from vespe.records import dataclass

_TOLD: Final = (
    "Run a Python program. Tools are functions in it: call them by name, with keyword arguments. "
    "A call gives the tool's result as JSON values, and raises PermissionError, ValueError, "
    "TimeoutError or RuntimeError where it fails. Prefer one program with loops and conditions to "
    "many single calls. The result is the value of the last expression; what you print() comes "
    "with it, so return only what you need. The whole program is checked before anything runs, "
    "and you are told of all errors at once. `await asyncio.gather(f(1), f(2))` makes calls "
    "together. There are no files, no network, no del, no yield, no class inheritance. "
    f"Modules: {', '.join(sorted(MODULES))}."
)
_MORE: Final = f"{SEARCH} finds more tools, which are functions of programs, too."
_SEARCH: Final = (
    "Find tools by what you want to do. Many more tools are here than are listed: search before "
    "you say that something cannot be done. Gives names, descriptions and the functions that "
    f"programs call them by, with {RUN_CODE}."
)


@dataclass(slots=True, kw_only=True)
class ProgramOrder:
    """A program that a model wants to be run: who makes its calls, and its bounds. It is `checked`
    once it has passed its check. `made` are the calls that it made before, where it goes on.
    """

    code: str
    calls: ProgramCalls
    call_id: str
    setting: str
    timeout_s: float = TIMEOUT_S
    max_calls: int = MAX_CALLS
    cancel: threading.Event | None = None
    fixed: Fixed = field(default_factory=Fixed.now)
    skips_sleeps: bool = False
    made: int = 0
    checked: CheckedProgram | None = None


class CodeBridge(Bridge):
    """Searches and describes the tools of one set, and runs programs over them. Those that are
    exposed `always` stand in the description of `run_code`. `home` is the call path on which
    programs are logged, None for none. Raises MissingExtra.
    """

    program = RUN_CODE

    def __init__(
        self,
        tools: Mapping[str, Tool],
        always: frozenset[str] = frozenset(),
        *,
        home: CallPath | None = None,
    ) -> None:
        super().__init__(tools, always)
        interpreter.require()
        self.home = home
        names = function_names(tools)
        self._functions = {tool: function for function, tool in names.items()}
        shown = {function: tools[tool] for function, tool in names.items() if tool in always}
        stubs = f"\n\nTools:\n\n{shown_stubs(shown)}\n{_MORE}" if shown else f"\n\n{_MORE}"
        self.own = {
            SEARCH: replace(OWN[SEARCH], description=_SEARCH),
            DESCRIBE: OWN[DESCRIBE],
            RUN_CODE: replace(PROGRAM_TOOL, description=_TOLD + stubs),
        }
        self.declared = dict(self.own)

    def brief(self, tool: Tool) -> JsonObject:
        """Return what a search tells of a tool: the function that programs call it by."""
        function = self._functions[tool.name]
        return {"name": tool.name, "function": shown_stubs({function: tool})}

    def one(self, name: str) -> Tool:
        """Return the tool that a model knows by a name, or by that of its function; raises
        ToolNotFound.
        """
        try:
            return super().one(name)
        except ToolNotFound:
            found = next(
                (tool for tool, function in self._functions.items() if function == name), ""
            )
            if not found:
                raise
            return self.tools[found]

    def over(self, order: ProgramOrder) -> Iterable[Tool]:
        """Return the tools whose secrets are redacted where a program is logged."""
        return order.checked.tools.values() if order.checked else loadable(self.tools)

    def run(self, order: ProgramOrder) -> Outcome:
        """Check a program over the tools, and run it. Raises what is not the program's fault."""
        try:
            order.checked = check_program(
                order.code, self.tools, setting=order.setting, handles=True
            )
        except errors.InvalidProgram as error:
            return failed(PROGRAM_TOOL, _stranded(error, order.made) if order.made else error)
        return ProgramRun(
            checked=order.checked,
            calls=order.calls,
            setting=order.setting,
            call_id=order.call_id,
            timeout_s=order.timeout_s,
            max_calls=order.max_calls,
            cancel=order.cancel,
            fixed=order.fixed,
            skips_sleeps=order.skips_sleeps,
        ).run()


def _stranded(error: errors.InvalidProgram, made: int) -> errors.ProgramFailed:
    """Return the error of a program that passed its check before, made calls, and does not pass
    now: whoever has it made again must know that it ran.
    """
    calls = "1 call" if made == 1 else f"{made} calls"
    why = str(error).removeprefix(source.NOT_RUN)
    return errors.ProgramFailed(
        f"the program had made {calls}, and cannot go on because its tools have changed: {why}",
        hint="what it has done is not undone: check that before you do the rest",
        details={"calls": made},
    )


def told(outcome: Outcome) -> Outcome:
    """Return the outcome of a program as a model is told of it: with what it printed."""
    if not outcome.logs:
        return outcome
    if outcome.error is None:
        return replace(outcome, result={"result": outcome.result, "printed": outcome.logs})
    printed = outcome.logs[-2000:]
    error = replace(outcome.error, message=f"{outcome.error.message}; it had printed: {printed}")
    return replace(outcome, error=error)
