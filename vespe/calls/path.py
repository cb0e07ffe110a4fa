"""The use case: resolve, trust, check the input, run, check the output. One path for the CLI, agents, servers and batches."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from vespe import defaults, errors
from vespe.calls import log as call_log
from vespe.calls import secrets as call_secrets
from vespe.calls.executors import EXECUTORS
from vespe.calls.executors.base import Context
from vespe.calls.registry import ToolRegistry
from vespe.documents import redaction, strict_json
from vespe.documents.strict_json import text_encoder
from vespe.kits import pinned
from vespe.models import Call, Execution, Failure, JsonObject, JsonValue, Outcome, Tool
from vespe.processes import process
from vespe.processes.signals import in_main_thread, open_to_signals, own_handlers_wait, whole
from vespe.projects import user_config
from vespe.projects.workspace import Workspace
from vespe.schemas import validator as schema_validator
from vespe.tools import directory as tool_directory
from vespe.tools.fields import MAX_TIMEOUT_S
from vespe.trust import gate

if TYPE_CHECKING:
    from vespe.calls.executors.mcp.sessions import Sessions

_RAISED: Final = (errors.UsageError, errors.NotFound, errors.InvalidDocument, errors.NotTrusted)
"""There was no call to make: these are raised. Every other failure is an Outcome's error."""


_SAID: Final = text_encoder(json.JSONEncoder(ensure_ascii=False, allow_nan=False))


