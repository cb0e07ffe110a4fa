"""Endpoints on loopback that fail in every way: what is tried again, what never, when it ends, and
that no key is told.
"""

import contextlib
import json
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.features.agents.providers.serving import (
    CHUNKS,
    HELLO,
    KEY,
    KINDS,
    QUICK,
    USER,
    asking,
    chunked,
    compressed,
    cut,
    hang_up,
    in_turn,
    said,
    stalled,
    unframed,
)
from tests.features.agents.providers.serving import stream as streaming
from tests.support.loopback import Exchange, Loopback
from tests.support.systems import NO_NETWORK, refusing
from vespe.adapters.streams.base import StreamEvent
from vespe.errors import Interrupted, ProviderError, Refused, TimedOut
from vespe.features.agents.providers import endpoint
from vespe.features.agents.providers.endpoint_provider import EndpointProvider
from vespe.features.agents.providers.ollama import OllamaProvider
from vespe.features.agents.providers.openai import OpenAIProvider
from vespe.features.agents.providers.retries import Patience

RECORDINGS = Path(__file__).parents[3] / "cases" / "streams"
STREAMS = {
    "openai": (
        RECORDINGS
        / "openai-raw-stream-capture-matrix-chat-tool-call-stream-raw-round-trips-typed.sse"
    ).read_bytes(),
    "anthropic": (RECORDINGS / "anthropic-anthropic-tool-no-args.sse").read_bytes(),
    "ollama": (RECORDINGS / "ollama-test-chat-with-tool-call.ndjson").read_bytes(),
}
ERROR = {"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}
BODY = json.dumps(HELLO).encode()


def cuts(body: bytes) -> list[int]:
    """Give where to break a body off: around each end of a line, everywhere near both its ends, and
    at each 13th byte.
    """
    lines = {match.start() + near for match in re.finditer(rb"\n", body) for near in (0, 1)}
    return sorted(
        (lines | {*range(1, 20), *range(len(body) - 20, len(body)), *range(1, len(body), 13)})
        - {0, len(body)}
    )


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_passing_failure_is_tried_again(status: int) -> None:
    with asking(in_turn(said(ERROR, status=status), said(ERROR, status=status), said(HELLO))) as (
        provider,
        server,
    ):
        assert provider.create_message(USER)["content"] == "Hello"
        assert len(server.requests) == 3
        assert len(set(server.requests)) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_failure_that_stays_is_not_tried_again(status: int) -> None:
    with asking(said(ERROR, "X-Request-Id: req_7", status=status)) as (provider, server):
        with pytest.raises(
            ProviderError,
            match=rf"(?m)^openai answered with status {status}: slow down \(request req_7\)$",
        ) as caught:
            provider.create_message(USER)
        assert len(server.requests) == 1
    error = caught.value
    assert (error.status, error.vendor_code, error.request_id, error.transient) == (
        status,
        "rate_limit_exceeded",
        "req_7",
        False,
    )


def test_p40c_a_storm_of_429_ends_after_as_many_retries_as_were_allowed() -> None:
    with asking(said(ERROR, "Retry-After: 0", status=429)) as (provider, server):
        with pytest.raises(ProviderError, match="status 429: slow down") as caught:
            provider.create_message(USER)
        assert len(server.requests) == 1 + QUICK.retries
    assert caught.value.transient


def test_p40c_an_endpoint_that_asks_for_a_longer_wait_than_the_cap_is_not_asked_again() -> None:
    with asking(said(ERROR, "Retry-After: 3600", status=429)) as (provider, server):
        with pytest.raises(ProviderError, match="status 429") as caught:
            provider.create_message(USER)
        assert len(server.requests) == 1
    assert (caught.value.retry_after_s, caught.value.hint) == (3600.0, "it asks to wait 3600 s")


def test_an_endpoint_that_says_not_to_try_again_is_not_asked_again() -> None:
    with asking(said(ERROR, "x-should-retry: false", status=503)) as (provider, server):
        with pytest.raises(ProviderError, match="status 503"):
            provider.create_message(USER)
        assert len(server.requests) == 1


def test_a_connection_that_breaks_before_the_first_byte_is_tried_again() -> None:
    with asking(in_turn(hang_up, cut(BODY, 0, "application/json"), said(HELLO))) as (
        provider,
        server,
    ):
        assert provider.create_message(USER)["content"] == "Hello"
        assert len(server.requests) == 3


@pytest.mark.parametrize("at", [1, 40, len(CHUNKS) - 1])
def test_p40c_nothing_is_tried_again_once_the_first_byte_has_come(at: int) -> None:
    events: list[StreamEvent] = []
    with asking(cut(CHUNKS, at)) as (provider, server):
        with pytest.raises(
            ProviderError, match=rf"^openai closed the connection after {at} bytes of its answer: "
        ) as caught:
            provider.create_message(USER, on_event=events.append)
        assert len(server.requests) == 1
    assert caught.value.transient


@pytest.mark.parametrize("api", STREAMS)
def test_p40c_a_recording_cut_anywhere_is_an_error_after_one_request(api: str) -> None:
    body, places = STREAMS[api], cuts(STREAMS[api])
    at = iter(places)
    with asking(lambda exchange: cut(body, next(at), KINDS[api])(exchange), api) as (
        provider,
        server,
    ):
        for _ in places:
            with pytest.raises(ProviderError, match="closed the connection after"):
                provider.create_message(USER, on_event=lambda event: None)
        assert len(server.requests) == len(places) > 50


@pytest.mark.parametrize("api", STREAMS)
def test_every_cut_of_a_body_whose_end_nobody_announced_is_an_error_or_the_whole_answer(
    api: str,
) -> None:
    body = STREAMS[api]
    places = [len(body), *cuts(body)]
    at = iter(places)
    answers = []
    with asking(lambda exchange: unframed(body[: next(at)], KINDS[api])(exchange), api) as (
        provider,
        _,
    ):
        for _ in places:
            with contextlib.suppress(ProviderError):
                answers.append(provider.create_message(USER, on_event=lambda event: None))
    for answer in answers:
        for call in answer.get("tool_calls", ()):
            del call["id"]
    assert 1 <= len(answers) < len(places) / 2 and all(answer == answers[0] for answer in answers)


def test_kept_connections_are_used_again() -> None:
    with asking(
        in_turn(said(HELLO), streaming(CHUNKS), chunked(CHUNKS), compressed(CHUNKS), said(HELLO))
    ) as (provider, server):
        for streamed in (False, True, True, True, False):
            assert (
                provider.create_message(USER, on_event=(lambda event: None) if streamed else None)[
                    "content"
                ]
                == "Hello"
            )
        assert (len(server.requests), server.connections) == (5, 1)


def test_a_kept_connection_that_ended_meanwhile_is_replaced_at_once() -> None:
    def once(exchange: Exchange) -> bool:
        return (
            False
            if exchange.server.answered.setdefault(exchange.connection, False)
            else bool(_answer(exchange))
        )

    def _answer(exchange: Exchange) -> bool:
        exchange.server.answered[exchange.connection] = True
        return exchange.reply(BODY)

    with asking(once, patience=Patience(retries=1, backoff_s=60, total_s=20)) as (provider, server):
        for _ in range(3):
            assert provider.create_message(USER)["content"] == "Hello"
        assert server.connections == 3


def test_a_silence_ends_at_the_stall_deadline() -> None:
    told = r"the request to 127\.0\.0\.1:\d+ brought nothing within 0\.3 s and was ended"
    with (
        asking(stalled(CHUNKS, 10), patience=Patience(stall_s=0.3, total_s=20)) as (provider, _),
        pytest.raises(TimedOut, match=told) as caught,
    ):
        provider.create_message(USER, on_event=lambda event: None)
    assert "endpoint may be overloaded" in caught.value.hint


def test_the_time_that_a_caller_takes_between_two_pieces_is_no_silence() -> None:
    with asking(streaming(CHUNKS), patience=Patience(stall_s=0.3, total_s=20)) as (provider, _):
        assert (
            provider.create_message(USER, on_event=lambda event: time.sleep(0.4))["content"]
            == "Hello"
        )


def test_a_drip_ends_at_the_total_deadline() -> None:
    def drip(exchange: Exchange) -> bool:
        exchange.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
            b"chunked\r\n\r\n"
        )
        return exchange.trickle(b"1\r\n:\r\n", 0.02)

    with (
        asking(drip, patience=Patience(stall_s=5, total_s=0.5)) as (provider, _),
        pytest.raises(TimedOut, match=r"0\.5 s"),
    ):
        provider.create_message(USER, on_event=lambda event: None)


