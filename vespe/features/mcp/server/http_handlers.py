"""The protocol's own handlers on the official SDK's low-level server: the same answers as over
stdio, on streams of HTTP. Owns mcp.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent import futures
from functools import cache, partial
from typing import Any, Final, Protocol
from weakref import WeakSet

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ToolsListChanged,
)

from vespe import defaults
from vespe.features.mcp.server import protocol, tool_call
from vespe.features.mcp.server.calls_in_flight import MAX_CALLS
from vespe.features.mcp.server.http_gate import GONE, MAX_BODY_BYTES
from vespe.features.mcp.server.http_quick import Quick
from vespe.features.mcp.server.http_sessions import MAX_SESSIONS
from vespe.features.mcp.server.marks import Changes, Watched
from vespe.features.mcp.server.progress import Progress
from vespe.features.mcp.server.protocol import PendingCall
from vespe.models import JsonObject

WATCH_S: Final = 0.5
"""How often the files are looked at for changes that clients have subscribed to."""
_BEAT_S: Final = 0.5
_PATIENCE_S: Final = 5.0
_LEVEL: Final = "vespe.log_level"
_METHODS: Final[dict[str, Any]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "logging/setLevel": types.SetLevelRequestParams,
}
_NOTIFICATIONS: Final[dict[str, Any]] = {
    "notifications/progress": types.ProgressNotification,
    "notifications/message": types.LoggingMessageNotification,
}
_Context = ServerRequestContext[Any, Any]


class Served(protocol.ToolSource, tool_call.CallRunner, Watched, Protocol):
    """What is served: lists of tools and resources, calls, and whether there is something new."""

    def close(self) -> None:
        """End what calls have in common."""
        ...

    def input_schema(self, name: str) -> JsonObject | None:
        """Return the schema of a tool's inputs, None for a tool that is not known."""
        ...


class Handlers:
    """The served tools as an SDK server; `stateless` keeps nothing of a client between two
    requests, `max_calls` run at once.
    """

    def __init__(
        self, tools: Served, *, stateless: bool = False, max_calls: int = MAX_CALLS
    ) -> None:
        self._tools, self._stateless = tools, stateless
        self._limiter = anyio.CapacityLimiter(max_calls)
        self._bus = InMemorySubscriptionBus()
        self._clients: WeakSet[Any] = WeakSet()
        self._calls: set[threading.Event] = set()

    def manager(self) -> StreamableHTTPSessionManager:
        """Make the ASGI side of the server: one for each life of a process."""
        return StreamableHTTPSessionManager(
            self._server(),
            stateless=self._stateless,
            max_request_body_size=MAX_BODY_BYTES,
            max_sessions=MAX_SESSIONS,
        )

    def quick(self) -> Quick:
        """Make what answers requests that need no stream."""
        return Quick(
            self._tools, self._calls, partial(anyio.to_thread.run_sync, limiter=self._limiter)
        )

    async def watch(self) -> None:
        """Look for changes now and then, and tell of them; never returns."""
        changes = Changes(self._tools)
        while True:
            await anyio.sleep(WATCH_S)
            if await anyio.to_thread.run_sync(changes.look):
                await self._changed()

    async def _changed(self) -> None:
        """Tell every client that listens that the tools are other ones now."""
        await self._bus.publish(ToolsListChanged())
        await self._bus.publish(ResourcesListChanged())
        for client in list(self._clients):
            await client.send_tool_list_changed()
            await client.send_resource_list_changed()

    def stop(self) -> None:
        """End every call that runs, with its processes; each is answered as cancelled."""
        for cancel in tuple(self._calls):
            cancel.set()

    def close(self) -> None:
        """End what calls have in common, and wait for that: not in the thread of the event loop."""
        self._tools.close()

    @property
    def busy(self) -> bool:
        """Whether a call runs still."""
        return bool(self._calls)

    def _server(self) -> Server[Any]:
        server = _Announcing("vespe", version=defaults.VERSION)
        # Without it the SDK lists all tools before each call, to see what of its arguments is said
        # in headers too.
        server.get_tool_input_schema = self._tools.input_schema
        for method, params in _METHODS.items():
            server.add_request_handler(
                method, params, self._call if method == "tools/call" else self._answer
            )
        server.add_request_handler(
            "subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(self._bus)
        )
        server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._met
        )
        return server

    async def _met(self, context: _Context, _: Any) -> None:
        if (connection := connection_of(context.session)) is not None:
            self._clients.add(connection)

    async def _answer(self, context: _Context, _: Any) -> JsonObject:
        answer = await anyio.to_thread.run_sync(self._handled, context)
        if isinstance(answer, PendingCall):
            raise MCPError(code=types.INVALID_REQUEST, message="no such request")
        return _result(answer)

    async def _call(self, context: _Context, _: Any) -> JsonObject:
        pending = self._handled(context)
        if not isinstance(pending, PendingCall):
            return _result(pending)
        cancel = threading.Event()
        loop = asyncio.get_running_loop()
        self._calls.add(cancel)
        notify = partial(_notified, context, loop)
        told = None if pending.progress_token is None else Progress(pending.progress_token, notify)
        # Code of this process has this thread to itself, and is let be where its client goes:
        # another thread would only cost time.
        ending = None if self._tools.in_process(pending.name) else cancel
        work = partial(
            tool_call.run,
            pending,
            self._tools,
            cancel=ending,
            notify=notify,
            progress=told,
            transport="tcp",
        )
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancelled_when_gone, context, cancel)
                if told is not None:
                    tasks.start_soon(_beating, told)
                answer = await anyio.to_thread.run_sync(
                    self._finished, work, cancel, limiter=self._limiter, abandon_on_cancel=True
                )
                tasks.cancel_scope.cancel()
            return _result(answer)
        finally:
            cancel.set()

    def _finished(self, work: Callable[[], JsonObject], cancel: threading.Event) -> JsonObject:
        try:
            return work()
        finally:
            self._calls.discard(cancel)

    def _handled(self, context: _Context) -> protocol.Handled:
        session = protocol.ProtocolSession()
        session.initialized, session.revision = True, context.protocol_version
        kept: dict[str, Any] = getattr(connection_of(context.session), "state", {})
        session.log_level = kept.get(_LEVEL)
        request = {
            "jsonrpc": "2.0",
            "id": context.request_id,
            "method": context.method,
            "params": dict(context.params or {}),
        }
        answer = protocol.handle(request, session, self._tools)
        kept[_LEVEL] = session.log_level
        return answer


