"""An answer over HTTP: JSON where it comes soon and alone, else events."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from vespe.features.mcp.server import http_exchange
from vespe.features.mcp.server.http_exchange import Exchange
from vespe.models import JsonObject

NOTE: JsonObject = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "ü"}}
ANSWER: JsonObject = {"jsonrpc": "2.0", "id": 1, "result": {}}


def delivered(work: Callable[[Exchange], Any], *, at_once: bool = False) -> tuple[str, str]:
    """Return the content type and the body of what an exchange sends while `work` runs in another
    thread.
    """
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def whole() -> None:
        exchange = Exchange()
        working = asyncio.create_task(asyncio.to_thread(work, exchange))
        await exchange.deliver(send, [], status=lambda _: 200, at_once=at_once)
        await working

    asyncio.run(whole())
    if not sent:
        return "", ""
    assert not sent[-1].get("more_body")
    body = b"".join(message.get("body", b"") for message in sent).decode()
    return dict(sent[0]["headers"])[b"content-type"].decode(), body


def test_an_answer_alone_is_json() -> None:
    kind, body = delivered(lambda exchange: exchange.finish(ANSWER))
    assert (kind, body) == ("application/json", '{"jsonrpc":"2.0","id":1,"result":{}}')


def test_what_was_told_before_the_answer_makes_it_a_stream_in_that_order() -> None:
    def work(exchange: Exchange) -> None:
        exchange.tell(NOTE)
        exchange.tell(NOTE)
        exchange.finish(ANSWER)

    kind, body = delivered(work)
    events = body.split("\n\n")
    assert kind == "text/event-stream" and [event.count('"method"') for event in events[:-1]] == [
        1,
        1,
        0,
    ]
    assert events[0].startswith("event: message\ndata: {") and '"data":"ü"' in events[0]
    assert events[2].endswith('"result":{}}') and events[3] == ""


def test_a_late_answer_is_a_stream() -> None:
    late = threading.Event()

    def work(exchange: Exchange) -> None:
        late.wait(http_exchange.JSON_S * 10)
        exchange.finish(ANSWER)

    kind, body = delivered(work)
    assert kind == "text/event-stream" and body.count("data: ") == 1


def test_a_stream_can_end_without_an_answer_and_begins_before_there_is_anything() -> None:
    assert delivered(lambda exchange: exchange.finish(None), at_once=True) == (
        "text/event-stream",
        "",
    )


def test_nothing_is_sent_to_a_client_that_has_gone() -> None:
    def work(exchange: Exchange) -> None:
        exchange.leave()
        exchange.tell(NOTE)

    assert delivered(work) == ("", "")


def test_what_a_client_does_not_read_is_bounded_and_keeps_no_call_for_ever() -> None:
    large = NOTE | {"params": {"data": "x" * 700_000}}

    async def whole() -> None:
        exchange = Exchange()
        for _ in range(4):  # in the thread of the event loop, which never waits
            exchange.tell(large)
        assert sum(map(len, exchange._taken())) < 2_000_000
        exchange.tell(large)
        exchange.tell(large)
        told = asyncio.create_task(asyncio.to_thread(exchange.tell, NOTE))
        await asyncio.sleep(0.05)
        assert not told.done()
        exchange._taken()
        await asyncio.wait_for(told, 30)
        assert len(exchange._taken()) == 1

    asyncio.run(whole())