def cancelled_soon() -> threading.Event:
    event = threading.Event()
    threading.Timer(0.2, event.set).start()
    return event


@pytest.mark.parametrize(
    "answer",
    [stalled(CHUNKS, 10), stalled(CHUNKS, 0), lambda exchange: exchange.server.stopping.wait()],
)
def test_cancelling_ends_a_stalled_read_at_once(answer: object) -> None:
    with asking(answer) as (provider, _), pytest.raises(Interrupted):  # type: ignore[arg-type]  # a lambda among handlers
        provider.create_message(USER, on_event=lambda event: None, cancel=cancelled_soon())


def test_cancelling_ends_the_wait_between_two_tries_at_once() -> None:
    with asking(said(ERROR, "Retry-After: 15", status=429)) as (provider, server):
        with pytest.raises(Interrupted):
            provider.create_message(USER, cancel=cancelled_soon())
        assert len(server.requests) == 1


def test_a_request_that_is_cancelled_already_is_never_sent() -> None:
    event = threading.Event()
    event.set()
    with asking(said(HELLO)) as (provider, server):
        with pytest.raises(Interrupted):
            provider.create_message(USER, cancel=event)
        assert server.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_p40b_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(status: int) -> None:
    with Loopback() as other:
        with asking(said({}, f"Location: {other.url('/echo')}", status=status)) as (
            provider,
            server,
        ):
            with pytest.raises(ProviderError, match=f"status {status}") as caught:
                provider.create_message(USER)
            assert len(server.requests) == 1
        assert (other.connections, "does not follow redirects" in caught.value.hint) == (0, True)


