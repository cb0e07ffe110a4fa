"""Run a function of a tool's Python script in an interpreter of its own, with its result on a
descriptor of its own.
"""

import errno
import functools
import os
import signal
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from vespe.calls.sandboxing import forks_calls
from vespe.documents import strict_json
from vespe.errors import (
    Declined,
    Interrupted,
    InvalidArguments,
    InvalidDocument,
    InvalidOutput,
    InvalidTool,
    NeedsInput,
    OutputTooLarge,
    StorageError,
    TimedOut,
    ToolExecutionError,
    VespeError,
)
from vespe.files import atomic
from vespe.files.private_copy import is_private_copy
from vespe.lazy import hashlib, tempfile
from vespe.models import Execution, Implementation, JsonObject, Tool
from vespe.processes import ask_channel, child_scripts, process
from vespe.processes.sandbox.held import READ_FILE, Policy
from vespe.tool_types import Context, Executor, wants_to_be_kept
from vespe.tools.permissions import LISTS
from vespe.tools.python.script_lock import MAX_BYTES, SUFFIX, Lock
from vespe.tools.python.script_metadata import Metadata, python_satisfies, read_metadata
from vespe.tools.templates import substitute_secrets
from vespe.types.python_script import environments as script_environments

if TYPE_CHECKING:
    from vespe.processes.answering import NoAnswer, ProcessAnswer
    from vespe.processes.keeper import Terms

_HERE: Final = os.path.dirname(os.path.abspath(__file__))
_CHILD, _VALUES = os.path.join(_HERE, "child.py"), os.path.join(_HERE, "values.py")
_OF_A_CALL: Final = ("TRACEPARENT", "TRACESTATE", "BAGGAGE", ask_channel.VARIABLE)
"""What each call tells its process anew: no interpreter is kept for that."""
_FLAGS: Final = ("-I", "-B", "-X", "utf8")
"""Isolated from the working directory and PYTHON* variables, no bytecode written (it would change
the tool's digest).
"""


