"""The use case: resolve, trust, check the input, run, check the output. One path for the CLI,
agents, servers and batches.
"""

import os
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from vespe import defaults, errors
from vespe.calls import asking, in_process, tracing
from vespe.calls import log as call_log
from vespe.calls import secrets as call_secrets
from vespe.calls.arguments import checked_inputs, itself, parsed_arguments
from vespe.calls.in_process import Bounds
from vespe.calls.outcomes import as_told, failed, finished, refused
from vespe.calls.registry import ToolRegistry
from vespe.defaults import MAX_TIMEOUT_S
from vespe.kits import pinned
from vespe.lazy import asyncio
from vespe.models import Call, Execution, JsonObject, JsonValue, Outcome, Tool
from vespe.processes import process
from vespe.projects import user_config
from vespe.projects.workspace import Workspace
from vespe.records import dataclass, json_of
from vespe.tool_types import Context, Sessions, type_of
from vespe.tools import directory as tool_directory
from vespe.tools.secret_items import items_of
from vespe.trust import gate

if TYPE_CHECKING:
    from vespe.processes.sandbox.held import Policy
    from vespe.processes.workers import Workers
    from vespe.projects.open_project import OpenProject

__all__ = [
    "CallPath",
    "as_told",
    "checked_inputs",
    "itself",
    "open_path",
    "parsed_arguments",
    "refused",
]

