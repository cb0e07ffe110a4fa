"""The calls of a wrapped server, as they pass by: noted when they are asked, and logged when they
are answered.
"""

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from vespe.calls.log import CallLog
from vespe.calls.outcomes import failed
from vespe.errors import Interrupted, SessionEnded, ToolExecutionError, VespeError
from vespe.features.mcp.server.messages import messages_in, request_key
from vespe.models import JsonObject, JsonValue, Outcome, Tool
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.processes.sandbox.held import Policy

_MAX_OPEN: Final = 1000
"""Past so many calls without an answer, the one that was asked longest ago is no longer waited
for.
"""
_MAX_NAME: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    tool: Tool
    arguments: JsonValue
    began: float
    refusals: int


class WrappedCalls:
    """What a client asks of the server `name` and what it answers, a JSON-RPC line each; safe to
    share between two threads.
    """

    def __init__(
        self,
        log: CallLog,
        *,
        name: str,
        sandbox: "Policy | None" = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._log, self._name, self._sandbox, self._secrets = log, name, sandbox, secrets
        self._lock = threading.Lock()
        self._open: dict[str, _Open] = {}

    def hide(self, secret: str) -> None:
        """Keep another secret out of the log."""
        with self._lock:
            self._secrets = (*self._secrets, secret)

    def asked(self, line: bytes) -> None:
        """Note the calls, and their cancellations, in a line of the client's."""
        for message in messages_in(line):
            params = message.get("params")
            if not isinstance(params, dict):
                continue
            if (
                message.get("method") == "tools/call"
                and "id" in message
                and isinstance(params.get("name"), str)
            ):
                self._begin(request_key(message["id"]), params["name"], params.get("arguments", {}))
            elif message.get("method") == "notifications/cancelled":
                self._end(
                    request_key(params.get("requestId")), Interrupted("cancelled by the client")
                )

    def answered(self, line: bytes) -> None:
        """Log the calls that a line of the server's answers."""
        if not self._open:
            return
        for message in messages_in(line):
            if "method" not in message and "id" in message:
                self._end(request_key(message["id"]), _error(message))

    def close(self) -> None:
        """Log what has no answer, and close the log."""
        for key in list(self._open):
            self._end(
                key,
                SessionEnded(
                    "the server ended without an answer; it is not known whether the call took "
                    "effect"
                ),
            )
        self._log.close()

    def _begin(self, key: str, name: str, arguments: JsonValue) -> None:
        shown = name[:_MAX_NAME]
        tool = Tool(
            uid=f"{self._name}/{shown}",
            name=shown,
            description="",
            input_schema={},
            scope=self._name,
        )
        made = _Open(
            tool=tool,
            arguments=arguments,
            began=time.perf_counter(),
            refusals=len(self._refusals()),
        )
        with self._lock:
            if len(self._open) >= _MAX_OPEN:
                del self._open[next(iter(self._open))]
            self._open[key] = made

    def _end(self, key: str, error: VespeError | None) -> None:
        with self._lock:
            call = self._open.pop(key, None)
        if call is None:
            return
        notes = tuple(
            f"the sandbox did not let it reach {what}"
            for _, what in self._refusals()[call.refusals :]
        )
        held = self._sandbox.document if self._sandbox is not None else None
        made = _outcome(call, error, secrets=self._secrets)
        outcome = Outcome(
            tool=made.tool,
            uid=made.uid,
            error=made.error,
            duration_ms=made.duration_ms,
            notes=notes,
            sandbox=held,
        )
        self._log.append(call.tool, call.arguments, outcome=outcome, secrets=self._secrets)

    def _refusals(self) -> list[tuple[str, str]]:
        return self._sandbox.refusals if self._sandbox is not None else []


def _outcome(call: _Open, error: VespeError | None, *, secrets: tuple[str, ...]) -> Outcome:
    if error is not None:
        return failed(call.tool, error, secrets=secrets, started=call.began)
    return Outcome(
        tool=call.tool.name,
        uid=call.tool.uid,
        duration_ms=(time.perf_counter() - call.began) * 1000,
    )


def _error(answer: JsonObject) -> VespeError | None:
    """Return what an answer says that went wrong; None where the call succeeded."""
    error: Any = answer.get("error")
    if error is not None:
        return ToolExecutionError(
            str(error.get("message", error)) if isinstance(error, dict) else str(error)
        )
    result: Any = answer.get("result")
    if not isinstance(result, dict) or result.get("isError") is not True:
        return None
    content = result.get("content")
    texts = (
        [block.get("text") for block in content if isinstance(block, dict)]
        if isinstance(content, list)
        else []
    )
    said = "\n".join(text for text in texts if isinstance(text, str))
    return ToolExecutionError(said or "the tool reported a failure without a reason")