class PythonScript:
    """`python_script`: the function `entrypoint` of the file `path`, plain or async, given the
    inputs and `args` as keywords.

    A script with dependencies (PEP 723) gets an environment of its own, made once; the context's
    `progress` hears of it.
    """

    def plan(self, tool: Tool, inputs: JsonObject, context: Context) -> JsonObject:
        """Return `script` (its path), `function`, `inputs`, `args`, `cwd`, and what a
        `# /// script` block asks for.
        """
        implementation = _implementation(tool)
        path, source = _script(tool, implementation, context)
        metadata = _metadata(source, path)
        return {
            "script": path,
            "function": implementation.entrypoint,
            "inputs": inputs,
            "args": implementation.args,
            "cwd": context.project_root,
            "dependencies": list(metadata.dependencies),
            "requires_python": metadata.requires_python or None,
        }

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Run the function to its end; what it prints is the log, never the result.

        Raises InvalidTool (no such script), InvalidArguments (a value that its annotation refuses),
        ToolExecutionError (the function's own error, with its place; a process that ended without
        an answer; a dependency that cannot be had), InvalidOutput (a result that JSON cannot say,
        with its JSON Pointer), OutputTooLarge, TimedOut, Interrupted.
        """
        implementation = _implementation(tool)
        path, source = _script(tool, implementation, context)
        metadata = _metadata(source, path)
        held = context.sandbox is not None and bool(context.sandbox.message)
        message = {
            "path": path,
            "directory": context.directory,
            "source": source,
            "entrypoint": implementation.entrypoint,
            "inputs": inputs,
            "args": substitute_secrets(implementation.args, context.secrets),
            "watched": held,
            "ask": ask_channel.variables(context.questions).get(ask_channel.VARIABLE, ""),
            "name": tool.name,
        }
        python, kind = _interpreter(implementation, metadata, path, context)
        argv = (python, *_FLAGS)
        env = _kept_environment(context)
        preload = metadata.names if kind == "" else ()
        interpreter = child_scripts.Interpreter(
            argv=argv, env=env, preload=preload, scripts=(_CHILD, _VALUES), kind=kind
        )
        forks = held and bool(metadata.dependencies) and forks_calls(tool, context)
        command = process.Command(
            argv=interpreter.program(),
            cwd=context.project_root,
            env={**context.environment, **ask_channel.variables(context.questions)},
            interpreter=interpreter,
            message=message,
            result_fd=True,
            timeout_s=context.timeout_s,
            name=tool.name,
            sandbox=context.sandbox,
            # What a tool depends on is others' code: where it is to be held, no interpreter outside
            # imports it.
            workers=None
            if held and (metadata.dependencies or implementation.environment)
            else context.workers,
            questions=context.questions,
        )
        if forks:
            return _execution(_forked(command, metadata, context), implementation)
        wants = wants_to_be_kept(tool, context)
        if wants and not is_private_copy(context.directory):
            return _execution(_persistent(tool, command, context), implementation)
        finished = process.run(command, cancel=context.cancel)
        return _execution(
            replace(finished, notes=(*finished.notes, _NOT_KEPT)) if wants else finished,
            implementation,
        )


EXECUTOR: Final[Executor] = PythonScript()


def _kept_environment(context: Context) -> dict[str, str]:
    """Return the variables of an interpreter that is kept; others are of each call another one, and
    the call itself sets them.
    """
    own = context.sandbox.environment if context.sandbox is not None else {}
    return {
        name: value
        for name, value in context.environment.items()
        if name not in own and name not in _OF_A_CALL
    }


_NOT_KEPT: Final = "the process was not kept: only a tool that runs where it lies keeps one"


def _persistent(tool: Tool, command: process.Command, context: Context) -> process.Finished:
    """Have the process answer that keeps the tool's state; raises as `execute` does."""
    from vespe.processes.answering import AnsweringProcess, NoAnswer

    began, name = time.monotonic(), command.name
    interpreter, message, workers = command.interpreter, command.message, context.workers
    if interpreter is None or workers is None:
        raise ValueError("a process that is kept needs an interpreter, and somebody who keeps it")
    held = command.sandbox and (command.sandbox.level, repr(command.sandbox.stated))
    made_of = (
        hashlib.sha256(message["source"]).hexdigest(),
        message["entrypoint"],
        interpreter.key(),
        held,
    )
    terms = _terms(tool, made_of)

    def make() -> AnsweringProcess:
        first = interpreter.stdin({"persistent": True}, is_ready=False)
        return AnsweringProcess(
            interpreter.program(),
            cwd=command.cwd,
            env=command.env,
            first=first,
            sandbox=command.sandbox,
            asks=True,
        )

    try:
        request = interpreter.stdin(message, is_ready=True)
        key, until = (tool.uid, message["path"], command.cwd), began + command.timeout_s
        cancel = context.cancel
        with workers.persistent.borrow(key, make, terms=terms, until=until, cancel=cancel) as loan:
            answer = loan.process.ask(
                request, until=until, cancel=cancel, questions=command.questions
            )
    except NoAnswer as none:
        raise _unanswered(none, name, command.timeout_s) from None
    if len(answer.body) > command.cap_bytes:
        raise OutputTooLarge(
            f"{name} returned more than {command.cap_bytes} bytes",
            kept=answer.body[: command.cap_bytes],
        )
    return process.Finished(
        returncode=0,
        signal=None,
        stdout=b"",
        stderr=answer.logs,
        result=answer.body,
        stderr_bytes=len(answer.logs),
        duration_s=time.monotonic() - began,
    )