RAISED: Final = (errors.UsageError, errors.NotFound, errors.InvalidDocument, errors.NotTrusted)
"""There was no call to make: these are raised. Every other failure is an Outcome's error."""
_UNSTATED: Final = Bounds(defaults.TIMEOUT_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPath:
    """Runs calls in one project: every call goes through here, whoever makes it.

    `registry` holds in-process implementations; `trusted` is the user's `--trust`; `keep_arguments`
    writes the arguments into the log and not only their digest; `environment` stands for
    `os.environ`; tools start in `directory`, the project's root by default; `progress` is told what
    takes long. In a process that lives `live` is the project kept open, where tools, trust and the
    user's configuration are asked, and `log` is kept open too (`open_path` makes such a path);
    `sessions` keeps those with MCP servers and `workers` the interpreters of tools, and whoever
    made them closes them. `permissions` stand for those that tools state, where it is observed what
    they need. `asker` answers what tools ask while they run; without one it is who is asked where
    the call is made (`asking.answered_by`). One CallPath serves many calls, from several threads
    and event loops; `dataclasses.replace` makes another one with other fields.
    """

    workspace: Workspace
    registry: ToolRegistry
    trusted: bool = False
    keep_arguments: bool = False
    environment: Mapping[str, str] | None = None
    directory: str | None = None
    progress: Callable[[str], None] | None = None
    live: "OpenProject | None" = None
    log: call_log.CallLog | None = None
    sessions: "Sessions | None" = None
    workers: "Workers | None" = None
    permissions: JsonObject | None = None
    asker: asking.Asker | None = None
    _kept: JsonObject = field(default_factory=dict, init=False, repr=False, compare=False)
    _pinned: dict[str | None, bool] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def now(self) -> "CallPath":
        """Return this path with the project as it is now; only one with `live` sees that it
        changed.
        """
        if self.live is None or (workspace := self.live.workspace) is self.workspace:
            return self
        return replace(self, workspace=workspace)

    def close(self) -> None:
        """Close what is kept open between calls, the log's file; the next call opens it again."""
        if self.log is not None:
            self.log.close()

    @property
    def user(self) -> user_config.UserConfig:
        """The user's own configuration, as this project tightens it."""
        if self.live is not None:
            return self.live.user
        if "user" not in self._kept:
            self._kept["user"] = user_config.narrow(
                user_config.load_user_config(), self.workspace.config.document
            )
        return cast(user_config.UserConfig, self._kept["user"])

    def check_trust(self) -> None:
        """Raise NotTrusted where the project as a whole may not run anything: what is sent
        elsewhere asks this first.
        """
        self._granted(None)

    def check_tool(self, tool: Tool) -> None:
        """Raise NotTrusted where this tool may not run: what prepares a call asks this first."""
        self._grant(tool)

    @contextmanager
    def approved(self, tool: Tool) -> Iterator[Tool]:
        """Return a tool in a directory with the bytes that may run, for what is sent elsewhere.
        Raises as `run` does, and as a call.
        """
        with self._approved(tool, self._granted(None)) as (found, directory):
            yield replace(found, directory=tool.directory and directory)

    def run(self, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call to its Outcome.

        Raises NotFound (no such tool, or two), InvalidDocument (the tool or a configuration is
        broken) and NotTrusted, where there is no call to make; KeyboardInterrupt passes through
        once whatever ran has been ended.
        """
        return self.run_tool(self.tool(call.tool), call, cancel=cancel)

    async def acall(self, call: Call) -> Outcome:
        """Run one call as `run` does, from an event loop; see `arun_tool`."""
        return await self.arun_tool(self.tool(call.tool), call)

    def tool(self, name: str) -> Tool:
        """Resolve and load a tool; raises as `run` does. A project that is not trusted says so
        before it says what is broken.
        """
        try:
            return self.workspace.tool(name) if self.live is None else self.live.tool(name)
        except errors.InvalidTool as error:
            self._granted(error.path)
            raise

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call of a tool that is resolved already; raises as `run` does.

        Where `cancel` is set the call ends at once: `interrupted`. A Python function of this
        process cannot be ended: it runs on in a thread of its own, its result is dropped, and the
        error says so; an async one is cancelled.
        """
        if tool.behind is not None:
            return cast(
                Outcome,
                self._through(
                    tool, call, lambda whole: self.run_tool(tool.itself, whole, cancel=cancel)
                ),
            )
        steps = self._run_logged if tracing.telemetry() is None else self._run_traced
        try:
            # driven by hand, since it never waits: so sync and async calls are one implementation
            steps(tool, call, cancel).send(None)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # the coroutine's
        raise RuntimeError("a synchronous call tried to wait for an event loop")

    def _through(self, tool: Tool, call: Call, run: Callable[[Call], Any]) -> Any:
        """Run a call of a tool as models see it: what its project gives is filled in, and the tool
        itself runs under its own name.
        """
        try:
            _, inputs = itself(tool, call.arguments)
        except (errors.InvalidArguments, errors.ParsingError) as error:
            outcome = self._log(tool.itself, call, failed(tool.itself, error), ())
            tracing.tell_refused(tool.name, outcome, tool=tool.itself, call_id=call.call_id or "")
            return outcome
        return run(replace(call, arguments=inputs))

    async def arun_tool(self, tool: Tool, call: Call) -> Outcome:
        """Run one call of a tool that is resolved already, from an event loop that goes on
        meanwhile; raises as `run` does.

        Async in-process tools run in the caller's loop, everything else in a thread. Cancelling the
        caller's task ends the call.
        """
        if tool.behind is not None:
            made = self._through(tool, call, lambda whole: self.arun_tool(tool.itself, whole))
            return made if isinstance(made, Outcome) else cast(Outcome, await made)
        if tool.name in self.registry:
            return await self._run_traced(tool, call, None, in_loop=True)
        ending = threading.Event()
        return cast(
            Outcome,
            await in_process.in_thread(
                partial(self.run_tool, tool, call, cancel=ending), leave=ending.set
            ),
        )

    async def _run_traced(
        self, tool: Tool, call: Call, cancel: threading.Event | None, *, in_loop: bool = False
    ) -> Outcome:
        if (telemetry := tracing.telemetry()) is None:
            return await self._run_logged(tool, call, cancel, in_loop=in_loop)
        with telemetry.execute_tool(tool, call) as span:
            outcome = await self._run_logged(tool, call, cancel, in_loop=in_loop)
            span.called(
                outcome,
                lambda: call_log.shown_arguments(call.arguments, self._known_values(tool)),
            )
        return outcome

    async def _run_logged(
        self, tool: Tool, call: Call, cancel: threading.Event | None, *, in_loop: bool = False
    ) -> Outcome:
        """Run one call; it waits for nothing but an async tool of this process, and for that only
        where it runs `in_loop`.
        """
        grant = self._grant(tool)
        values = self._known_values(tool) if tool.secrets else []
        started = time.perf_counter()
        attempt = _Attempt(grant, values, cancel, started, in_loop, [])
        try:
            if in_loop and tool.secrets:
                await self._fetch_elsewhere(tool)
            if grant.files is None and not self._is_installed(tool.directory):
                made = self._run_in(tool.directory or self.workspace.root, tool, call, attempt)
                outcome = await made if in_loop and isinstance(made, Awaitable) else made
            else:
                with self._approved(tool, grant) as (approved, directory):
                    made = self._run_in(directory, approved, call, attempt)
                    outcome = await made if in_loop and isinstance(made, Awaitable) else made
        except errors.VespeError as error:
            outcome = failed(tool, error, secrets=tuple(values), started=started)
            if isinstance(error, RAISED):
                self._log(tool, call, outcome, values)
                raise
        except asking.CallSuspended:
            waits = errors.NeedsInput("the call waits for the user and will be made again")
            self._log(tool, call, failed(tool, waits, started=started), values)
            raise
        except (KeyboardInterrupt, asyncio.CancelledError):
            ended = failed(tool, errors.Interrupted("interrupted"), started=started)
            self._log(tool, call, attempt.said(tool, ended) if attempt.held else ended, values)
            raise
        return self._log(
            tool, call, attempt.said(tool, outcome) if attempt.held else outcome, values
        )

    def context(self, tool: Tool) -> Context:
        """Return what an executor gets for a tool that is to be made ready, and not to be
        called.
        """
        call = Call(tool=tool.name)
        return self._context(tool, call, tool.directory or "", {}, user=self.user)

    def plan(self, tool: Tool, call: Call) -> JsonObject:
        """Say what the call would run, without running it; raises InvalidArguments where the
        arguments do not fit.
        """
        inputs = checked_inputs(tool, call.arguments)
        shown = json_of(tool, "name", "uid", "scope", name="tool") | {"inputs": inputs}
        if tool.implementation is None or tool.name in self.registry:
            return shown | {"type": "in_process"}
        context = self._context(tool, call, tool.directory or "", {}, user=self.user)
        return (
            shown
            | {"type": tool.implementation.type}
            | type_of(tool.implementation.type).executor().plan(tool, inputs, context)
        )

    def require_trust(self, tool: Tool) -> None:
        """Raise NotTrusted where a tool may not run, as a call of it does, and Refused."""
        self._grant(tool)

    def _grant(self, tool: Tool) -> gate.Grant:
        own = tool.directory if tool.scope == defaults.PROJECT_TOOLS else None
        return self._granted(own) if self.live is None else self.live.grant(own)

    def _granted(self, tool_directory: str | None) -> gate.Grant:
        if self.live is not None:
            return self.live.grant(tool_directory)
        return gate.check(
            self.workspace.config, tool_directory, environ=self._environ(), trusted=self.trusted
        )

    def _project_directory(self, tool: Tool) -> str | None:
        return tool.directory if tool.scope == defaults.PROJECT_TOOLS else None

    def _environ(self) -> Mapping[str, str]:
        return os.environ if self.environment is None else self.environment

    def _is_installed(self, directory: str | None) -> bool:
        """Whether only approved bytes may run from there: a question of the path alone, asked once
        for each.
        """
        if (known := self._pinned.get(directory)) is None:
            known = self._pinned[directory] = pinned.is_installed(directory)
        return known

    def _run_in(self, directory: str, tool: Tool, call: Call, attempt: "_Attempt") -> Any:
        """Return the Outcome, or where it runs in a loop and here, what is awaited for it."""
        inputs = checked_inputs(tool, call.arguments)
        secrets = self._secrets(tool, attempt) if tool.secrets else {}
        here = self.registry.find(tool.name)
        asker = asking.asker_here(self.asker)
        questions = asker and asking.CallQuestions(
            tool.name, asker, cancel=attempt.cancel, secrets=attempt.secrets
        )
        if here is None:
            user = self.user
            context = self._context(tool, call, directory, secrets, user=user, attempt=attempt)
            if questions is None:
                execution = self._execute(tool, inputs, context, attempt, setting=user.sandbox)
            else:
                with asking.asking(questions):
                    context = replace(context, questions=questions)
                    execution = self._execute(tool, inputs, context, attempt, setting=user.sandbox)
            return finished(
                tool,
                execution.result,
                secrets=tuple(attempt.secrets),
                started=attempt.started,
                beside=execution,
            )
        if call.timeout_s is None and tool.timeout_s is None and attempt.cancel is None:
            bounds = _UNSTATED
        else:
            bounds = Bounds(
                _deadline(call, tool), bool(call.timeout_s or tool.timeout_s), attempt.cancel
            )
        if questions is not None:
            bounds = bounds._replace(pause=questions.pause)
            if attempt.in_loop:
                return _asking(tool, in_process.arun(here, inputs, bounds), attempt, questions)
            with asking.asking(questions):
                result = in_process.run(here, inputs, bounds)
        elif attempt.in_loop:
            return _awaited(tool, in_process.arun(here, inputs, bounds), attempt)
        else:
            result = in_process.run(here, inputs, bounds)
        return finished(tool, result, secrets=tuple(attempt.secrets), started=attempt.started)

    def _execute(
        self,
        tool: Tool,
        inputs: JsonObject,
        context: Context,
        attempt: "_Attempt",
        *,
        setting: str,
    ) -> Execution:
        """Run what is no function of this process, held to what it states at the user's
        `setting`.
        """
        from vespe.calls import sandboxing

        if self.permissions is not None:
            tool, setting = replace(tool, permissions=self.permissions), "auto"
        with sandboxing.confine(tool, context, setting=setting) as held:
            attempt.held.append(held.sandbox)
            try:
                return sandboxing.notes(self.registry.execute(tool, inputs, held), held.sandbox)
            except errors.ToolExecutionError as error:
                raise sandboxing.explained(error, tool, held.sandbox) from None

    @contextmanager
    def _approved(self, tool: Tool, grant: gate.Grant) -> Iterator[tuple[Tool, str]]:
        """Return the tool and the directory to run it in; both from the approved bytes where the
        grant is bound to them.
        """
        if tool.directory is None:
            yield tool, self.workspace.root
            return
        own = self._project_directory(tool) is not None
        with (
            gate.locate(tool.directory, grant)
            if own
            else pinned.locate(tool.directory) as directory
        ):
            if directory == tool.directory:
                yield tool, directory
                return
            approved = tool_directory.load(directory, scope=tool.scope, kit_id=tool.kit_id)
            if approved.document != tool.document:
                raise errors.NotTrusted(
                    tool.directory,
                    changes=(f"{defaults.CONFIG_FILE} changed after the call was approved",),
                )
            yield approved, directory

    def _secrets(self, tool: Tool, attempt: "_Attempt") -> dict[str, str]:
        own = self._project_directory(tool) is not None
        for name in tool.secrets:
            if own and not attempt.grant.allows_secret(name):
                raise errors.Refused(
                    f"the secret {name} was not shown when {tool.name!r} was approved",
                    hint="run `vespe trust` again",
                )
        values, found = self._values, dict[str, str]()
        for name in tool.secrets:
            names = _names_of(tool, name)
            found[name] = value = values.find(names, cancel=attempt.cancel)
            if not value:
                raise _missing(tool, name, names)
            attempt.secrets.append(value)
        return found

    def _renew(
        self, tool: Tool, attempt: "_Attempt", given: Mapping[str, str]
    ) -> Mapping[str, str] | None:
        """Return a tool's secrets once more where a server refused those; None where they are the
        same.
        """
        values, found = self._values, dict(given)
        for name in tool.secrets:
            found[name] = values.renew(_names_of(tool, name), refused=given[name])
        attempt.secrets.extend(found.values())
        return None if found == given else found

    def _authorize(self, kit_id: str, attempt: "_Attempt", url: str, refused: str) -> str:
        """Return the access token for the MCP server of a kit, which is struck out from now on."""
        token = call_secrets.access_token(self._values, kit_id, url, refused=refused)
        if token:
            attempt.secrets.append(token)
        return token

    async def _fetch_elsewhere(self, tool: Tool) -> None:
        """Fetch what a tool's secrets refer to in a thread, so that the caller's loop goes on."""
        values, ending = self._values, threading.Event()
        for names in (_names_of(tool, name) for name in tool.secrets):
            if values.is_reference(names):
                find = partial(values.find, names, cancel=ending)
                await in_process.in_thread(find, leave=ending.set)

    def _known_values(self, tool: Tool) -> list[str]:
        """Return the values of a tool's secrets that are known: nothing is fetched for this."""
        values = self._values
        return [value for name in tool.secrets for value in values.known(_names_of(tool, name))]

    @property
    def _values(self) -> call_secrets.SecretValues:
        return call_secrets.SecretValues(environment=self._environ(), configured=self.user.secrets)

    def _context(
        self,
        tool: Tool,
        call: Call,
        directory: str,
        secrets: Mapping[str, str],
        *,
        user: user_config.UserConfig,
        attempt: "_Attempt | None" = None,
    ) -> Context:
        runs = tool.implementation
        kind = None if runs is None else type_of(runs.type)
        # none starts a process that is given variables
        bare = runs is not None and kind is not None and not kind.starts_process(runs.args)
        # A session with an MCP server outlives a call, and is told of the trace of each call in
        # `_meta`.
        traced = {} if bare or (kind and kind.keeps_session) else tracing.environment()
        given = {**secrets, **user.files.environment(), **traced}
        return Context(
            project_root=self.directory or self.workspace.root,
            directory=directory,
            environment={}
            if bare
            else process.child_environment(self._environ(), given)
            if given
            else self._without_secrets,
            secrets=secrets,
            secret_files=() if bare else call_secrets.secret_files(user),
            timeout_s=_deadline(call, tool),
            allow_hosts=user.allow_hosts,
            cancel=attempt and attempt.cancel,
            renew=partial(self._renew, tool, attempt) if secrets and attempt else None,
            authorize=partial(self._authorize, tool.scope, attempt)
            if attempt and kind and kind.keeps_session and _kit_of(tool)
            else None,
            progress=self.progress,
            sessions=self.sessions,
            workers=self.workers,
            home=self.workspace.root,
        )

    @property
    def _without_secrets(self) -> Mapping[str, str]:
        """The environment of a tool that declares no secret; made once where the environment is the
        caller's own copy.
        """
        if self.environment is None:
            return process.child_environment(os.environ, {})
        if "allowed" not in self._kept:
            self._kept["allowed"] = process.child_environment(self.environment, {})
        return cast(Mapping[str, str], self._kept["allowed"])

    def without_secrets(self, value: JsonValue, tools: Iterable[Tool]) -> JsonValue:
        """Return a value with `***` in place of each secret of these tools, as far as they are
        known.
        """
        return call_secrets.redact(value, self._secrets_of(tools))

    def _secrets_of(self, tools: Iterable[Tool]) -> list[str]:
        return [one for tool in tools if tool.secrets for one in self._known_values(tool)]

    def log_program(
        self, tool: Tool, call: Call, outcome: Outcome, *, over: Callable[[], Iterable[Tool]]
    ) -> Outcome:
        """Log a program, whose calls have its `call_id` for their `parent`; return its outcome with
        a note where that could not be done.

        The secrets of the tools that `over` returns are redacted. It is only asked where the log
        keeps the program, or what is said of its end holds a value that may be a secret: these may
        be all tools of the project, and loading them takes longer than the program.
        """
        log = self.log or call_log.CallLog(self.workspace.root, keep_arguments=self.keep_arguments)
        asks = log.keeps_arguments or self._may_tell_secrets(outcome)
        warning = log.append(
            tool,
            call.arguments,
            outcome=outcome,
            secrets=self._secrets_of(over()) if asks else (),
            program=(call.call_id or "",),
        )
        return replace(outcome, notes=(*outcome.notes, warning)) if warning else outcome

    def _may_tell_secrets(self, outcome: Outcome) -> bool:
        """Whether the error or the notes of a program hold a value of the environment or of the
        user's `secrets`; only the tools tell which variables are secrets.
        """
        said: list[JsonValue] = [*outcome.notes]
        if (error := outcome.error) is not None:
            problems = error.code == errors.InvalidProgram.code and error.details["problems"]
            # without the numbers of lines, which many a variable has for its value
            said += [one["message"] for one in problems] if problems else [error.message]
        if not said:  # what to look for in it takes a third of a short program's time to make
            return False
        values, configured = self._values, self.user.secrets
        known = [value for name in configured for value in values.known((name,))]
        without = call_secrets.redact(said, [*self._environ().values(), *known])
        return bool(without != said)

    def _log(self, tool: Tool, call: Call, outcome: Outcome, secrets: Collection[str]) -> Outcome:
        log = self.log or call_log.CallLog(self.workspace.root, keep_arguments=self.keep_arguments)
        warning = log.append(
            tool,
            call.arguments,
            outcome=outcome,
            secrets=secrets,
            program=(call.call_id or "", call.parent) if call.parent else (),
        )
        return replace(outcome, notes=(*outcome.notes, warning)) if warning else outcome


def open_path(
    workspace: Workspace,
    *,
    registry: ToolRegistry | None = None,
    environment: Mapping[str, str] | None = None,
    trusted: bool = False,
    keep_arguments: bool = False,
    sessions: "Sessions | None" = None,
) -> CallPath:
    """Return a path for a process that lives: what it reads it reads again only where that changed,
    and its log stays open.
    """
    from vespe.projects.open_project import OpenProject

    live = OpenProject(workspace, environ=environment, trusted=trusted)
    return CallPath(
        workspace=workspace,
        registry=ToolRegistry() if registry is None else registry,
        environment=environment,
        trusted=trusted,
        live=live,
        log=call_log.CallLog(
            workspace.root, keep_arguments=keep_arguments, kept=True, watch=live.watch
        ),
        sessions=sessions,
    )


class _Attempt(NamedTuple):
    grant: gate.Grant
    secrets: list[str]
    """The values to be struck out; those that the call fetches are added."""
    cancel: threading.Event | None
    started: float
    in_loop: bool
    held: "list[Policy | None]"
    """What the tool's process is held to, once it is known."""

    def said(self, tool: Tool, outcome: Outcome) -> Outcome:
        """Return an outcome that says what held the process, and what of its own it has left that
        others execute.
        """
        held = self.held[0]
        if held is None:
            return outcome
        from vespe.calls import sandboxing

        notes = (*outcome.notes, *sandboxing.planted(held, tool=tool.name))
        return replace(outcome, sandbox=held.document, notes=notes)


async def _asking(
    tool: Tool, result: Awaitable[Any], attempt: _Attempt, questions: asking.CallQuestions
) -> Outcome:
    questions.loop = in_process.running_loop()
    with asking.asking(questions):
        return await _awaited(tool, result, attempt)


async def _awaited(tool: Tool, result: Awaitable[Any], attempt: _Attempt) -> Outcome:
    return finished(tool, await result, secrets=tuple(attempt.secrets), started=attempt.started)


def _kit_of(tool: Tool) -> str | None:
    """Return the kit that the tool was found in; what a project's own tool claims to belong to is
    not asked.
    """
    return None if tool.scope in ("", defaults.PROJECT_TOOLS) else tool.scope


def _missing(tool: Tool, name: str, names: tuple[str, ...]) -> errors.MissingSecret:
    item = next((one for one in items_of(tool) if one.name == name), None)
    said = {"description": item.description, "docs_url": item.docs_url} if item else {}
    return errors.MissingSecret(name, tool=tool.name, names=names, **said)


def _names_of(tool: Tool, name: str) -> tuple[str, ...]:
    return call_secrets.names_of_secret(name, kit_id=_kit_of(tool))


def _deadline(call: Call, tool: Tool) -> float:
    """Return the deadline in seconds: the caller's, else the tool's, else the default; raises
    UsageError for what is none.
    """
    if call.timeout_s is None:
        return tool.timeout_s or defaults.TIMEOUT_S
    if not 0 < call.timeout_s <= MAX_TIMEOUT_S:
        raise errors.UsageError(
            f"the time limit must be a number of seconds above 0 and at most {MAX_TIMEOUT_S}, not "
            f"{call.timeout_s}"
        )
    return call.timeout_s
