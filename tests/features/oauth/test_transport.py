"""What the requests of a login go through."""

import asyncio
import threading

import httpx2
import pytest

from tests.support.loopback import Exchange, Loopback
from vespe import errors
from vespe.features.oauth.transport import MAX_BYTES, JudgedTransport


def sent(url: str, *, allow: tuple[str, ...] = (), cancel: bool = False) -> httpx2.Response:
    ending = threading.Event()
    if cancel:
        ending.set()

    async def send() -> httpx2.Response:
        transport = JudgedTransport(allow, cancel=ending)
        async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
            return await client.get(url, headers={"x-asked": "yes"})

    return asyncio.run(send())


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_private_address_is_reached_only_where_the_user_allows_it(host: str) -> None:
    heard: list[bytes] = []

    def listen(exchange: Exchange) -> bool:
        heard.append(exchange.raw)
        return exchange.reply(b"{}")

    with Loopback(listen) as server:
        url = server.url("/x", host=host)
        with pytest.raises(errors.AddressRefused):
            sent(url)
        assert not heard
        assert sent(url, allow=(host,)).status_code == 200
    assert b"x-asked: yes" in heard[0].lower()


def test_http_is_for_hosts_that_the_user_allows() -> None:
    with pytest.raises(errors.Refused, match="without https"):
        sent("http://login.example.com/token")


def test_a_body_has_a_bound_and_a_stream_of_events_is_not_waited_for() -> None:
    def listen(exchange: Exchange) -> bool:
        if exchange.target == "/events":
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            return exchange.trickle(b": x\n", 0.05)
        return exchange.reply(b" " * (MAX_BYTES + 1))

    with Loopback(listen) as server:
        with pytest.raises(errors.OutputTooLarge, match="a few kilobytes are usual"):
            sent(server.url("/large"), allow=("127.0.0.1",))
        assert sent(server.url("/events"), allow=("127.0.0.1",)).status_code == 200


def test_a_login_that_was_ended_sends_nothing_more() -> None:
    with (
        Loopback(lambda exchange: exchange.reply(b"{}")) as server,
        pytest.raises(errors.Interrupted),
    ):
        sent(server.url("/"), allow=("127.0.0.1",), cancel=True)