def _forked(command: process.Command, metadata: Metadata, context: Context) -> process.Finished:
    """Have a process make the call that has imported what the tool depends on, in the tool's
    sandbox. Where no call can be a fork of it, the call has an interpreter of its own. Raises as
    `execute` does.
    """
    from vespe.processes.answering import AnsweringProcess, NoAnswer

    interpreter, workers, policy = command.interpreter, context.workers, command.sandbox
    if interpreter is None or workers is None or policy is None:
        raise ValueError("a fork needs an interpreter, somebody who keeps it, and a sandbox")
    scripts = (*interpreter.scripts, child_scripts.ENTER, child_scripts.ZYGOTE)
    forking = replace(interpreter, scripts=scripts)
    kept = policy.environment["TMPDIR"]
    key = (interpreter.key(), command.cwd, context.directory, repr(policy.message))

    def make() -> AnsweringProcess:
        first = forking.stdin({"forks": list(metadata.names)}, is_ready=False)
        argv, env = forking.program(), {**interpreter.env, **policy.environment}
        return AnsweringProcess(
            argv, cwd=command.cwd, env=env, first=first, sandbox=policy, asks=True
        )

    with tempfile.TemporaryDirectory(dir=kept, prefix="call-") as scratch:
        call = replace(command, env={**command.env, "TMPDIR": scratch})
        if key not in workers.threaded:
            request = forking.stdin(_message_of(call, policy, kept), is_ready=True)
            began, cancel = time.monotonic(), context.cancel
            until = began + command.timeout_s
            try:
                with workers.forking.borrow(key, make, terms=_forking()) as loan:
                    answer = loan.process.ask(
                        request, until=until, cancel=cancel, questions=command.questions
                    )
            except NoAnswer as none:
                raise _call_ended(none, command) from None
            if answer.head != b"threads":
                return _finished(answer, command, time.monotonic() - began)
            workers.threaded.add(key)
        return process.run(call, cancel=context.cancel)


def _message_of(call: process.Command, policy: Policy, kept: str) -> dict[str, Any]:
    """Return what the fork reads: the call, and the rules of its sandbox with the call's own
    temporary directory in the place of the one that is `kept`.
    """
    own, held = os.fsencode(call.env["TMPDIR"]), os.fsencode(kept)
    rules = [(own if path == held else path, rights) for path, rights in policy.message["rules"]]
    rules.append((os.path.join(held, b"gitconfig"), READ_FILE))
    limits = {name: policy.message[name] for name in ("handled", "scoped")}
    return {**dict(call.message), **limits, "rules": rules, "env": dict(call.env)}


def _finished(
    answer: "ProcessAnswer", command: process.Command, duration_s: float
) -> process.Finished:
    """Read the answer of a process that has forked a call, which says how the fork ended where it
    said nothing itself.
    """
    if len(answer.body) > command.cap_bytes:
        raise OutputTooLarge(
            f"{command.name} returned more than {command.cap_bytes} bytes",
            kept=answer.body[: command.cap_bytes],
        )
    status = 0 if answer.body else int(answer.head.partition(b" ")[2])
    signalled = os.WIFSIGNALED(status)
    return process.Finished(
        returncode=None if signalled else os.waitstatus_to_exitcode(status),
        signal=os.WTERMSIG(status) if signalled else None,
        stdout=b"",
        stderr=answer.logs,
        result=answer.body,
        stderr_bytes=len(answer.logs),
        duration_s=duration_s,
    )


def _call_ended(none: "NoAnswer", command: process.Command) -> VespeError:
    logs = _details(none.logs.decode("utf-8", "replace"))
    if none.reason == "late":
        late = TimedOut(command.name, seconds=command.timeout_s)
        late.details |= logs
        return late
    if none.reason == "cancelled":
        return Interrupted(f"{command.name} was cancelled and has been ended", details=logs)
    return ToolExecutionError(f"{command.name} returned no result: its process ended", details=logs)


@functools.cache
def _forking() -> "Terms":
    from vespe.processes.keeper import Terms

    return Terms(max_calls=1000, max_idle_s=60.0)


def _terms(tool: Tool, made_of: tuple[object, ...]) -> "Terms":
    from vespe.processes.keeper import Terms

    limits = tool.document["limits"]
    return Terms(
        made_of=made_of,
        max_calls=limits.get("max_calls", 1000),
        max_idle_s=limits.get("max_idle_s", 300.0),
    )