class _Announcing(Server[Any]):
    """Says to every client that lists may change: clients of the older revisions only listen where
    that is said.
    """

    def create_initialization_options(
        self, *arguments: Any, **options: Any
    ) -> InitializationOptions:
        options["notification_options"] = NotificationOptions(
            tools_changed=True, resources_changed=True
        )
        return super().create_initialization_options(*arguments, **options)


@cache
def _warn_once(missing: str) -> None:
    said = (
        "this version of the SDK keeps %s elsewhere: clients of the older revisions hear of no "
        "changes, and set no level of log messages"
    )
    logging.getLogger("mcp").error(said, missing)


def connection_of(session: Any) -> Any:
    """Return what alone outlives a request of a client: where its log level is kept, and where a
    message for no request goes.

    The SDK has no public name for it: a handler is given the session of one request
    (https://github.com/modelcontextprotocol/python-sdk/blob/main/src/mcp/server/context.py). None,
    and one line of an error, where a later version has another private one.
    """
    connection = getattr(session, "_connection", None)
    if not isinstance(getattr(connection, "state", None), dict) or not hasattr(
        connection, "send_tool_list_changed"
    ):
        _warn_once("a client's connection")
        return None
    return connection


def _result(answer: protocol.Handled) -> JsonObject:
    """Return the result of an answer; raises MCPError for one that is an error."""
    if not isinstance(answer, dict):
        raise MCPError(code=types.INVALID_REQUEST, message="no such request")
    if error := answer.get("error"):
        raise MCPError(code=error["code"], message=error["message"], data=error.get("data"))
    result: JsonObject = answer["result"]
    return result


def _notified(context: _Context, loop: asyncio.AbstractEventLoop, message: JsonObject) -> None:
    """Send a message to the stream of the request that it belongs to, from the thread of a call,
    before anything that follows.
    """
    sent = asyncio.run_coroutine_threadsafe(_sent(context, message), loop)
    # A client that reads nothing, or has gone, misses it; the call goes on.
    futures.wait((sent,), timeout=_PATIENCE_S)


async def _beating(told: Progress) -> None:
    while True:
        await anyio.sleep(_BEAT_S)
        await anyio.to_thread.run_sync(told.beat)


async def _sent(context: _Context, message: JsonObject) -> None:
    notification = _NOTIFICATIONS[message["method"]].model_validate(message)
    await context.session.send_notification(notification, related_request_id=context.request_id)


async def _cancelled_when_gone(context: _Context, cancel: threading.Event) -> None:
    gone = context.request.scope.get(GONE) if context.request is not None else None
    if gone is not None:
        await gone.wait()
        cancel.set()
