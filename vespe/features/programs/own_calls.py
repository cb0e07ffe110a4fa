"""Programs that a person or another program has run: their calls are the caller's own, which nobody
else is asked about. `Project.run_code`, `vespe program run`.
"""

import contextlib
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from vespe import errors
from vespe.calls import tracing
from vespe.calls.in_process import in_thread
from vespe.calls.outcomes import failed, refused
from vespe.calls.path import CallPath
from vespe.calls.threads import in_this_context
from vespe.defaults import MAX_TIMEOUT_S
from vespe.features.programs.checking import (
    CheckedProgram,
    check_program,
    loadable,
    unknown_names,
)
from vespe.features.programs.running import (
    MAX_CALLS,
    PROGRAM_TOOL,
    TIMEOUT_S,
    InnerCall,
    ProgramRun,
)
from vespe.lazy import asyncio, concurrent_futures
from vespe.models import Call, Entry, Outcome, Tool
from vespe.projects.workspace import Workspace
from vespe.records import dataclass

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from vespe.projects.open_project import OpenProject

_MOST_AT_ONCE: Final = 8


class ProjectTools(Mapping[str, Tool]):
    """A project's tools by the names that models know; one is loaded when it is asked for."""

    def __init__(self, path: CallPath) -> None:
        self._workspace = path.workspace
        self._live = None if path.live is None else weakref.ref(path.live)
        entries = path.workspace.available()
        own = path.registry.own_tools(beside={entry.name for entry in entries})
        others = (entry for entry in entries if entry.name not in own)
        self._view = path.workspace.view
        every: list[Entry | Tool] = [*own.values(), *others]
        self._items = self._view.named_items(every).items

    def __getitem__(self, name: str) -> Tool:
        item = self._items[name]
        if isinstance(item, Tool):
            return self._view.of(item)
        live = None if self._live is None else self._live()
        if live is None:
            return self._view.of(self._workspace.load(item))
        return self._view.of(live.tool(f"{item.scope}/{item.uid}"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """The tools of a project, and what they were listed by."""

    version: int
    own: Mapping[str, Tool]
    workspace: Workspace
    tools: ProjectTools


_listed: "weakref.WeakKeyDictionary[OpenProject, _Listed]" = weakref.WeakKeyDictionary()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCalls:
    """Makes a program's calls on a call path; async functions in the `loop` of who has it run."""

    path: CallPath
    cancel: threading.Event | None = None
    loop: "AbstractEventLoop | None" = None

    def run(self, calls: Sequence[InnerCall]) -> Sequence[Outcome]:
        """Make calls: neighbours that only read at the same time, any other alone, in order."""
        if len(calls) == 1:
            return [self._one(calls[0], self.cancel)]
        found: list[Outcome] = []
        for reads, group in itertools.groupby(calls, lambda call: call.reads):
            waiting = list(group)
            if reads and len(waiting) > 1:
                ending = self.cancel or threading.Event()
                works = [partial(self._one, call, ending) for call in waiting]
                found += at_the_same_time(works, ending)
            else:
                found += [self._one(call, self.cancel) for call in waiting]
        return found

    def _one(self, call: InnerCall, cancel: threading.Event | None) -> Outcome:
        try:
            if self.loop is not None and call.tool.name in self.path.registry:
                made = self.path.arun_tool(call.tool, call.as_call())
                waited = asyncio.run_coroutine_threadsafe(made, self.loop)
                return _result(waited, cancel)
            return self.path.run_tool(call.tool, call.as_call(), cancel=cancel)
        except errors.VespeError as error:
            return refused(call.tool, error)


def _result(
    waited: "concurrent_futures.Future[Outcome]", cancel: threading.Event | None = None
) -> Outcome:
    """Wait for a future a moment at a time, so that signals and `cancel` are heard."""
    while True:
        try:
            return waited.result(0.05)
        except TimeoutError:
            if cancel is not None and cancel.is_set():
                waited.cancel()
                raise errors.Interrupted("the program was cancelled and has been ended") from None


def at_the_same_time(
    works: Sequence[Callable[[], Outcome]], ending: threading.Event
) -> list[Outcome]:
    """Do works at the same time, and return what each returned, in order. Where one raises, or this
    thread is interrupted, `ending` is set; what is raised is raised once all have ended.
    """
    most = min(_MOST_AT_ONCE, len(works))
    with concurrent_futures.ThreadPoolExecutor(most, "vespe-program-call") as threads:
        waiting = [threads.submit(in_this_context(work)) for work in works]
        found: list[Outcome] = []
        try:
            found += [_result(one) for one in waiting]
        finally:
            if len(found) < len(works):
                ending.set()
                for one in waiting:
                    one.cancel()
        return found


def project_tools(path: CallPath, *, exact: bool = False) -> ProjectTools:
    """Return a project's tools. In a process that lives they are listed again only where one of
    them came, left or changed: for a short program, listing them takes longer than running it.
    `exact` is as in `WatchedTools.refresh`.
    """
    live = path.live
    if live is None:
        return ProjectTools(path)
    firm = live.tools.refresh(exact=exact)
    version, own = live.tools.version, path.registry.own_tools()
    kept = _listed.get(live)
    if (
        firm
        and kept is not None
        and kept.workspace is path.workspace
        and (kept.version, kept.own) == (version, own)
    ):
        return kept.tools
    made = ProjectTools(path)
    if firm:
        _listed[live] = _Listed(version=version, own=own, workspace=path.workspace, tools=made)
    return made


def check_code(path: CallPath, code: str) -> CheckedProgram:
    """Check a program over a project's tools; raises as `check_program` does."""
    setting, tools = path.user.sandbox, project_tools(path)
    try:
        return check_program(code, tools, setting=setting)
    except (errors.InvalidProgram, errors.NotFound) as error:
        if (now := project_tools(path, exact=True)) is tools:
            _raise_broken(path, error)
            raise
    try:
        return check_program(code, now, setting=setting)  # a tool has come or left just now
    except errors.InvalidProgram as error:
        _raise_broken(path, error)
        raise


def _raise_broken(path: CallPath, error: errors.VespeError) -> None:
    """Raise InvalidTool where a name that a program does not know is a broken tool's, which is in
    no list of tools.
    """
    for name in unknown_names(error):
        with contextlib.suppress(errors.NotFound, errors.AmbiguousTool):
            path.workspace.tool(name)


def run_code(
    path: CallPath,
    code: str,
    *,
    timeout_s: float = TIMEOUT_S,
    max_calls: int = MAX_CALLS,
    cancel: threading.Event | None = None,
    loop: "AbstractEventLoop | None" = None,
) -> Outcome:
    """Check a program, and run it with the caller's rights. Raises NotTrusted, MissingExtra,
    UsageError; what is wrong with the program is the Outcome's error.
    """
    _require(code, timeout_s, max_calls)
    path.check_trust()
    call = Call(tool=PROGRAM_TOOL.name, arguments={"code": code}, call_id=new_id())
    calls = OwnCalls(path=path, cancel=cancel, loop=loop)
    checked: CheckedProgram | None = None

    def run() -> Outcome:
        nonlocal checked
        try:
            checked = check_code(path, code)
        except errors.InvalidProgram as error:
            return failed(PROGRAM_TOOL, error)
        return ProgramRun(
            checked=checked,
            calls=calls,
            setting=path.user.sandbox,
            call_id=str(call.call_id),
            timeout_s=timeout_s,
            max_calls=max_calls,
            cancel=cancel,
        ).run()

    def over() -> Iterable[Tool]:
        return checked.tools.values() if checked else loadable(project_tools(path))

    return told(path, call, run, over=over)


def told(
    path: CallPath, call: Call, run: Callable[[], Outcome], *, over: Callable[[], Iterable[Tool]]
) -> Outcome:
    """Run a program under a span of its own, and log it behind its calls. Once it has ended, `over`
    returns the tools whose secrets are redacted; it is only called where there may be some.
    """
    telemetry, started = tracing.telemetry(), time.perf_counter()
    try:
        if telemetry is None:
            outcome = run()
        else:
            with telemetry.execute_tool(PROGRAM_TOOL, call) as span:
                outcome = run()
                span.called(outcome, lambda: path.without_secrets(call.arguments, over()))
    except (KeyboardInterrupt, errors.VespeError) as error:
        ended = error if isinstance(error, errors.VespeError) else errors.Interrupted("interrupted")
        outcome = failed(PROGRAM_TOOL, ended, started=started)
        path.log_program(PROGRAM_TOOL, call, outcome, over=over)
        raise
    return path.log_program(PROGRAM_TOOL, call, outcome, over=over)


async def arun_code(
    path: CallPath, code: str, *, timeout_s: float = TIMEOUT_S, max_calls: int = MAX_CALLS
) -> Outcome:
    """Do as `run_code` from an event loop, in which async functions run; cancelling the task ends
    the program.
    """
    ending, loop = threading.Event(), asyncio.get_running_loop()
    work = partial(
        run_code,
        path,
        code,
        timeout_s=timeout_s,
        max_calls=max_calls,
        cancel=ending,
        loop=loop,
    )
    outcome: Outcome = await in_thread(work, leave=ending.set)
    return outcome


def new_id() -> str:
    """Return the id of a program that nobody has given one."""
    return f"program-{os.urandom(4).hex()}"


def _require(code: object, timeout_s: float, max_calls: int) -> None:
    if not isinstance(code, str):
        raise errors.UsageError(f"code is a program as a string, not of type {type(code).__name__}")
    if not 0 < timeout_s <= MAX_TIMEOUT_S:
        raise errors.UsageError(
            f"timeout_s must be a number of seconds above 0 and at most {MAX_TIMEOUT_S}, not "
            f"{timeout_s}"
        )
    if max_calls < 0:
        raise errors.UsageError(f"max_calls must be a number of calls, not {max_calls}")
