"""Tasks of MCP servers (SEP-2663), seen from the client: a call that is answered with a task is
asked about until it is over, within the deadline of the call.
"""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, Literal

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ElicitationFnT
from pydantic import Field

from vespe.errors import NeedsInput
from vespe.models import JsonObject

_ID: Final = "io.modelcontextprotocol/tasks"
_POLL_S: Final = 1.0
_LEAST_S: Final = 0.05
_MOST_S: Final = 5.0
"""How often a task is asked about: as its server suggests, within these."""
_CANCEL_S: Final = 0.8
"""How long the server may take to read that its task is cancelled: less than a channel waits for a
call to end.
"""
_SHOWN: Final = 500
_UNKNOWN: Final = "it is not known whether the call took effect"


class _CreatedTask(types.Result):
    """The answer to a call that has become a task."""

    result_type: Literal["task"] = Field(alias="resultType")
    task_id: str = Field(alias="taskId")


class _Said(types.Result, extra="allow"):
    """What a request about a task is answered with."""


class _TaskRequest(types.Request[dict[str, Any], str]):
    name_param = "taskId"


class ServerTasks(ClientExtension):
    """Declares tasks to a server, and waits for those that it makes. `asked` asks a person what a
    task asks. `ends_by_signal` is for a process that makes one call, and is ended by SIGTERM: the
    task is cancelled first.
    """

    identifier = _ID

    def __init__(self, asked: ElicitationFnT | None, *, ends_by_signal: bool = False) -> None:
        self._asked, self._ends_by_signal = asked, ends_by_signal

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Return the answer that is a task."""
        return (ResultClaim(result_type="task", model=_CreatedTask, resolve=self._resolve),)

    async def _resolve(self, created: _CreatedTask, context: ClaimContext) -> types.CallToolResult:
        """Wait until a task is over, and return its result; where that is not waited for any more,
        the task is cancelled.
        """

        async def send(method: str, **params: Any) -> JsonObject:
            request = _TaskRequest(
                method=f"tasks/{method}", params={"taskId": created.task_id, **params}
            )
            return (await context.session.send_request(request, _Said)).model_extra or {}

        is_over = False
        try:
            with _ended_by_signal() if self._ends_by_signal else contextlib.nullcontext():
                ended = await self._ended(send)
            is_over = True
        finally:
            if not is_over:
                with anyio.move_on_after(_CANCEL_S, shield=True), contextlib.suppress(Exception):
                    await send("cancel")
        return _result(ended)

    async def _ended(self, send: Callable[..., Awaitable[JsonObject]]) -> JsonObject:
        answered: set[str] = set()
        while True:
            try:
                task = await send("get")
            except MCPError as error:
                if error.code != types.INVALID_PARAMS:
                    raise
                said = str(error)[:_SHOWN]
                raise RuntimeError(
                    f"the server does not know its own task any more ({said}); {_UNKNOWN}"
                ) from None
            if task.get("status") in ("completed", "failed", "cancelled"):
                return task
            replies = {}
            if task.get("status") == "input_required":
                replies = await self._replies(task.get("inputRequests"), answered)
            if replies:
                await send("update", inputResponses=replies)
                answered.update(replies)
            else:
                await anyio.sleep(_interval(task.get("pollIntervalMs")))

    async def _replies(self, requests: Any, answered: set[str]) -> JsonObject:
        """Ask the person what a task asks and was not answered yet, one question after another."""
        replies: JsonObject = {}
        for key, request in requests.items() if isinstance(requests, dict) else ():
            if key in answered:
                continue
            method = request.get("method") if isinstance(request, dict) else None
            if method != "elicitation/create":
                raise RuntimeError(f"its task asks for {str(method)[:80]!r}, which no client gives")
            if self._asked is None:
                raise NeedsInput("asks the user a question, but there is no one to ask here")
            asked = types.ElicitRequest.model_validate(request, by_name=False)
            context: Any = None  # nothing of it is read
            reply = await self._asked(context, asked.params)
            if isinstance(reply, types.ErrorData):
                raise RuntimeError(reply.message)
            replies[key] = reply.model_dump(mode="json", by_alias=True, exclude_none=True)
        return replies


def _interval(said: object) -> float:
    if isinstance(said, bool) or not isinstance(said, int | float):
        return _POLL_S
    return min(max(said / 1000, _LEAST_S), _MOST_S)


def _result(task: JsonObject) -> types.CallToolResult:
    if task["status"] == "completed":
        return types.CallToolResult.model_validate(task.get("result"), by_name=False)
    if task["status"] == "cancelled":
        raise RuntimeError("its task was cancelled by the server")
    error = task.get("error")
    said = error.get("message") if isinstance(error, dict) else None
    raise RuntimeError(f"its task failed: {str(said or task.get('statusMessage'))[:_SHOWN]}")


@contextlib.contextmanager
def _ended_by_signal() -> Iterator[None]:
    """Let SIGTERM cancel what runs within."""
    loop, here = asyncio.get_running_loop(), asyncio.current_task()
    assert here is not None
    loop.add_signal_handler(signal.SIGTERM, here.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
