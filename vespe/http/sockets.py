"""Sockets for HTTP: each address judged before it is dialled, every wait bounded by one call's
deadline and its cancelling.
"""

import contextlib
import errno
import functools
import os
import select
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Final, NoReturn, TypeVar

from vespe.errors import AddressRefused, Interrupted, TimedOut, ToolExecutionError, VespeError
from vespe.http import addresses
from vespe.lazy import socket, ssl

T = TypeVar("T")
Resolve = Callable[[str, int], Sequence[str]]
"""From a name and a port to addresses, as text, in the order of preference; raises OSError where
there are none.
"""

_CANCEL_POLL_S = 0.05


class ExchangeLimits:
    """What bounds one call: a deadline over all of it, one over each silence (`stall_s`), and an
    event that cancels it.

    `connect_s` bounds the opening of a connection; `hint` says what to do where a deadline passed.
    `dialled` tells whether the call opened a connection or was given one that lives.
    """

    def __init__(
        self,
        what: str,
        *,
        timeout_s: float,
        cancel: threading.Event | None = None,
        stall_s: float = float("inf"),
        connect_s: float = float("inf"),
        hint: str = "",
    ) -> None:
        self._what, self._timeout_s, self._cancel, self._hint = what, timeout_s, cancel, hint
        self._stall_s, self._connect_s = stall_s, connect_s
        self._ends = time.monotonic() + timeout_s
        self._silent_until = self._connected_by = self._over_by = float("inf")
        self.dialled = False
        self.progressed()

    def progressed(self) -> None:
        """Note that something came or went: the time of silence begins again."""
        self._silent_until = time.monotonic() + self._stall_s

    def end_within(self, seconds: float | None) -> None:
        """Wait at most so long for what may still come, since what was asked for is there; None
        takes that back.
        """
        self._over_by = (
            float("inf")
            if seconds is None
            else min(time.monotonic() + min(seconds, self._stall_s), self._ends)
        )

    @property
    def left_s(self) -> float:
        """The seconds until the deadline over all of it, however silent it is."""
        return self._ends - time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether the time that `end_within` gave has passed."""
        return self._over_by <= time.monotonic()

    @contextlib.contextmanager
    def connecting(self) -> Iterator[None]:
        """Bound what is done within by `connect_s`; raises ConnectionBroken where that is over."""
        self._connected_by = time.monotonic() + self._connect_s
        try:
            yield
        finally:
            self._connected_by = float("inf")

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Make these the limits of what this thread does within."""
        token = LIMITS.set(self)
        try:
            yield
        finally:
            LIMITS.reset(token)

    def remaining(self) -> float:
        """Return the seconds that are left; raises TimedOut where there are none, Interrupted where
        the call is cancelled.
        """
        if self._cancel is not None and self._cancel.is_set():
            raise Interrupted(f"{self._what} was cancelled")
        now = time.monotonic()
        if self._over_by <= now:
            raise ConnectionBroken("no time is left")
        if self._ends <= now:
            raise TimedOut(self._what, seconds=self._timeout_s, hint=self._hint)
        if self._silent_until <= now:
            raise TimedOut(
                self._what, seconds=self._stall_s, did="brought nothing", hint=self._hint
            )
        if self._connected_by <= now:
            raise ConnectionBroken(f"it did not answer within {self._connect_s:g} s")
        return min(self._ends, self._silent_until, self._connected_by, self._over_by) - now

    def wait(self, descriptor: int, event: int, *, at_most_s: float = float("inf")) -> bool:
        """Wait until the descriptor is ready; False where `at_most_s` passed first. Raises as
        `remaining` does.
        """
        poll = select.poll()
        poll.register(descriptor, event)
        ends = time.monotonic() + at_most_s
        while True:
            step = self._step(ends - time.monotonic())
            if poll.poll(max(0.0, step) * 1000):
                return True
            if step <= 0:
                return False

    def await_event(self, done: threading.Event) -> None:
        """Wait for another thread; raises as `remaining` does."""
        while not done.wait(self._step(float("inf"))):
            pass

    def sleep(self) -> NoReturn:
        """Wait until a deadline passes or the call is cancelled; raises as `remaining` does."""
        never = threading.Event()
        while True:
            never.wait(self._step(float("inf")))

    def _step(self, at_most_s: float) -> float:
        step = min(self.remaining(), at_most_s)
        return step if self._cancel is None else min(step, _CANCEL_POLL_S)


LIMITS: Final[ContextVar[ExchangeLimits]] = ContextVar("LIMITS")
"""The limits of the call that this thread makes: a pooled stream outlives the call that opened it,
and is told only seconds a read.
"""


class ConnectionBroken(Exception):
    """A connection ended or failed in the middle; the text says how. No OSError, which TimedOut and
    Refused are too.
    """