def everything(error: ProviderError) -> str:
    return (
        f"{error!r} {error} {error.hint} {error.details} {error.__cause__!r} {error.__context__!r}"
    )


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        f"Bearer {KEY}",
        KEY.encode().hex(),
        KEY.replace("-", "%2D"),
        json.dumps({"Authorization": KEY}),
    ],
)
def test_p40b_a_body_that_echoes_the_key_is_told_without_it(form: str) -> None:
    body = {"error": {"message": f"bad key {form}", "code": f"code {form}"}}
    answer = said(body, f"x-request-id: {form}", status=401)
    with asking(answer) as (provider, _), pytest.raises(ProviderError, match="bad key") as caught:
        provider.create_message(USER)
    assert KEY not in everything(caught.value) and form not in everything(caught.value)


@pytest.mark.parametrize("streamed", [False, True])
def test_p40b_an_error_in_a_successful_answer_that_echoes_the_key_is_told_without_it(
    streamed: bool,
) -> None:
    events: list[StreamEvent] = []
    body = json.dumps({"error": {"message": f"no {KEY}", "code": 502}}).encode()
    answer = (
        streaming(b"data: " + body + b"\n\n") if streamed else streaming(body, "application/json")
    )
    with (
        asking(answer) as (provider, _),
        pytest.raises(ProviderError, match=r"no \*\*\*") as caught,
    ):
        provider.create_message(USER, on_event=events.append if streamed else None)
    assert KEY not in everything(caught.value) and KEY not in str(events)


def test_p40b_http_beyond_this_machine_is_refused_before_anything_is_sent() -> None:
    provider = OpenAIProvider("m", base_url="http://api.example.com/v1", api_key=KEY)
    with pytest.raises(Refused, match="without https others could read"):
        provider.create_message(USER)


@pytest.mark.parametrize("userinfo", ["user:s3cret-pass@", "s3cret-pass@"])
def test_p40b_a_user_in_the_url_is_refused_and_not_quoted(userinfo: str) -> None:
    provider = OpenAIProvider("m", base_url=f"https://{userinfo}api.example.com/v1", api_key=KEY)
    with pytest.raises(Refused) as caught:
        provider.create_message(USER)
    assert "s3cret" not in f"{caught.value!r} {caught.value.hint} {caught.value.details}"


ASKING = """
import sys
from vespe import OpenAIProvider
from vespe.errors import ProviderError
from vespe.features.agents.providers.retries import Patience

def note(event, arguments):
    if event == "socket.getaddrinfo":
        print("the resolver was asked for", arguments[0])

sys.addaudithook(note)
patience = Patience(retries=1, backoff_s=0.001)
provider = OpenAIProvider("m", base_url=sys.argv[1], api_key="sk-x", patience=patience)
try:
    print(provider.create_message([{"role": "user", "content": "Hi"}])["content"])
except ProviderError as error:
    print(error)
"""


def test_p40b_localhost_is_this_machine_whatever_the_resolver_says() -> None:
    with Loopback(said(HELLO)) as server:
        ask = [sys.executable, "-c", ASKING, f"http://localhost:{server.port}"]
        assert subprocess.run(ask, stdout=subprocess.PIPE, check=True).stdout == b"Hello\n"


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url(""))
        with asking(said(HELLO)) as (provider, _):
            assert provider.create_message(USER)["content"] == "Hello"
        assert proxy.connections == 0


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        (OpenAIProvider, "check its URL"),
        (OllamaProvider, "`ollama serve` starts it"),
    ],
)
def test_a_dead_port_is_a_sentence_with_what_to_do(
    kind: type[EndpointProvider], advice: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    provider = kind("m", base_url=f"http://127.0.0.1:{port}", api_key=KEY, patience=QUICK)
    said = (
        rf"{kind.name} gave no answer: cannot connect to 127\.0\.0\.1 on port \d+: "
        rf"Connection refused"
    )
    with pytest.raises(ProviderError, match=said) as caught:
        provider.create_message(USER)
    assert advice in caught.value.hint


def test_a_connection_that_nobody_takes_ends_at_its_own_deadline() -> None:
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        contextlib.ExitStack() as waiting,
    ):
        for _ in range(4):
            other = waiting.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        patience = Patience(connect_s=0.2, total_s=20, retries=1, backoff_s=0.01)
        provider = OpenAIProvider(
            "m",
            base_url=f"http://127.0.0.1:{full.getsockname()[1]}",
            api_key=KEY,
            patience=patience,
        )
        with pytest.raises(ProviderError, match=r"it did not answer within 0\.2 s"):
            provider.create_message(USER)


