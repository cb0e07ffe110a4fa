"""One HTTP exchange against real servers on loopback: where it may go, what it sends, and when it
stops.
"""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Exchange, Loopback
from vespe import defaults
from vespe.errors import (
    AddressRefused,
    Interrupted,
    InvalidArguments,
    OutputTooLarge,
    Refused,
    TimedOut,
    ToolExecutionError,
)
from vespe.http import client as http_client
from vespe.http.client import Client, Request, Response
from vespe.http.sockets import Dialler

CASES = Path(__file__).parents[1] / "cases"
ROWS: list[dict[str, Any]] = json.loads((CASES / "addresses.json").read_text(encoding="utf-8"))
OWN = "93.184.216.200"
"""Stands for an address of this machine's own interfaces, which a test cannot give it."""


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client(Dialler(["127.0.0.1"]))
    yield made
    made.close()


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every address that the operating system is asked to connect to; it answers that nothing
    listens there.
    """
    seen: list[str] = []

    def connect(_: socket.socket, address: tuple[Any, ...]) -> None:
        seen.append(f"{address[0]}:{address[1]}")
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket.socket, "connect", connect)
    return seen


def get(
    client: Client, url: str, *, timeout_s: float = 20, max_bytes: int = 1_000_000, **more: Any
) -> Response:
    return client.exchange(
        Request(method="GET", url=url), timeout_s=timeout_s, max_bytes=max_bytes, **more
    )


def answering(*answers: Sequence[str]) -> Callable[[str, int], Sequence[str]]:
    """A resolver that gives these answers in turn, and the last one for ever."""
    left = list(answers)
    return lambda name, port: left.pop(0) if len(left) > 1 else left[0]


# Where a request may go


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "refused" in row], ids=lambda row: ascii(row["url"])
)
def test_p37_a_refused_host_is_never_dialled(row: dict[str, Any], dialled: list[str]) -> None:
    client = Client(Dialler([], resolve=answering(row["resolves"]), owns=OWN.__eq__))
    with pytest.raises(Refused) as caught:
        get(client, row["url"])
    assert row["refused"] in str(caught.value)
    assert dialled == []


@pytest.mark.parametrize("row", [row for row in ROWS if "dials" in row], ids=lambda row: row["url"])
def test_p37_a_public_host_is_dialled_at_the_addresses_that_were_judged(
    row: dict[str, Any], dialled: list[str]
) -> None:
    client = Client(
        Dialler([], resolve=answering(row["resolves"]), owns=OWN.__eq__),
        ssl_context=ssl.create_default_context(),
    )
    with pytest.raises(ToolExecutionError, match=r"cannot connect to .*: Connection refused"):
        get(client, row["url"])
    assert dialled == row["dials"]


FORMS = [
    "127.0.0.1",
    "localhost",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "0.0.0.0",
    "[::ffff:127.0.0.1]",
    "①②⑦.⓪.⓪.①",
    "a@127.0.0.1",
    "x\\@127.0.0.1",
]


@pytest.mark.parametrize("form", FORMS, ids=ascii)
def test_p37_no_form_of_loopback_reaches_a_listener(form: str, server: Loopback) -> None:
    with pytest.raises(Refused):
        http_client.exchange(
            Request(method="GET", url=server.url(host=form)),
            timeout_s=20,
            max_bytes=100,
            allow_hosts=(),
        )
    assert server.connections == 0


def test_p37_a_name_that_is_rebound_after_the_check_is_dialled_where_it_was_checked(
    server: Loopback, dialled: list[str]
) -> None:
    client = Client(
        Dialler([], resolve=answering(["93.184.216.34"], ["127.0.0.1"]), owns=OWN.__eq__)
    )
    with pytest.raises(ToolExecutionError):
        get(client, server.url(host="rebound.example"))
    with pytest.raises(AddressRefused):
        get(client, server.url(host="rebound.example"))
    assert (dialled, server.connections) == ([f"93.184.216.34:{server.port}"], 0)


def test_p37_the_user_s_list_opens_one_host_as_it_is_written(server: Loopback) -> None:
    client = Client(Dialler([f"internal.example:{server.port}"], resolve=answering(["127.0.0.1"])))
    assert get(client, server.url(host="Internal.example")).status == 200
    for other in ("127.0.0.1", "localhost", "other.example"):
        with pytest.raises(AddressRefused) as caught:
            get(client, server.url(host=other))
        assert f"""allow_hosts '["{other}:{server.port}"]'`""" in caught.value.hint
    client.close()
    assert server.connections == 1


def test_p37_a_kept_connection_never_serves_a_call_that_may_not_open_it(server: Loopback) -> None:
    request = Request(method="GET", url=server.url())
    assert (
        http_client.exchange(
            request, timeout_s=20, max_bytes=1000, allow_hosts=["127.0.0.1"]
        ).status
        == 200
    )
    with pytest.raises(AddressRefused):
        http_client.exchange(request, timeout_s=20, max_bytes=1000, allow_hosts=[])
    assert len(server.requests) == 1


def test_p37_proxies_and_netrc_of_the_environment_are_not_read(
    server: Loopback, client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text(
        "machine 127.0.0.1 login user password secret\n", encoding="utf-8"
    )
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert "authorization" not in json.loads(get(client, server.url()).body)["headers"]


def test_the_host_header_and_every_default_are_exact_on_the_wire(
    server: Loopback, client: Client
) -> None:
    request = Request(
        method="POST",
        url=server.url("/echo?a=%20b"),
        headers=(("X-One", "1"), ("accept", "text/plain")),
        body=b"hi",
    )
    client.exchange(request, timeout_s=20, max_bytes=1000)
    assert server.requests == [
        f"POST /echo?a=%20b HTTP/1.1\r\nHost: {server.host}\r\nUser-Agent: "
        f"vespe/{defaults.VERSION}\r\nAccept-Encoding: identity\r\n"
        f"Content-Length: 2\r\nX-One: 1\r\naccept: text/plain\r\n\r\nhi".encode()
    ]


@pytest.mark.parametrize(
    "header", [("X", "a\r\nHost: b"), ("X", "ü"), ("X Y", "a"), ("X", "\x00")], ids=ascii
)
def test_p39_what_http_cannot_carry_is_refused_before_anything_is_sent(
    header: tuple[str, str], server: Loopback, client: Client
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        client.exchange(
            Request(method="GET", url=server.url(), headers=(header,)), timeout_s=20, max_bytes=1000
        )
    assert server.requests == [] and "Host: b" not in str(caught.value)  # it may be a secret


# Connections


def test_one_connection_serves_many_calls(server: Loopback, client: Client) -> None:
    for _ in range(5):
        assert get(client, server.url()).status == 200
    assert (server.connections, len(server.requests)) == (1, 5)


def test_calls_of_several_threads_share_a_client(server: Loopback, client: Client) -> None:
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(get(client, server.url()).status))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 8


def test_a_kept_connection_that_ended_is_dialled_again_where_asking_twice_is_safe(
    server: Loopback, client: Client
) -> None:
    assert get(client, server.url("/once")).body == b'"first"'
    assert get(client, server.url("/once")).body == b'"first"'
    assert server.connections == 2


def test_a_server_that_hangs_up_again_is_asked_twice_at_most(client: Client) -> None:
    def first_only(exchange: Exchange) -> bool:
        return len(exchange.server.requests) == 1 and exchange.reply(b"1")

    with Loopback(first_only) as server:
        assert get(client, server.url()).status == 200
        with pytest.raises(ToolExecutionError, match="without sending a response"):
            get(client, server.url())
    assert len(server.requests) == 3


def test_a_server_that_answers_nonsense_is_not_asked_again(client: Client) -> None:
    def nonsense_then(exchange: Exchange) -> bool:
        if len(exchange.server.requests) == 1:
            return exchange.reply(b"1")
        exchange.send(b"nonsense\r\n\r\n")
        return False

    with Loopback(nonsense_then) as server:
        assert get(client, server.url()).status == 200
        with pytest.raises(ToolExecutionError, match="does not follow the HTTP protocol"):
            get(client, server.url())
    assert len(server.requests) == 2


def test_a_server_that_hangs_up_on_a_new_connection_is_not_asked_again(client: Client) -> None:
    with (
        Loopback(lambda exchange: False) as server,
        pytest.raises(ToolExecutionError, match="without sending a response"),
    ):
        get(client, server.url())
    assert len(server.requests) == 1


def test_the_process_keeps_its_connections_from_call_to_call(server: Loopback) -> None:
    for _ in range(3):
        http_client.exchange(
            Request(method="GET", url=server.url()),
            timeout_s=20,
            max_bytes=1000,
            allow_hosts=["127.0.0.1"],
        )
    assert server.connections == 1


def test_p40_calls_that_wait_hold_no_other_call_up(server: Loopback, client: Client) -> None:
    cancel = threading.Event()

    def wait() -> None:
        with pytest.raises(Interrupted):
            get(client, server.url("/silence"), timeout_s=60, cancel=cancel)

    threads = [threading.Thread(target=wait) for _ in range(20)]
    for thread in threads:
        thread.start()
    status = get(client, server.url()).status
    cancel.set()
    for thread in threads:
        thread.join()
    assert status == 200


def test_a_kept_connection_that_ended_fails_a_request_that_may_have_had_its_effect(
    server: Loopback, client: Client
) -> None:
    def post() -> Response:
        return client.exchange(
            Request(method="POST", url=server.url("/once"), body=b"x"), timeout_s=20, max_bytes=100
        )

    assert post().status == 200
    with pytest.raises(ToolExecutionError):
        post()
    assert len(server.requests) == 2


def test_a_head_request_has_headers_alone(server: Loopback, client: Client) -> None:
    response = client.exchange(
        Request(method="HEAD", url=server.url()), timeout_s=20, max_bytes=1000
    )
    assert (
        response.status,
        response.body,
        response.header("content-type"),
        response.header("x-none"),
    ) == (
        200,
        b"",
        "application/json",
        None,
    )


def test_an_answer_before_the_whole_request_was_read_is_still_an_answer() -> None:
    def refuse(exchange: Exchange) -> bool:
        exchange.reply(b"too much", "Connection: close", status=413)
        return False

    with Loopback(refuse) as server:
        client = Client(Dialler(["127.0.0.1"]))
        request = Request(method="POST", url=server.url(), body=b"x" * 10)
        assert client.exchange(request, timeout_s=20, max_bytes=100).status == 413
        client.close()


# When it stops


@pytest.mark.parametrize("path", ["/drip", "/slow_headers", "/silence", "/endless_hints"])
def test_p40_the_deadline_ends_an_answer_that_does_not_end(
    path: str, server: Loopback, client: Client
) -> None:
    with pytest.raises(TimedOut) as caught:
        get(client, server.url(path), timeout_s=0.4)
    assert caught.value.seconds == 0.4


@pytest.mark.parametrize("path", ["/chunked_forever", "/bomb"])
def test_p40_a_body_past_the_cap_is_refused_and_no_more_than_the_cap_is_kept(
    path: str, server: Loopback, client: Client
) -> None:
    with pytest.raises(OutputTooLarge) as caught:
        get(client, server.url(path), max_bytes=300_000)
    assert len(caught.value.kept) == 300_000


def test_p40_a_megabyte_of_headers_is_refused(server: Loopback, client: Client) -> None:
    with pytest.raises(ToolExecutionError, match="does not follow the HTTP protocol"):
        get(client, server.url("/huge_header"))


@pytest.mark.parametrize("path", ["/drip", "/slow_headers", "/silence"])
def test_a_cancelled_call_ends(path: str, server: Loopback, client: Client) -> None:
    cancel = threading.Event()
    timer = threading.Timer(0.2, cancel.set)
    timer.start()
    with pytest.raises(Interrupted):
        get(client, server.url(path), timeout_s=60, cancel=cancel)
    timer.join()


def test_a_call_that_is_cancelled_before_it_starts_sends_nothing(
    server: Loopback, client: Client
) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Interrupted):
        get(client, server.url(), cancel=cancel)
    assert server.requests == []


def test_a_client_serves_on_after_every_kind_of_failure(server: Loopback, client: Client) -> None:
    for path in ("/drip", "/chunked_forever", "/huge_header", "/reset", "/short", "/garbage"):
        with pytest.raises((TimedOut, ToolExecutionError)):
            get(client, server.url(path), timeout_s=0.5, max_bytes=1000)
    assert get(client, server.url()).status == 200


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (
            "/reset",
            "(the connection to .* was lost: Connection reset by peer|disconnected "
            "without sending a response)",
        ),
        ("/short", "does not follow the HTTP protocol: peer closed connection"),
        ("/garbage", "does not follow the HTTP protocol"),
        ("/strange_coding", "with the encoding br, although none was requested"),
    ],
)
def test_a_broken_answer_is_a_sentence(
    path: str, says: str, server: Loopback, client: Client
) -> None:
    with pytest.raises(ToolExecutionError, match=says):
        get(client, server.url(path))


def test_a_compressed_answer_is_read_though_none_was_asked_for(
    server: Loopback, client: Client
) -> None:
    assert get(client, server.url("/compressed")).body == b'{"ok": true}'


# Redirects


def test_p38_a_redirect_is_an_answer_like_any_other_by_default(
    server: Loopback, client: Client
) -> None:
    response = get(client, server.url("/redirect/302//echo"))
    assert (response.status, response.header("location"), len(server.requests)) == (302, "/echo", 1)


def test_p38_redirects_are_followed_where_the_tool_asks_for_them(
    server: Loopback, client: Client
) -> None:
    response = get(client, server.url("/redirect/302//redirect/307//echo?a=b c"), redirects=2)
    assert (response.status, response.url) == (200, server.url("/echo?a=b%20c"))


def test_p38_an_answer_that_comes_early_leaves_redirects_unused(
    server: Loopback, client: Client
) -> None:
    assert get(client, server.url("/redirect/302//echo"), redirects=5).status == 200
    assert len(server.requests) == 2


def test_p38_a_loop_of_redirects_ends_after_five(server: Loopback, client: Client) -> None:
    def loop(exchange: Exchange) -> bool:
        return exchange.reply(b"", "Location: /again", status=302)

    with (
        Loopback(loop) as looping,
        pytest.raises(ToolExecutionError, match="redirected more than 5 times"),
    ):
        get(client, looping.url(), redirects=99)
    assert len(looping.requests) == 6


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/",
        "file:///etc/passwd",
        "//[::1]/",
        "http://0x7f.1/",
        "http://a@127.0.0.1/",
        "http://localhost/",
        "http://[",
        "javascript:1",
    ],
)
def test_p38_every_hop_is_judged(location: str, server: Loopback) -> None:
    client = Client(Dialler([server.host]))
    with pytest.raises(Refused):
        get(client, server.url(f"/redirect/302/{location}"), redirects=5)
    client.close()
    assert (server.connections, len(server.requests)) == (1, 1)


CREDENTIALS = (("Authorization", "Bearer s"), ("Cookie", "s"), ("X-Key", "s"), ("X-Open", "o"))


def test_p38_credentials_stay_with_their_origin(server: Loopback, client: Client) -> None:
    with Loopback() as other:
        url = server.url(f"/redirect/302/{other.url()}")
        request = Request(method="GET", url=url, headers=CREDENTIALS, private=frozenset({"x-key"}))
        seen = json.loads(client.exchange(request, timeout_s=20, max_bytes=1000, redirects=1).body)[
            "headers"
        ]
    assert {"authorization", "cookie", "x-key"} & seen.keys() == set()
    assert seen["x-open"] == "o"


def test_p38_credentials_go_along_within_their_origin(server: Loopback, client: Client) -> None:
    request = Request(method="GET", url=server.url("/redirect/302//echo"), headers=CREDENTIALS)
    seen = json.loads(client.exchange(request, timeout_s=20, max_bytes=1000, redirects=1).body)[
        "headers"
    ]
    assert (seen["authorization"], seen["cookie"]) == ("Bearer s", "s")


def test_p38_a_body_never_follows_to_another_server(server: Loopback, client: Client) -> None:
    with Loopback() as other:
        request = Request(
            method="POST", url=server.url(f"/redirect/307/{other.url()}"), body=b"secret"
        )
        with pytest.raises(Refused, match="a request with a body"):
            client.exchange(request, timeout_s=20, max_bytes=1000, redirects=1)
    assert other.requests == []


@pytest.mark.parametrize(
    ("method", "status", "then"),
    [
        ("POST", 301, "GET"),
        ("POST", 302, "GET"),
        ("POST", 303, "GET"),
        ("PUT", 303, "GET"),
        ("POST", 307, "POST"),
        ("POST", 308, "POST"),
        ("PUT", 301, "PUT"),
        ("PUT", 302, "PUT"),
    ],
)
def test_p38_the_method_and_body_follow_as_http_says(
    method: str, status: int, then: str, server: Loopback, client: Client
) -> None:
    request = Request(
        method=method,
        url=server.url(f"/redirect/{status}//echo"),
        headers=(("Content-Type", "a/b"),),
        body=b"x",
    )
    seen = json.loads(client.exchange(request, timeout_s=20, max_bytes=1000, redirects=1).body)
    kept = ("x", "a/b") if then == method else ("", None)
    assert (seen["method"], seen["body"], seen["headers"].get("content-type")) == (then, *kept)


# TLS


@pytest.fixture
def secure() -> Iterator[Loopback]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CASES / "tls" / "loopback.pem", CASES / "tls" / "loopback.key")
    with Loopback(tls=context) as loopback:
        yield loopback


@pytest.fixture
def trusting() -> Iterator[Client]:
    context = ssl.create_default_context(cafile=str(CASES / "tls" / "loopback.pem"))
    made = Client(
        Dialler(
            ["localhost", "localhost.", "other.example", "127.0.0.1"],
            resolve=answering(["127.0.0.1"]),
        ),
        ssl_context=context,
    )
    yield made
    made.close()


def test_a_verified_server_is_answered_over_one_connection(
    secure: Loopback, trusting: Client
) -> None:
    for _ in range(3):
        assert get(trusting, secure.url(scheme="https", host="localhost")).status == 200
    assert len(secure.requests) == 3


def test_a_name_with_a_final_dot_has_the_certificate_of_the_name(
    secure: Loopback, trusting: Client
) -> None:
    assert get(trusting, secure.url(scheme="https", host="localhost.")).status == 200


def test_a_large_body_goes_out_whole_under_tls(secure: Loopback, trusting: Client) -> None:
    request = Request(
        method="PUT", url=secure.url("/status/200", scheme="https"), body=b"x" * 20_000_000
    )
    assert trusting.exchange(request, timeout_s=60, max_bytes=1000).status == 200
    assert len(secure.requests[0]) > 20_000_000


def test_a_certificate_that_the_system_does_not_know_is_refused(
    secure: Loopback, client: Client
) -> None:
    with pytest.raises(ToolExecutionError, match=r"TLS with 127\.0\.0\.1 failed: .*certificate"):
        get(client, secure.url(scheme="https"))
    assert secure.requests == []


def test_a_certificate_for_another_host_is_refused(secure: Loopback, trusting: Client) -> None:
    with pytest.raises(ToolExecutionError, match=r"not valid for 'other\.example'"):
        get(trusting, secure.url(scheme="https", host="other.example"))
    assert secure.requests == []


def test_p38_a_redirect_never_leads_from_https_to_http(
    secure: Loopback, trusting: Client, server: Loopback
) -> None:
    with pytest.raises(Refused, match="from https to http://"):
        get(trusting, secure.url(f"/redirect/302/{server.url()}", scheme="https"), redirects=5)
    assert server.connections == 0


def test_p40_the_deadline_ends_a_drip_under_tls_too(secure: Loopback, trusting: Client) -> None:
    with pytest.raises(TimedOut):
        get(trusting, secure.url("/drip", scheme="https"), timeout_s=0.4)


def test_p40_the_deadline_ends_a_handshake_that_nobody_answers(trusting: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(TimedOut):
        get(trusting, f"https://127.0.0.1:{mute.getsockname()[1]}/", timeout_s=0.4)


def test_a_server_without_tls_is_a_sentence(server: Loopback, client: Client) -> None:
    with (
        Loopback(lambda exchange: False) as plain,
        pytest.raises(ToolExecutionError, match=r"TLS with 127\.0\.0\.1 failed"),
    ):
        get(client, f"https://{plain.host}/", timeout_s=5)


def test_certificates_that_cannot_be_read_are_a_sentence(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/at/all.pem")
    with pytest.raises(
        ToolExecutionError, match="certificates for verifying servers cannot be read"
    ):
        get(client, "https://127.0.0.1:1/")
