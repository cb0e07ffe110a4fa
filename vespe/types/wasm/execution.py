"""Run a module of WebAssembly that is a WASI command: its arguments are JSON on stdin, its result
is JSON on stdout.
"""

import functools
import hashlib
import os
import time
from typing import Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import (
    Interrupted,
    InvalidDocument,
    InvalidOutput,
    InvalidTool,
    MissingExtra,
    OutputTooLarge,
    StorageError,
    TimedOut,
    ToolExecutionError,
    VespeError,
)
from vespe.files import atomic
from vespe.files.stamps import Stamp, are_settled, stamp
from vespe.models import Execution, JsonObject, Tool
from vespe.processes.answering import NoAnswer, ProcessAnswer
from vespe.tool_types import Context, Executor
from vespe.tools import built
from vespe.tools.permissions import permissions_of
from vespe.tools.templates import substitute_secrets
from vespe.types.wasm import workers
from vespe.types.wasm.directories import given_directories

MEMORY_MB: Final = 64
_MOST_MB: Final = 4096
"""More has no address: a module counts its bytes in 32 bits."""
_LATE_S: Final = 0.04
"""How long after the deadline a worker may still say that it stopped the module; one that is busy
with itself is killed.
"""
_MOST_KNOWN: Final = 1000


class WasmModule:
    """`wasm`: the module `path`, given the inputs and the fixed `args` as one object.

    Each call gets a fresh instance in a worker process of its own: no network, no environment, no
    files but those of its `permissions`. It has `permissions.memory_mb` of memory (64 by default),
    and ends at the deadline.
    """

    def __init__(self) -> None:
        self._digests: dict[str, tuple[Stamp, str]] = {}

    def module_of(self, tool: Tool) -> str:
        """Return the module's path in the tool's directory."""
        return str(tool.implementation.path) if tool.implementation else ""

    def plan(self, tool: Tool, inputs: JsonObject, context: Context) -> JsonObject:
        """Return `module` (its path), `stdin` (the arguments) and `memory_mb`; secrets stand as
        `${env:NAME}`.
        """
        args = tool.implementation.args if tool.implementation else {}
        return {
            "module": self._path(tool, context),
            "stdin": {**inputs, **args},
            "memory_mb": _memory_mb(tool),
        }

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Run the module to its end; what it writes to stderr is the log.

        Raises MissingExtra, ToolExecutionError (no module, one that cannot run, a trap, an exit
        status other than 0), InvalidOutput, OutputTooLarge, TimedOut, Interrupted, StorageError.
        """
        until = time.monotonic() + context.timeout_s
        path = self._path(tool, context)
        args = substitute_secrets(
            tool.implementation.args if tool.implementation else {}, context.secrets
        )
        request = {
            "name": tool.name,
            "stdin": strict_json.compact_json({**inputs, **args}).encode("utf-8"),
            "memory": _memory_mb(tool) * 1024 * 1024,
            "cap": defaults.LARGER_CAP_BYTES,
            "directories": given_directories(tool, context),
        }
        head, answer = self._asked(request, path, until, context, tool.name)
        return _execution(head, answer, tool, context)

    def _asked(
        self, request: JsonObject, path: str, until: float, context: Context, name: str
    ) -> tuple[JsonObject, ProcessAnswer]:
        """Have a worker run it."""
        with workers.borrow() as (worker, _):
            digest = self._digest(path, name)
            code = (
                None
                if digest in worker.knows
                else atomic.read_bytes(path, limit=built.MAX_MODULE_BYTES)
            )
            request |= {
                "module": hashlib.sha256(code).hexdigest() if code else digest,
                "code": code,
            }
            request["timeout_s"] = max(until - time.monotonic(), 0.0)
            try:
                return worker.ask(request, until=until + _LATE_S, cancel=context.cancel)
            except NoAnswer as none:
                raise _unanswered(none, name, context) from None

    def _path(self, tool: Tool, context: Context) -> str:
        name = self.module_of(tool)
        if not _is_inside(name):
            raise InvalidTool(
                tool.uid,
                [f"`path` {name} leads out of the tool's directory"],
                path=context.directory,
            )
        return os.path.join(context.directory, os.path.normpath(name))

    def _digest(self, path: str, name: str) -> str:
        """Return the digest of a module; read again only where the file is another."""
        found = stamp(path)
        if (known := self._digests.get(path)) is not None and known[0] == found:
            return known[1]
        try:
            digest = hashlib.sha256(
                atomic.read_bytes(path, limit=built.MAX_MODULE_BYTES)
            ).hexdigest()
        except (InvalidDocument, StorageError) as error:
            raise self._unreadable(path, error, name) from None
        if are_settled((found,)):
            if len(self._digests) >= _MOST_KNOWN:
                self._digests.clear()
            self._digests[path] = (found, digest)
        return digest

    def _unreadable(self, path: str, error: VespeError, name: str) -> ToolExecutionError:
        """Return the error for a module that cannot be read."""
        file = os.path.basename(path)
        if os.path.lexists(path):
            return ToolExecutionError(f"{file} cannot be read: {error}")
        return ToolExecutionError(
            f"{name} is not compiled: there is no {file}",
            hint=f"`vespe tool build {name}` compiles it",
        )


class RustFunction(WasmModule):
    """`rust_function`: the function `entrypoint` of the Rust source `path`, as `vespe tool build`
    compiled it to tool.wasm.
    """

    def module_of(self, tool: Tool) -> str:
        """Return the module's path in the tool's directory: what was built, never the source."""
        return built.MODULE


WASM_MODULE: Final[Executor] = WasmModule()
RUST_FUNCTION: Final[Executor] = RustFunction()


@functools.lru_cache
def _is_inside(name: str) -> bool:
    path = os.path.normpath(name)
    return not os.path.isabs(path) and path.split(os.sep)[0] not in ("..", ".")


def _memory_mb(tool: Tool) -> int:
    stated = permissions_of(tool.permissions).memory_mb if "memory_mb" in tool.permissions else None
    return min(stated or MEMORY_MB, _MOST_MB)


def _unanswered(none: NoAnswer, name: str, context: Context) -> VespeError:
    said = _details(none.logs.decode("utf-8", "replace"))
    if none.reason == "late":
        late = TimedOut(name, seconds=context.timeout_s)
        late.details |= said
        return late
    if none.reason == "cancelled":
        return Interrupted(f"{name} was cancelled and has been ended", details=said)
    return ToolExecutionError(f"the worker that ran {name} ended without an answer", details=said)


def _execution(head: JsonObject, answer: ProcessAnswer, tool: Tool, context: Context) -> Execution:
    logs, kind = answer.logs.decode("utf-8", "replace"), head["kind"]
    if kind == "missing":
        raise MissingExtra("a compiled tool", extra="wasm", module="wasmtime")
    if kind == "late":
        raise _unanswered(NoAnswer("late", answer.logs), tool.name, context)
    if kind == "large":
        size, cap = head.get("bytes", len(answer.body)), defaults.LARGER_CAP_BYTES
        details = {"bytes": size, "cap_bytes": cap, "stream": "stdout"}
        raise OutputTooLarge(
            f"{tool.name} wrote more than {cap} bytes as its result and was ended",
            kept=answer.body,
            details=details,
        )
    if kind == "broken":
        raise ToolExecutionError(f"the module {head['message']}", details=_details(logs))
    if kind == "trap":
        frames = {"frames": head["frames"]} if head.get("frames") else {}
        place = f" (in {head['frames'][0]})" if frames else ""
        raise ToolExecutionError(
            f"the module was stopped: {head['message']}{place}{_panic(logs)}",
            details=_details(logs) | frames,
        )
    if head["status"]:
        last = logs.strip().rpartition("\n")[2]
        said = f"{tool.name} ended with status {head['status']}" + (f": {last}" if last else "")
        raise ToolExecutionError(
            last if head["status"] == 1 and last else said, details=_details(logs, head["status"])
        )
    return Execution(result=_result(answer.body, logs), logs=logs)


def _panic(logs: str) -> str:
    """Return what a program in Rust said of its panic, which is a trap like any other: newer ones
    say why on a line of its own.
    """
    lines = logs.splitlines()
    at = next((index for index, line in enumerate(lines) if " panicked at " in line), None)
    return (
        ""
        if at is None
        else "; "
        + " ".join(line for line in lines[at : at + 2] if not line.startswith("note:"))[:400]
    )


def _result(body: bytes, logs: str) -> object:
    if not body.strip():
        raise InvalidOutput(
            "the module wrote no result: it must write one JSON value to its standard output",
            details=_details(logs),
        )
    try:
        return strict_json.parse_json(body, limit=len(body))
    except InvalidDocument as error:
        raise InvalidOutput(
            f"the result {error.reason}", details=_details(logs, pointer=error.pointer)
        ) from None


def _details(logs: str, exit_status: int | None = None, *, pointer: str = "") -> JsonObject:
    said: JsonObject = {"logs": logs[-4096:]} if logs else {}
    return (
        said
        | ({"exit_status": exit_status} if exit_status is not None else {})
        | ({"pointer": pointer} if pointer else {})
    )
