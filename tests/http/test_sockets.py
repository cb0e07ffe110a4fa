"""Resolving, dialling and waiting: each within one call's deadline and its cancelling."""

import _socket
import contextlib
import select
import socket
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from vespe.errors import Interrupted, TimedOut, ToolExecutionError
from vespe.http import sockets
from vespe.http.sockets import Dialler, ExchangeLimits, is_own, resolve_name


@contextlib.contextmanager
def limits(
    timeout_s: float = 20, cancel: threading.Event | None = None
) -> Iterator[ExchangeLimits]:
    made = ExchangeLimits("the request", timeout_s=timeout_s, cancel=cancel)
    token = sockets.LIMITS.set(made)
    yield made
    sockets.LIMITS.reset(token)


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def deaf() -> Iterator[int]:
    """A port whose queue of connections is full, so that a new one is neither taken nor refused."""
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as listener,
        contextlib.ExitStack() as stack,
    ):
        address = listener.getsockname()
        for _ in range(20):
            filler = stack.enter_context(socket.socket())
            filler.settimeout(0.1)
            try:
                filler.connect(address)
            except TimeoutError:
                break
        yield address[1]


def always(*addresses: str) -> Callable[[str, int], Sequence[str]]:
    return lambda name, port: addresses


def test_the_next_address_is_dialled_where_one_does_not_answer(port: int) -> None:
    with limits():
        dialler = Dialler(["many.example"], resolve=always("::1", "127.0.0.1"))
        dialler.connect_tcp("many.example", port).close()


def test_an_address_that_never_answers_leaves_time_for_the_next(deaf: int) -> None:
    with limits(2), pytest.raises((ToolExecutionError, TimedOut)) as caught:
        Dialler(["two.example"], resolve=always("127.0.0.1", "::1")).connect_tcp(
            "two.example", deaf
        )
    assert isinstance(caught.value, ToolExecutionError), (
        "the second address refuses, in the second half of the time"
    )


def test_the_deadline_ends_a_connection_that_nobody_takes(deaf: int) -> None:
    with limits(0.3), pytest.raises(TimedOut):
        Dialler(["127.0.0.1"]).connect_tcp("127.0.0.1", deaf)


def test_a_refused_connection_says_host_port_and_reason() -> None:
    with (
        limits(),
        pytest.raises(
            ToolExecutionError,
            match=r"cannot connect to 127\.0\.0\.1 on port 1: Connection refused",
        ),
    ):
        Dialler(["127.0.0.1"]).connect_tcp("127.0.0.1", 1)


def test_a_name_that_does_not_resolve_says_so() -> None:
    def nowhere(name: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with (
        limits(),
        pytest.raises(
            ToolExecutionError,
            match=r"the name no\.example does not resolve: Name or service not known",
        ),
    ):
        Dialler([], resolve=nowhere).connect_tcp("no.example", 80)


def test_a_name_that_the_resolver_cannot_encode_says_so() -> None:
    with limits(), pytest.raises(ToolExecutionError, match="does not resolve"):
        Dialler(
            [],
            resolve=lambda name, port: ["".encode("idna").decode(), "ü".encode("ascii").decode()],
        ).connect_tcp("odd.example", 80)


def test_a_name_without_addresses_says_so() -> None:
    with limits(), pytest.raises(ToolExecutionError, match="it has no address"):
        Dialler([], resolve=always()).connect_tcp("none.example", 80)


@pytest.mark.parametrize("ended_by", ["deadline", "cancel"])
def test_a_resolver_that_hangs_holds_nobody_up(ended_by: str) -> None:
    release, cancel = threading.Event(), threading.Event()

    def hang(name: str, port: int) -> Sequence[str]:
        cancel.set()
        release.wait()
        return ["127.0.0.1"]

    with (
        limits(0.2 if ended_by == "deadline" else 60, None if ended_by == "deadline" else cancel),
        pytest.raises((TimedOut, Interrupted)) as caught,
    ):
        Dialler([], resolve=hang).connect_tcp("slow.example", 80)
    release.set()
    assert isinstance(caught.value, TimedOut) == (ended_by == "deadline")


def test_the_system_s_resolver_gives_each_address_once() -> None:
    found = resolve_name("localhost", 80)
    assert found
    assert len(set(found)) == len(found)
    assert set(found) <= {"127.0.0.1", "::1"}


def test_p37_this_machine_s_own_addresses_are_told_from_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # past the guard: a datagram socket sends nothing here
    monkeypatch.setattr(socket.socket, "connect", _socket.socket.connect)
    elsewhere = "93.184.216.34"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        routed = probe.connect_ex((elsewhere, 9)) == 0
        own = probe.getsockname()[0] if routed else "127.0.0.1"
    assert is_own(own)
    assert is_own("127.0.0.1")
    assert is_own("::ffff:7f00:1") == is_own("::ffff:127.0.0.1")
    assert not is_own(elsewhere)


def test_an_address_without_a_route_is_not_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(self: socket.socket, address: object) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", unreachable)
    assert not is_own("2606:2800:220:1::1")


def test_waiting_gives_up_at_its_own_limit_before_the_deadline() -> None:
    reader, writer = socket.socketpair()
    with reader, writer, limits(60) as bound:
        assert bound.wait(reader.fileno(), select.POLLIN, at_most_s=0.05) is False
        writer.send(b"x")
        assert bound.wait(reader.fileno(), select.POLLIN, at_most_s=60) is True


def test_a_large_request_waits_for_a_slow_reader_no_longer_than_the_deadline(port: int) -> None:
    with limits(0.4):
        stream = Dialler(["127.0.0.1"]).connect_tcp("127.0.0.1", port)
        with pytest.raises(TimedOut):
            stream.write(b"x" * 50_000_000)
        stream.close()


@pytest.mark.parametrize("ended", [(0.0, False), (60.0, True)], ids=["deadline", "cancel"])
def test_a_call_that_is_over_reads_no_more_of_what_is_there(ended: tuple[float, bool]) -> None:
    cancel = threading.Event()
    reader, writer = socket.socketpair()
    with reader, writer, limits(ended[0], cancel):
        writer.send(b"more")
        if ended[1]:
            cancel.set()
        with pytest.raises((TimedOut, Interrupted)):
            sockets.Stream(reader, "host").read(10)


def test_an_idle_connection_tells_its_end(port: int) -> None:
    with limits():
        stream = Dialler(["127.0.0.1"]).connect_tcp("127.0.0.1", port)
    assert stream.get_extra_info("is_readable") is False
    assert stream.get_extra_info("ssl_object") is None
    stream.close()
    assert stream.get_extra_info("is_readable") is True


def test_what_is_over_already_is_waited_for_only_so_long_and_no_longer_than_a_silence() -> None:
    made = ExchangeLimits("the answer", timeout_s=60, stall_s=30)
    made.end_within(60)
    assert not made.is_over
    assert made.remaining() <= 30
    made.end_within(0)
    assert made.is_over
    with pytest.raises(sockets.ConnectionBroken, match="no time is left"):
        made.remaining()
    made.end_within(None)
    assert made.remaining() > 0