def test_a_handshake_that_nobody_answers_ends_at_the_same_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        patience = Patience(connect_s=0.2, total_s=20, retries=0)
        provider = OpenAIProvider(
            "m",
            base_url=f"https://127.0.0.1:{mute.getsockname()[1]}",
            api_key=KEY,
            patience=patience,
        )
        with pytest.raises(
            ProviderError, match=r"TLS with 127\.0\.0\.1 failed: it did not answer within 0\.2 s"
        ):
            provider.create_message(USER)


def test_a_name_that_does_not_resolve_is_a_sentence() -> None:
    ask = refusing(NO_NETWORK, sys.executable, "-c", ASKING, "https://nowhere.example")
    done = subprocess.run(ask, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    asked, *_, told = done.stdout.splitlines()
    assert asked == "the resolver was asked for nowhere.example"
    assert told == (
        "openai gave no answer: the name nowhere.example does not resolve: "
        "Temporary failure in name resolution"
    )


def test_a_server_that_nobody_vouches_for_is_a_sentence() -> None:
    cases = Path(__file__).parents[3] / "cases" / "tls"
    with Loopback(tls=_tls(cases)) as server:
        provider = OpenAIProvider(
            "m", base_url=server.url("", scheme="https"), api_key=KEY, patience=QUICK
        )
        with pytest.raises(ProviderError, match=r"TLS with 127\.0\.0\.1 failed: .*certificate"):
            provider.create_message(USER)
        assert server.requests == []


def test_a_server_that_the_user_vouches_for_is_asked_over_tls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases = Path(__file__).parents[3] / "cases" / "tls"
    monkeypatch.setenv("SSL_CERT_FILE", str(cases / "loopback.pem"))
    with Loopback(said(HELLO), tls=_tls(cases)) as server:
        provider = OpenAIProvider(
            "m",
            base_url=server.url("", scheme="https", host="localhost"),
            api_key=KEY,
            patience=QUICK,
        )
        assert provider.create_message(USER)["content"] == "Hello"
        provider.close()


def test_headers_past_all_bounds_are_a_sentence() -> None:
    def huge(exchange: Exchange) -> bool:
        exchange.send(
            b"HTTP/1.1 200 OK\r\nX-Huge: " + b"x" * 1_000_000 + b"\r\nContent-Length: 0\r\n\r\n"
        )
        return False

    with (
        asking(huge) as (provider, _),
        pytest.raises(ProviderError, match="does not follow the HTTP protocol"),
    ):
        provider.create_message(USER)


def test_an_answer_past_the_cap_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vespe.features.agents.providers.endpoint.MAX_ANSWER_BYTES", 1000)
    with (
        asking(compressed(b": comment\n\n" * 100_000)) as (provider, _),
        pytest.raises(ProviderError, match="larger than 1000 bytes"),
    ):
        provider.create_message(USER, on_event=lambda event: None)


def test_an_error_whose_body_is_endless_or_breaks_off_is_told_all_the_same() -> None:
    def endless(exchange: Exchange) -> bool:
        exchange.send(b"HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not exchange.server.stopping.is_set():
            exchange.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        return False

    def short(exchange: Exchange) -> bool:
        exchange.send(b"HTTP/1.1 400 Bad\r\nContent-Length: 100\r\n\r\nhalf of it")
        return False

    for answer, told in ((endless, "cut by vespe"), (short, "status 400: half of it")):
        with asking(answer) as (provider, _), pytest.raises(ProviderError, match=told):
            provider.create_message(USER)


def _tls(cases: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cases / "loopback.pem", cases / "loopback.key")
    return context


def test_an_error_whose_body_stalls_is_told_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_ERROR_BODY_S", 0.1)

    def stuck(exchange: Exchange) -> bool:
        exchange.send(b"HTTP/1.1 400 Bad\r\nContent-Length: 100\r\n\r\n" + b"no such model")
        exchange.server.stopping.wait()
        return False

    with (
        asking(stuck) as (provider, _),
        pytest.raises(ProviderError, match="status 400: no such model"),
    ):
        provider.create_message(USER)
