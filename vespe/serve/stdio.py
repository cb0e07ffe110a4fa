"""MCP over stdin and stdout: one JSON-RPC message a line."""

import sys

from vespe import documents
from vespe.errors import InvalidDocument
from vespe.serve import messages, protocol, running
from vespe.serve.tools import ServedTools


def serve_stdio(tools: ServedTools) -> None:
    """Serve until stdin ends."""
    session = protocol.Session()
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            message = documents.parse_json(line)
        except InvalidDocument as error:
            send(messages.failed(None, messages.PARSE_ERROR, f"the line {error.reason}"))
            continue
        answer = protocol.handle(message, session, tools)
        if isinstance(answer, protocol.PendingCall):
            answer = running.run(answer, tools, notify=send)
        if isinstance(answer, dict):
            send(answer)


def send(message: dict) -> None:  # type: ignore[type-arg]
    sys.stdout.buffer.write(documents.compact_json(message).encode() + b"\n")
    sys.stdout.buffer.flush()
