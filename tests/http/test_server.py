"""A server's socket: what it refuses, and how soon it answers. What it does to slow clients: tests/mcp_server/test_http_server.py."""

import asyncio
import socket

import pytest

from vespe.errors import StorageError
from vespe.http import server


def test_a_port_that_is_taken_is_a_sentence() -> None:
    with server.bound("127.0.0.1", 0) as first, pytest.raises(StorageError, match="listen on"):
        server.bound("127.0.0.1", first.getsockname()[1])


def test_what_is_answered_is_sent_at_once_and_waits_for_no_acknowledgement() -> None:
    async def accepted() -> int:
        listener, opened = server.bound("127.0.0.1", 0), asyncio.get_running_loop().create_future()
        async with await asyncio.start_server(lambda _, writer: opened.set_result(writer), sock=listener):
            _, client = await asyncio.open_connection(*listener.getsockname())
            writer: asyncio.StreamWriter = await opened
            known: int = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            writer.close()
            client.close()
            return known

    assert asyncio.run(accepted())