def _unanswered(none: "NoAnswer", name: str, timeout_s: float) -> VespeError:
    logs = _details(none.logs.decode("utf-8", "replace"))
    if none.reason == "late":
        late = TimedOut(name, seconds=timeout_s, then="was ended, and its state is lost")
        late.details |= logs
        return late
    if none.reason == "cancelled":
        return Interrupted(
            f"{name} was cancelled and has been ended, and its state is lost", details=logs
        )
    return ToolExecutionError(
        f"{name} returned no result: its process ended, and its state is lost", details=logs
    )


def prepare(tool: Tool, context: Context) -> str | None:
    """Make a tool's environment where there is none yet, and return its interpreter; None for a
    tool that needs none of its own.
    """
    implementation = _implementation(tool)
    path, source = _script(tool, implementation, context)
    metadata = _metadata(source, path)
    own = metadata.dependencies or implementation.environment
    return _interpreter(implementation, metadata, path, context)[0] if own else None


def _interpreter(
    implementation: Implementation, metadata: Metadata, path: str, context: Context
) -> tuple[str, str]:
    """Return the interpreter, and what tells it from another one at the same place."""
    if implementation.environment == "project":
        return script_environments.of_project(context.home or context.project_root)
    if not metadata.dependencies:
        return sys.executable, ""
    try:
        lock = Lock(
            data=atomic.read_bytes(path + SUFFIX, limit=MAX_BYTES),
            metadata=metadata,
            path=path + SUFFIX,
        )
    except StorageError as error:
        if error.details.get("errno") != errno.ENOENT:
            raise
        lock = None
    sandbox = "off" if context.sandbox is not None and context.sandbox.level == "off" else "auto"
    made = script_environments.interpreter(
        metadata.dependencies, context.progress, lock=lock, cancel=context.cancel, sandbox=sandbox
    )
    return made, ""


def _implementation(tool: Tool) -> Implementation:
    if (
        tool.implementation is None
        or not tool.implementation.path
        or not tool.implementation.entrypoint
    ):
        raise InvalidTool(
            tool.uid, ["a python_script needs `path` and `entrypoint`"], path=tool.directory or ""
        )
    return tool.implementation


def _script(tool: Tool, implementation: Implementation, context: Context) -> tuple[str, bytes]:
    """The script's path and bytes, read once: what was read is what runs."""
    name = os.path.normpath(str(implementation.path))
    path = os.path.join(context.directory, name)
    if os.path.isabs(name) or name.split(os.sep)[0] == "..":
        raise InvalidTool(
            tool.uid,
            [f"`path` {implementation.path} leads out of the tool's directory"],
            path=context.directory,
        )
    try:
        return path, atomic.read_bytes(path)
    except StorageError:
        if os.path.lexists(path):
            raise
        raise InvalidTool(
            tool.uid,
            [f"`path` is {implementation.path}, but there is no such file"],
            path=context.directory,
        ) from None


def _metadata(source: bytes, path: str) -> Metadata:
    metadata = read_metadata(source, path=path)
    here = sys.version_info[:3]
    if metadata.requires_python and python_satisfies(metadata.requires_python, here) is False:
        running = ".".join(map(str, here))
        raise ToolExecutionError(
            f"{os.path.basename(path)} needs Python {metadata.requires_python}, but this is "
            f"{running}",
            hint="install Vespe with a Python version that satisfies this",
            details={"requires_python": metadata.requires_python, "python": running},
        )
    return metadata


def _execution(finished: process.Finished, implementation: Implementation) -> Execution:
    """Read the child's answer: a result, or the error that it tells."""
    notes = finished.notes
    if finished.stderr_bytes > len(finished.stderr):
        notes += (
            f"the log was cut by vespe: the last {len(finished.stderr)} of "
            f"{finished.stderr_bytes} bytes",
        )
    logs = finished.stderr.decode("utf-8", "replace")
    if not finished.result:
        raise _silent(finished, implementation, logs)
    try:
        answer = strict_json.parse_object(finished.result, limit=len(finished.result))
    except InvalidDocument as error:
        raise InvalidOutput(
            f"the result {error.reason}",
            details=_details(logs, pointer=error.pointer.removeprefix("/result")),
        ) from None
    # The tool runs in the process that answers, and may have written any of it.
    if "error" in answer:
        why = answer["error"]
        raise _told(why if isinstance(why, dict) else {}, logs, _touched(answer))
    said = answer.get("notes")
    noted = [note for note in said if isinstance(note, str)] if isinstance(said, list) else []
    return Execution(
        result=answer.get("result"),
        logs=logs,
        notes=(*notes, *noted),
        touched=_touched(answer),
    )


