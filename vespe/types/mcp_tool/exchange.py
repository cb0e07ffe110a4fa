"""Asking an MCP server: the session's process under the same supervisor, deadline and bounds as
every tool's.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final

from vespe.calls.secrets import redact
from vespe.documents import strict_json
from vespe.errors import (
    Interrupted,
    InvalidDocument,
    InvalidOutput,
    MissingExtra,
    NeedsInput,
    Refused,
    ToolExecutionError,
    VespeError,
)
from vespe.models import JsonObject
from vespe.processes import process
from vespe.records import dataclass
from vespe.tools import mcp_skills

if TYPE_CHECKING:
    from vespe.processes.ask_channel import Questions
    from vespe.processes.sandbox.held import Policy

_ROOT: Final = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 3))
_START: Final = """\
import gc, os, sys
gc.disable()  # it would look again and again through the models of the SDK, which all stay
sys.path.insert(0, sys.argv[1])
try:
    from vespe.types.mcp_tool.MODULE import main
except ImportError as error:
    name = (error.name or "mcp").encode()
    missing = b'MARK{"error": {"kind": "missing", "message": "%s"}}\\n' % name
    os.write(int(sys.argv[-1]), missing)
else:
    gc.freeze()
    gc.enable()
    main()
"""
_FLAGS: Final = ("-I", "-B", "-X", "utf8")
UNKNOWN: Final = "it is not known whether the call took effect"
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_SAID_LINES: Final = 10
_SAID_CHARACTERS: Final = 1000


class AccessRefused(ToolExecutionError):
    """The server answered with `status` 401 or 403, and `challenge`, its header
    `WWW-Authenticate`.
    """

    status = 0
    challenge = ""


class Unauthorized(AccessRefused):
    """The server answered with status 401 before the call was sent to it."""


class CouldNotAsk(ToolExecutionError):
    """The server could not send its question to the user in the revision of the session."""


class NoHandshake(ToolExecutionError):
    """The server refused the handshake that it was to be reached with. The call was not sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How to reach a server: a `command` to start, or a `url` with `headers`; one of the two is
    None. With a `handshake` it is reached in the newest revision that has one.
    """

    command: tuple[str, ...] | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    handshake: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where and within what a session runs; the names are those of an executor's Context."""

    directory: str
    environment: Mapping[str, str]
    timeout_s: float
    allow_hosts: tuple[str, ...] = ()
    cancel: threading.Event | None = None
    sandbox: "Policy | None" = None
    questions: "Questions | None" = None
    secrets: tuple[str, ...] = ()
    """Values that stand as `***` in what the server wrote to its stderr."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAnswer:
    """What the session told, and what the server wrote to its stderr."""

    document: JsonObject
    logs: str


def ask(
    server: Server, request: JsonObject, surroundings: Surroundings, *, name: str, kit: str
) -> SessionAnswer:
    """Run one session with a server of the kit `kit`; `request` is empty for its tools, or holds
    `tool`, `arguments` and `digest`, or `tool` and the `uri` of a skill's file.

    Raises MissingExtra, Refused (a definition is another one than was approved, an address may not
    be reached), ToolExecutionError (the server does not start, ends, or answers with an error),
    CouldNotAsk, NoHandshake,
    InvalidOutput, OutputTooLarge, TimedOut, Interrupted.
    """
    command = process.Command(
        argv=argv("session"),
        cwd=surroundings.directory,
        env=surroundings.environment,
        stdin=strict_json.compact_json(reach(server, surroundings) | request).encode("utf-8"),
        result_fd=True,
        timeout_s=surroundings.timeout_s,
        name=name,
        sandbox=surroundings.sandbox,
        questions=surroundings.questions,
    )
    with telling():
        finished = process.run(command, cancel=surroundings.cancel)
        logs = written(finished.stderr, surroundings.secrets)
        if not finished.result:
            raise ended(name, logs)
        return answer(finished.result, logs, name=name, kit=kit)


@contextlib.contextmanager
def telling() -> Iterator[None]:
    """Let the sentence of a failure end in the last lines that the server wrote to its stderr."""
    try:
        yield
    except Interrupted:
        raise
    except VespeError as error:
        lines = str(error.details.get("stderr", "")).strip().splitlines()[-_SAID_LINES:]
        if lines:
            error.message += (": " if len(lines) == 1 else ":\n") + "\n".join(lines)[
                -_SAID_CHARACTERS:
            ]
        raise


def written(stderr: bytes, secrets: tuple[str, ...]) -> str:
    """Return what a server wrote to its stderr, without the values of secrets: of half a one
    nothing would be found later.
    """
    return str(redact(stderr.decode("utf-8", "replace"), secrets))


def argv(module: str, *, mark: str = "") -> tuple[str, ...]:
    """Return what starts one of the modules that hold a session, in an interpreter that knows
    nothing of this one's surroundings.

    `mark` stands before what it says of itself.
    """
    return (
        sys.executable,
        *_FLAGS,
        "-c",
        _START.replace("MODULE", module).replace("MARK", mark),
        _ROOT,
    )


def reach(server: Server, surroundings: Surroundings) -> JsonObject:
    """Say how to reach a server, as a session takes it on its stdin."""
    asks = {"asks": True} if surroundings.questions is not None else {}
    if server.handshake:
        asks["handshake"] = True
    if server.command:
        return {"command": list(server.command), "cwd": surroundings.directory, **asks}
    return {
        **asks,
        "url": server.url,
        "headers": dict(server.headers),
        "allow_hosts": list(surroundings.allow_hosts),
    }


def answer(data: bytes, logs: str, *, name: str, kit: str) -> SessionAnswer:
    """Read what a session told; raises as `ask` does."""
    try:
        document = strict_json.parse_object(data, limit=len(data))
    except InvalidDocument as error:
        raise InvalidOutput(
            f"the answer of the MCP server of {name} {error.reason}", details=_said(logs)
        ) from None
    if "error" in document:
        raise _error(document["error"], name, kit=kit, logs=logs)
    return SessionAnswer(document=document, logs=logs)


def of(name: str, kit: str) -> str:
    """Name a server by the tool that is called, and by the kit that says how it is reached."""
    return f"{name}, of the kit {kit}," if kit and kit != name else name


def ended(name: str, logs: str) -> ToolExecutionError:
    """Return the error of a session that ended without a word."""
    return ToolExecutionError(
        f"the session with the MCP server of {name} ended without an answer", details=_said(logs)
    )


def _error(error: JsonObject, name: str, *, kit: str, logs: str) -> VespeError:
    kind, message = error.get("kind"), str(error.get("message"))
    if kind == "missing":
        return MissingExtra("asking an MCP server", extra="mcp", module=message)
    if kind in ("changed", "gone"):
        hint = (
            f"`vespe kit add-mcp {kit} --update` shows what changed, and asks"
            if kit
            else "add the server as a kit, and review it there"
        )
        return Refused(
            f"{name} was not called, because its MCP server has changed: {message}", hint=hint
        )
    if kind == "needs_input":
        why = "its MCP server asks the user a question, but there is no one to ask here"
        return NeedsInput(f"{name} was not called: {why} ({message})")
    if kind == "asks":
        return NeedsInput(f"{name} {message}; its task was cancelled")
    if kind == "skill":
        return Refused(message, hint=mcp_skills.changed_hint(kit))
    if kind == "refused":
        return Refused(message, hint=str(error.get("hint", "")))
    sent = f"; {UNKNOWN}" if error.get("sent") else ""
    hint = ""
    if error.get("status") in (_UNAUTHORIZED, _FORBIDDEN):
        hint = (
            "it requires other credentials: pass --header 'Authorization: Bearer ${env:NAME}' "
            "to `vespe kit add-mcp`, and store the secret NAME"
        )
    said = f"the MCP server of {of(name, kit)} failed: {message}{sent}"
    if error.get("status") not in (_UNAUTHORIZED, _FORBIDDEN):
        plain = NoHandshake if error.get("no_handshake") else ToolExecutionError
        made = CouldNotAsk if error.get("unasked") else plain
        return made(said, hint=hint, details=_said(logs))
    is_unsent = error["status"] == _UNAUTHORIZED and not error.get("called")
    refused = (Unauthorized if is_unsent else AccessRefused)(said, hint=hint, details=_said(logs))
    refused.status, refused.challenge = error["status"], str(error.get("challenge", ""))
    return refused


def _said(logs: str) -> JsonObject:
    return {"stderr": logs[-2048:]} if logs else {}