class Stream:
    """One connection, as httpcore2's NetworkStream: non-blocking beneath, so that no trickle of
    bytes outlasts the deadline.

    Each `timeout` that httpcore2 passes yields to the call's own LIMITS.
    """

    def __init__(self, sock: "socket.socket", host: str) -> None:
        self._sock, self._host = sock, host

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what is there, `b""` at the end; raises ConnectionBroken."""
        return self._attempt(functools.partial(self._sock.recv, max_bytes), select.POLLIN)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of it, unless the server hangs up: what it answered before that is still there
        to be read.
        """
        view = memoryview(buffer)
        with contextlib.suppress(ConnectionBroken):
            while view:
                view = view[
                    self._attempt(functools.partial(self._sock.send, view), select.POLLOUT) :
                ]

    def start_tls(
        self, ssl_context: "ssl.SSLContext", server_hostname: str | None = None, **unused: Any
    ) -> "Stream":
        """Return the same connection under TLS, the server's certificate verified for
        `server_hostname`.
        """
        name = (server_hostname or self._host).removesuffix(".")
        with contextlib.ExitStack() as undo:
            undo.callback(self.close)
            try:
                wrapped = ssl_context.wrap_socket(
                    self._sock, server_hostname=name, do_handshake_on_connect=False
                )
                self._sock = wrapped
                with LIMITS.get().connecting():
                    self._attempt(wrapped.do_handshake, select.POLLIN)
            except ConnectionBroken as error:
                raise ToolExecutionError(f"TLS with {self._host} failed: {error}") from error
            undo.pop_all()
        return self

    def close(self) -> None:
        """Close the connection, at once."""
        self._sock.close()

    def get_extra_info(self, info: str) -> Any:
        """Answer what a pool asks, whether an idle connection has something to read, so its end;
        `socket` is the socket itself.
        """
        if info == "socket":
            return self._sock
        if info != "is_readable":
            return None
        if self._sock.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(self._sock.fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def _attempt(self, operation: Callable[[], T], event: int) -> T:
        limits = LIMITS.get()
        while True:
            limits.remaining()
            try:
                done = operation()
                limits.progressed()
                return done
            except ssl.SSLWantReadError:
                event = select.POLLIN
            except ssl.SSLWantWriteError:
                event = select.POLLOUT
            except BlockingIOError:
                pass
            except OSError as error:
                raise ConnectionBroken(_reason(error)) from error
            limits.wait(self._sock.fileno(), event)


def resolve_name(name: str, port: int) -> list[str]:
    """Ask the system's resolver for every address of a name."""
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_own(address: str) -> bool:
    """Tell whether an address is one of this machine's own.

    A datagram socket "connected" to it sends nothing, and has the same address at both ends where
    it is our own.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            here, there = probe.getsockname()[0], probe.getpeername()[0]
    except OSError:
        return False
    return bool(here == there)


class Dialler:
    """Opens connections, as httpcore2's NetworkBackend: resolves once, judges every address, dials
    one that it judged.
    """

    def __init__(
        self,
        allow_hosts: Collection[str],
        *,
        resolve: Resolve = resolve_name,
        owns: Callable[[str], bool] = is_own,
    ) -> None:
        self._allow_hosts, self._resolve, self._owns = frozenset(allow_hosts), resolve, owns

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, **unused: Any
    ) -> Stream:
        """Connect to a host; raises AddressRefused before anything is dialled, ToolExecutionError
        where nothing answers.
        """
        limits = LIMITS.get()
        limits.dialled = True
        with limits.connecting():
            return self._dial(host, port, limits)

    def _dial(self, host: str, port: int, limits: ExchangeLimits) -> Stream:
        found = [host] if addresses.is_address(host) else self._addresses(host, port)
        if not addresses.is_listed(host, port, self._allow_hosts):
            self._judge(host, port, found)
        why = "it has no address"
        for index, address in enumerate(found):
            try:
                return Stream(
                    _connect(address, port, limits.remaining() / (len(found) - index)), host
                )
            except VespeError:
                raise
            except ConnectionBroken as error:
                why = str(error)
                break
            except OSError as error:
                why = _reason(error)
        raise ToolExecutionError(f"cannot connect to {host} on port {port}: {why}")

    def _addresses(self, host: str, port: int) -> Sequence[str]:
        """Resolve in a thread of its own: the system's resolver knows no deadline."""
        outcome: list[Sequence[str] | OSError | UnicodeError] = []
        done = threading.Event()

        def ask() -> None:
            try:
                outcome.append(self._resolve(host, port))
            except (OSError, UnicodeError) as error:
                outcome.append(error)
            finally:
                done.set()

        threading.Thread(target=ask, name="vespe-resolve", daemon=True).start()
        try:
            LIMITS.get().await_event(done)
        except ConnectionBroken as error:
            raise ToolExecutionError(f"the name {host} does not resolve: {error}") from error
        answer = outcome[0]
        if isinstance(answer, Exception):
            raise ToolExecutionError(
                f"the name {host} does not resolve: {_reason(answer)}"
            ) from answer
        return answer

    def _judge(self, host: str, port: int, found: Sequence[str]) -> None:
        for address in found:
            why = addresses.why_denied(address)
            if why:
                raise AddressRefused(host, address=address, why=why, port=port)
        for address in found:
            inner = addresses.find_ipv4(address)
            if self._owns(address) or (inner is not None and self._owns(inner)):
                raise AddressRefused(
                    host, address=address, why="an address of this machine", port=port
                )


def _connect(address: str, port: int, at_most_s: float) -> "socket.socket":
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    with contextlib.ExitStack() as undo:
        undo.callback(sock.close)
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            sock.connect((address, port))
        except BlockingIOError:
            if not LIMITS.get().wait(sock.fileno(), select.POLLOUT, at_most_s=at_most_s):
                raise OSError(errno.ETIMEDOUT, "it did not answer in time") from None
            failed = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if failed:
                raise OSError(failed, os.strerror(failed)) from None
        undo.pop_all()
    return sock


def _reason(error: OSError | UnicodeError) -> str:
    if isinstance(error, OSError):
        return getattr(error, "verify_message", "") or error.strerror or str(error)
    return str(error)