def _touched(answer: JsonObject) -> tuple[tuple[str, str], ...]:
    """Return what the child says that the tool touched, as (kind, path or host)."""
    said = answer.get("touched")
    return tuple(
        (one[0], one[1])
        for one in (said if isinstance(said, list) else ())
        if isinstance(one, list)
        and len(one) == 2
        and one[0] in (*LISTS, "name")
        and isinstance(one[1], str)
        and "\0" not in one[1]
    )


_ABSENT: Final = (
    "a tool's script imports modules from its own directory, and packages that it declares. Copy "
    "your own modules next to the script, or make the tool with `vespe tool create NAME --from "
    "FILE.py:function --in-place`, which runs the original file. Declare packages in the script: "
    '`# /// script`, `# dependencies = ["NAME"]`, `# ///`'
)


_RELATIVE: Final = (
    "a tool's script is not part of a package, so `from .module import name` does not work. Copy "
    "the module next to the script and write `from module import name`, or make the tool with "
    "`vespe tool create NAME --from FILE.py:function --in-place`, which runs the original file"
)


_TOLD: Final[dict[str, type]] = {"exception": str, "traceback": list}


def _told(error: JsonObject, logs: str, touched: Any) -> VespeError:
    """The error that the child tells, as the class that its kind means."""
    message, pointer = str(error.get("message")), str(error.get("pointer", ""))
    if error.get("kind") == "arguments":
        return InvalidArguments(
            f"`{pointer[1:].replace('/', '.')}` {message}" if pointer else message,
            violations=[{"pointer": pointer, "message": message}],
        )
    if error.get("kind") == "output":
        return InvalidOutput(
            f"the result{' at ' + pointer if pointer else ''} {message}",
            details=_details(logs, pointer=pointer),
        )
    if error.get("kind") in ("needs_input", "declined"):
        no: VespeError = NeedsInput(message, hint=str(error.get("hint") or ""))
        if error["kind"] == "declined":
            no = Declined(
                str(error.get("tool")),
                action="cancel" if error.get("action") == "cancel" else "decline",
            )
        no.details |= _details(logs)
        return no
    told = {key: error[key] for key in _TOLD if key in error}
    fields = {key: value for key, value in told.items() if isinstance(value, _TOLD[key])} | (
        {"touched": touched} if touched else {}
    )
    exception = error.get("exception")
    hint = _ABSENT if exception == "ModuleNotFoundError" else ""
    if exception == "ImportError" and "attempted relative import" in message:
        hint = _RELATIVE
    return ToolExecutionError(message, hint=hint, details=_details(logs, **fields))


def _silent(
    finished: process.Finished, implementation: Implementation, logs: str
) -> ToolExecutionError:
    """The sentence for a process that ended without an answer."""
    function = implementation.entrypoint
    if finished.signal is not None:
        return ToolExecutionError(
            f"{function!r} was killed by {_signal_name(finished.signal)}",
            details=_details(logs, signal=finished.signal),
        )
    if finished.returncode == 0:
        what = (
            f"{function!r} returned no result: it ended its own process, or closed the file "
            "descriptor for the result"
        )
    else:
        what = (
            f"{function!r} returned no result: its process ended with status {finished.returncode}"
        )
    return ToolExecutionError(what, details=_details(logs, exit_status=finished.returncode))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _details(logs: str, **fields: Any) -> dict[str, Any]:
    return fields | ({"logs": logs[-4096:]} if logs else {})