@dataclass(kw_only=True)
class CallPath:
    """Runs calls in one project: every call goes through here, whoever makes it.

    `registry` holds in-process implementations; `trusted` is the user's `--trust`; `keep_arguments` writes the
    arguments into the log and not only their digest; `environment` stands for `os.environ`; tools start in `directory`,
    the project's root by default; `progress` is told what takes long; `granted` stands for `trust.check`, and `log` for a
    log opened for each call, in a process that lives; there
    `sessions` keeps those with MCP servers, and whoever made them closes them. One CallPath serves many calls, from several threads.
    """

    workspace: Workspace
    registry: ToolRegistry
    trusted: bool = False
    keep_arguments: bool = False
    environment: Mapping[str, str] | None = None
    directory: str | None = None
    progress: Callable[[str], None] | None = None
    granted: Callable[[str | None], gate.Grant] | None = None
    log: call_log.CallLog | None = None
    sessions: "Sessions | None" = None
    _pinned: dict[str | None, bool] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def user(self) -> user_config.UserConfig:
        """The user's own configuration, as this project tightens it."""
        return user_config.narrowed(user_config.load_user_config(), self.workspace.config.document)

    def check_trust(self) -> None:
        """Raise NotTrusted where the project as a whole may not run anything: what is sent elsewhere asks this first."""
        gate.check(self.workspace.root, environ=self._environ(), trusted=self.trusted)

    def run(self, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call to its Outcome.

        Raises NotFound (no such tool, or two), InvalidDocument (the tool or a configuration is broken) and NotTrusted,
        where there is no call to make; KeyboardInterrupt passes through once whatever ran has been ended.
        """
        return self.run_tool(self.tool(call.tool), call, cancel=cancel)

    def tool(self, name: str) -> Tool:
        """Resolve and load a tool; raises as `run` does. A project that is not trusted says so before it says what is broken."""
        try:
            return self.workspace.tool(name)
        except errors.InvalidTool as error:
            gate.check(self.workspace.root, tool_directory=error.path, environ=self._environ(), trusted=self.trusted)
            raise

    @whole
    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call of a tool that is resolved already; raises as `run` does."""
        if not in_main_thread():
            return self._run_whole(tool, call, cancel)
        with own_handlers_wait():
            return self._run_whole(tool, call, cancel)

    def _run_whole(self, tool: Tool, call: Call, cancel: threading.Event | None) -> Outcome:
        grant = self._grant(tool)
        values = tuple(value for name in tool.secrets if (value := self._secret(tool, name)))
        started = time.perf_counter()
        try:
            outcome = self._attempt(call, tool, _Attempt(grant, values, cancel, started))
        except (*_RAISED, KeyboardInterrupt) as error:
            known = error if isinstance(error, errors.VespeError) else errors.Interrupted("interrupted")
            self._log(tool, call, _timed(_failed(tool, known, secrets=values), started), values)
            raise
        except errors.VespeError as error:
            outcome = _timed(_failed(tool, error, secrets=values), started)
        return self._log(tool, call, outcome, values)

    def plan(self, tool: Tool, call: Call) -> JsonObject:
        """Say what the call would run, without running it; raises InvalidArguments where the arguments do not fit."""
        inputs = checked_inputs(tool, call.arguments)
        shown: JsonObject = {"tool": tool.name, "uid": tool.uid, "scope": tool.scope, "inputs": inputs}
        if tool.implementation is None or tool.name in self.registry:
            return shown | {"type": "in_process"}
        context = self._context(tool, call, tool.directory or "", {})
        return shown | {"type": tool.implementation.type} | EXECUTORS[tool.implementation.type].plan(tool, inputs, context)

    def _grant(self, tool: Tool) -> gate.Grant:
        if self.granted is not None:
            return self.granted(self._project_directory(tool))
        return gate.check(self.workspace.root, tool_directory=self._project_directory(tool), environ=self._environ(), trusted=self.trusted)

    def _project_directory(self, tool: Tool) -> str | None:
        return tool.directory if tool.scope == defaults.PROJECT_TOOLS else None

    def _environ(self) -> Mapping[str, str]:
        return os.environ if self.environment is None else self.environment

    @open_to_signals
    def _attempt(self, call: Call, tool: Tool, attempt: "_Attempt") -> Outcome:
        if self.user.sandbox == "require":
            raise errors.Refused("your configuration requires a sandbox, and this version has none", hint="`vespe config set sandbox auto`")
        if attempt.grant.files is None and not self._is_installed(tool.directory):
            return self._run_in(tool.directory or self.workspace.root, tool, call, attempt)
        with self._approved(tool, attempt.grant) as (approved, directory):
            return self._run_in(directory, approved, call, attempt)

    def _is_installed(self, directory: str | None) -> bool:
        """Whether only approved bytes may run from there: a question of the path alone, asked once for each."""
        if (known := self._pinned.get(directory)) is None:
            known = self._pinned[directory] = pinned.is_installed(directory)
        return known

    def _run_in(self, directory: str, tool: Tool, call: Call, attempt: "_Attempt") -> Outcome:
        inputs = checked_inputs(tool, call.arguments)
        secrets = self._secrets(tool, attempt.grant)
        context = self._context(tool, call, directory, secrets, cancel=attempt.cancel)
        return _finished(tool, self.registry.execute(tool, inputs, context), attempt)

    @contextmanager
    def _approved(self, tool: Tool, grant: gate.Grant) -> Iterator[tuple[Tool, str]]:
        """Return the tool and the directory to run it in; both from the approved bytes where the grant is bound to them."""
        if tool.directory is None:
            yield tool, self.workspace.root
            return
        own = self._project_directory(tool) is not None
        with gate.pinned(tool.directory, grant) if own else pinned.pinned(tool.directory) as directory:
            copied = directory != tool.directory
            yield (tool_directory.load(directory, scope=tool.scope, kit_id=tool.kit_id) if copied else tool), directory

    def _secrets(self, tool: Tool, grant: gate.Grant) -> dict[str, str]:
        own = self._project_directory(tool) is not None
        for name in tool.secrets:
            if own and not grant.allows_secret(name):
                raise errors.Refused(f"the secret {name} was not shown when {tool.name!r} was approved", hint="run `vespe trust` again")
        found = {name: self._secret(tool, name) for name in tool.secrets}
        for name, value in found.items():
            if not value:
                raise errors.MissingSecret(name, tool=tool.name, names=call_secrets.names_of_secret(name, kit_id=_kit_of(tool)))
        return found

    def _secret(self, tool: Tool, name: str) -> str:
        names = call_secrets.names_of_secret(name, kit_id=_kit_of(tool))
        return next((value for known in names if (value := self._environ().get(known) or self.user.secrets.get(known, ""))), "")

    def _context(
        self, tool: Tool, call: Call, directory: str, secrets: Mapping[str, str], *, cancel: threading.Event | None = None
    ) -> Context:
        return Context(
            project_root=self.directory or self.workspace.root,
            directory=directory,
            environment=process.child_environment(self._environ(), secrets) if secrets else self._without_secrets,
            secrets=secrets,
            timeout_s=_deadline(call, tool),
            allow_hosts=self.user.allow_hosts,
            cancel=cancel,
            progress=self.progress,
            sessions=self.sessions,
        )

    @property
    def _without_secrets(self) -> Mapping[str, str]:
        """The environment of a tool that declares no secret; made once where the environment is the caller's own copy."""
        return process.child_environment(os.environ, {}) if self.environment is None else self._allowed

    @cached_property
    def _allowed(self) -> Mapping[str, str]:
        return process.child_environment(self._environ(), {})

    def _log(self, tool: Tool, call: Call, outcome: Outcome, secrets: tuple[str, ...]) -> Outcome:
        log = self.log or call_log.CallLog(self.workspace.root, keep_arguments=self.keep_arguments)
        warning = log.append(tool, call.arguments, outcome=outcome, secrets=secrets)
        return replace(outcome, notes=(*outcome.notes, warning)) if warning else outcome


@dataclass(frozen=True, slots=True)
class _Attempt:
    grant: gate.Grant
    secrets: tuple[str, ...]
    cancel: threading.Event | None
    started: float


def _kit_of(tool: Tool) -> str | None:
    """Return the kit that the tool was found in; what a project's own tool claims to belong to is not asked."""
    return None if tool.scope in ("", defaults.PROJECT_TOOLS) else tool.scope


def _deadline(call: Call, tool: Tool) -> float:
    """Return the deadline in seconds: the caller's, else the tool's, else the default; raises UsageError for what is none."""
    if call.timeout_s is None:
        return tool.timeout_s or defaults.TIMEOUT_S
    if not 0 < call.timeout_s <= MAX_TIMEOUT_S:
        raise errors.UsageError(f"a deadline is a number of seconds above 0, at most {MAX_TIMEOUT_S}, not {call.timeout_s}")
    return call.timeout_s


def _timed(outcome: Outcome, started: float) -> Outcome:
    return replace(outcome, duration_ms=(time.perf_counter() - started) * 1000)


def checked_inputs(tool: Tool, arguments: JsonObject | str | bytes) -> JsonObject:
    """Return a call's inputs as its tool's schema takes them, with the schema's defaults filled in.

    Raises ParsingError for text that is not one strict JSON object, InvalidArguments with every violation.
    """
    inputs = parsed_arguments(arguments) if isinstance(arguments, (str, bytes)) else arguments
    validator = schema_validator.compile_schema(tool.input_schema, closed=True)
    violations = validator.violations(inputs)
    if violations:
        listed = "; ".join(violation["message"] for violation in violations)
        raise errors.InvalidArguments(f"the arguments of {tool.name!r} do not fit its schema: {listed}", violations=violations)
    return schema_validator.fill_defaults(tool.input_schema, inputs) if validator.has_defaults or _is_nested(inputs) else dict(inputs)


def _is_nested(inputs: JsonObject) -> bool:
    """Whether a shallow copy would share anything that a tool could change."""
    return any(isinstance(value, (dict, list)) for value in inputs.values())


def parsed_arguments(text: str | bytes) -> JsonObject:
    """Read a call's arguments from strict JSON; what does not parse is never run as `{}`."""
    try:
        return strict_json.parse_object(text, limit=defaults.MAX_ARGUMENT_BYTES)
    except errors.InvalidDocument as error:
        place = f" (line {error.line}, column {error.column})" if error.line and error.column else ""
        at = f" at {error.pointer}" if error.pointer else ""
        message = f"the arguments cannot be read: the text {error.reason}{at}{place}"
        raise errors.ParsingError(message + _quoted(text, error), hint="give one JSON object") from None


def _quoted(text: str | bytes, error: errors.InvalidDocument) -> str:
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    lines = shown.split("\n")
    if not error.line or not error.column or error.line > len(lines):
        return ""
    line = lines[error.line - 1]
    return f", near {line[max(0, error.column - 21) : error.column + 20]!r}"


def _finished(tool: Tool, execution: Execution, attempt: _Attempt) -> Outcome:

    secrets = attempt.secrets
    result, notes, text = _sayable(execution.result, execution.notes)
    if tool.output_schema is not None:
        violations = schema_validator.compile_schema(tool.output_schema, closed=False).violations(result, subject="the result")
        if violations:
            listed = "; ".join(violation["message"] for violation in violations)
            details = {"violations": violations}
            raise errors.InvalidOutput(f"the result of {tool.name!r} breaks its output schema: {listed}", details=details)
    if secrets:
        result, text = redaction.redact(result, secrets), ""
    outcome = Outcome(
        tool=tool.name,
        uid=tool.uid,
        result=result,
        duration_ms=(time.perf_counter() - attempt.started) * 1000,
        logs=_redacted_text(execution.logs, secrets),
        notes=notes,
    )
    cap = tool.max_output_bytes or defaults.MAX_OUTPUT_BYTES
    return outcome if text and len(text) * 4 <= cap else _cut(outcome, cap)


def as_told(tool: Tool, outcome: Outcome) -> Outcome:
    """Return an Outcome that another runner than a call path made as a call path would: in JSON's words, cut at the tool's limit.

    Raises InvalidOutput for a result that JSON cannot say.
    """
    if outcome.error is not None or outcome.truncated:
        return outcome
    result, notes, _ = _sayable(outcome.result, outcome.notes)
    return _cut(replace(outcome, result=result, notes=notes), tool.max_output_bytes or defaults.MAX_OUTPUT_BYTES)


def _sayable(result: JsonValue, notes: tuple[str, ...]) -> tuple[JsonValue, tuple[str, ...], str]:
    """Make sure that JSON can say the result, whoever made it, and give its text; a lone surrogate is repaired, and noted."""
    try:
        text = _SAID(result)
    except (TypeError, ValueError, RecursionError) as error:
        raise errors.InvalidOutput(f"the result cannot be said in JSON: {error}") from None
    repaired = strict_json.repair_surrogates(text)
    if repaired == text:
        return result, notes, text
    return json.loads(repaired), (*notes, "lone surrogates in the result became U+FFFD"), repaired


def _cut(outcome: Outcome, cap: int) -> Outcome:
    result = outcome.result
    if isinstance(result, str) and len(result) * 4 <= cap:
        return outcome
    whole = (result if isinstance(result, str) else strict_json.compact_json(result)).encode("utf-8")
    if len(whole) <= cap:
        return outcome
    kept, note = _kept(whole)
    head, tail = whole[: (cap + 1) // 2], whole[len(whole) - cap // 2 :]
    marker = f"\n[… cut by vespe: {len(whole) - len(head) - len(tail)} of {len(whole)} bytes left out …]\n"
    shown = head.decode("utf-8", "ignore") + marker + tail.decode("utf-8", "ignore")
    return replace(outcome, result=shown, truncated=True, output_file=kept, notes=outcome.notes + note)


def _kept(whole: bytes) -> tuple[str | None, tuple[str, ...]]:
    try:
        return call_log.keep_output(whole), ()
    except errors.StorageError as error:
        return None, (f"the whole output could not be kept: {error}",)


def refused(tool: Tool, error: errors.VespeError) -> Outcome:
    """Return the Outcome of a call that was refused before it could be made."""
    return _failed(tool, error)


def _failed(tool: Tool, error: errors.VespeError, *, secrets: tuple[str, ...] = ()) -> Outcome:

    details: Any = redaction.redact(error.details, secrets) if secrets else error.details
    failure = Failure(
        code=error.code,
        message=_redacted_text(strict_json.repair_surrogates(str(error)), secrets),
        retryable=error.retryable,
        details=details,
        hint=_redacted_text(error.hint, secrets),
    )
    outcome = Outcome(tool=tool.name, uid=tool.uid, error=failure)
    if isinstance(error, errors.OutputTooLarge) and error.kept:
        kept, notes = _kept(_without_secrets(error.kept, secrets))
        return replace(outcome, truncated=True, output_file=kept, notes=notes)
    return outcome


def _without_secrets(kept: bytes, secrets: tuple[str, ...]) -> bytes:
    """Redact what was kept of a flood, then leave out its end: that may be the beginning of a secret in its longest form."""
    if not secrets:
        return kept
    margin = 3 * max(len(secret.encode("utf-8", "surrogateescape")) for secret in secrets)
    return _redacted_text(kept.decode("utf-8", "replace"), secrets).encode("utf-8", "replace")[:-margin]


def _redacted_text(text: str, secrets: tuple[str, ...]) -> str:

    return str(redaction.redact(text, secrets)) if secrets else text
