"""The HTTP server of the protocol: its handlers behind the gate."""

import socket
from collections.abc import Callable

from vespe.features.mcp.server.calls_in_flight import MAX_CALLS
from vespe.features.mcp.server.http_gate import AccessPolicy, Gate
from vespe.features.mcp.server.http_handlers import Handlers, Served
from vespe.features.mcp.server.http_sessions import HttpSessions
from vespe.http import server


def serve_http(
    tools: Served,
    listener: socket.socket,
    policy: AccessPolicy,
    *,
    stateless: bool = False,
    max_calls: int = MAX_CALLS,
    tell: Callable[[str], None],
) -> None:
    """Serve until a signal ends it: then every call ends with its processes, and the signal is
    raised again.

    `tell` takes a line about each failure that no client is to blame for.
    """
    handlers = Handlers(tools, stateless=stateless, max_calls=max_calls)
    manager = handlers.manager()
    quick = handlers.quick()
    app = manager.handle_request if stateless else HttpSessions(manager.handle_request)  # type: ignore[arg-type]  # the SDK's types are Starlette's
    gate = Gate(app, policy, running=manager.run, quick=quick)  # type: ignore[arg-type]  # so are these
    server.serve(gate, listener, life=handlers, tell=tell, answering=gate.answer_short)
