"""The HTTP server of the protocol: its endpoint behind the gate."""

import socket
from collections.abc import Callable

from vespe.features.mcp.server.calls_in_flight import MAX_CALLS
from vespe.features.mcp.server.http_endpoint import Endpoint, Served
from vespe.features.mcp.server.http_gate import AccessPolicy, Gate
from vespe.features.mcp.server.served_client import ServedClient
from vespe.features.mcp.server.shared_handles import SharedHandles
from vespe.features.mcp.server.task_calls import calls_of
from vespe.files.digests import sha256
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

    Without a session a client is whoever has the token: what it was given by one server for this
    project holds at another with the same token. `tell` takes a line about each failure that no
    client is to blame for.
    """
    if policy.token is not None and (tasks := calls_of(tools)) is not None:
        tasks.bind(policy.token)
    whoever = sha256(f"{tools.root}\0{policy.token or ''}".encode()).hexdigest()
    client = ServedClient(whoever, known=SharedHandles(whoever))
    endpoint = Endpoint(tools, stateless=stateless, max_calls=max_calls, client=client)
    gate = Gate(endpoint, policy)
    server.serve(gate, listener, life=endpoint, tell=tell, answering=gate.answer_short)
