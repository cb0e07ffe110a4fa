"""An endpoint of models on the network: requests sent to it alone, tried again while nothing has
come, errors without a key.
"""

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field
from typing import Final

from vespe.documents import redaction
from vespe.errors import OutputTooLarge, ProviderError, ToolExecutionError
from vespe.features.agents import provider_settings
from vespe.features.agents.providers import failures, requests, retries
from vespe.features.agents.providers.base import Reply
from vespe.http import client as http_client
from vespe.http import sockets
from vespe.http.addresses import Url
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The most bytes of one answer, decompressed."""
_ERROR_BODY_S: Final = 5.0
"""How long the sentence of an error is waited for; its status is known already."""
_LOOPBACK: Final = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where requests go, and with which headers; `secrets` are the texts that no error may hold,
    `who` is the provider's name.

    `if_away` says what to do where nobody answers there. `renewed` is there for a key that is
    fetched: it returns where requests go where that one was refused, None where it is the same.
    """

    who: str
    url: Url
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    if_away: str = ""
    renewed: "Callable[[], Destination | None] | None" = field(default=None, repr=False)


class Endpoint:
    """Sends to one destination, over connections that are kept between requests. `destination` is
    asked at the first of them.

    Nothing else is reached: no redirect is followed, no proxy asked, and `localhost` is this
    machine whatever a resolver says.
    """

    def __init__(self, destination: Callable[[], Destination], patience: retries.Patience) -> None:
        self._find, self._patience = destination, patience
        self._found: tuple[Destination, http_client.Client] | None = None

    @contextmanager
    def send(
        self, payload: JsonObject, *, cancel: threading.Event | None = None
    ) -> Iterator[Reply]:
        """Send a request, again where that may help and no byte of an answer has come; leaving ends
        what is unread.

        Raises ProviderError, TimedOut, Interrupted, and Refused before anything is sent.
        """
        there, client = self._open()
        body = requests.encode(payload)
        limits = self._patience.limits(f"the request to {there.url.authority}", cancel)
        with ExitStack() as stack:
            yield retries.persistently(
                lambda: _with_its_key(client, body, there, limits=limits, stack=stack),
                self._patience,
                limits=limits,
                cancel=cancel,
            )

    def close(self) -> None:
        """Close kept connections."""
        if self._found is not None:
            self._found[1].close()

    def _open(self) -> tuple[Destination, http_client.Client]:
        if self._found is None:
            there = self._find()
            resolve = (
                _this_machine if provider_settings.is_loopback(there.url) else sockets.resolve_name
            )
            # The user named this host as the endpoint, so it may be a private one.
            client = http_client.Client(
                sockets.Dialler([there.url.host, there.url.authority], resolve=resolve)
            )
            weakref.finalize(self, client.close)
            self._found = there, client
        elif self._found[0].renewed is not None:
            # What was fetched may be another key by now; it is looked at in memory first.
            self._found = self._find(), self._found[1]
        return self._found


def _with_its_key(
    client: http_client.Client,
    body: bytes,
    there: Destination,
    *,
    limits: sockets.ExchangeLimits,
    stack: ExitStack,
) -> Reply:
    """Make a request, and once more with another key where the one that was fetched is refused."""
    try:
        return _attempt(client, body, there, limits=limits, stack=stack)
    except ProviderError as error:
        if error.status != 401 or there.renewed is None or (again := there.renewed()) is None:
            raise
    return _attempt(client, body, again, limits=limits, stack=stack)


def _attempt(
    client: http_client.Client,
    body: bytes,
    there: Destination,
    *,
    limits: sockets.ExchangeLimits,
    stack: ExitStack,
) -> Reply:
    request = http_client.Request(
        method="POST", url=str(there.url), headers=tuple(there.headers.items()), body=body
    )
    with ExitStack() as attempt:
        try:
            opened = attempt.enter_context(
                client.opened(request, limits=limits, max_bytes=MAX_ANSWER_BYTES)
            )
            first = next(opened.pieces, b"") if 200 <= opened.status < 300 else None
        except http_client.ConnectionLost as error:
            raise failures.broken(there.who, str(error), at_once=not limits.dialled) from error
        except ToolExecutionError as error:
            raise failures.broken(there.who, error.message, hint=there.if_away) from error
        if first is None:
            headers = dict(reversed(opened.headers))
            raise failures.of_status(
                opened.status, headers, _body(opened, limits), who=there.who, secrets=there.secrets
            )
        stack.push(attempt.pop_all())
        return _reply(opened, there, first, limits)


def _reply(
    opened: http_client.Opened, there: Destination, first: bytes, limits: sockets.ExchangeLimits
) -> Reply:
    """Return a successful answer, whose first piece is read already: from here on nothing is tried
    again.
    """

    def redacted(value: JsonValue) -> JsonValue:
        return redaction.redact(value, there.secrets)

    identifier = str(redacted(failures.request_id(dict(opened.headers))))
    return Reply(
        status=opened.status,
        headers=opened.headers,
        pieces=_pieces(opened, first, limits, who=there.who, identifier=identifier),
        request_id=identifier,
        framed=opened.framed,
        redacted=redacted,
        end_within=limits.end_within,
    )


def _pieces(
    opened: http_client.Opened,
    first: bytes,
    limits: sockets.ExchangeLimits,
    *,
    who: str,
    identifier: str,
) -> Iterator[bytes]:
    size = len(first)
    yield first
    try:
        for piece in opened.pieces:
            size += len(piece)
            yield piece
    except (http_client.ConnectionLost, ToolExecutionError) as error:
        if limits.is_over:
            return
        why = f"{who} closed the connection after {size} bytes of its answer: {error}"
        raise ProviderError(
            why, request_id=identifier, transient=not isinstance(error, OutputTooLarge)
        ) from error


def _body(opened: http_client.Opened, limits: sockets.ExchangeLimits) -> bytes:
    """Read the beginning of an error's body; what of it does not come, or not soon, is left out."""
    body = b""
    limits.end_within(_ERROR_BODY_S)
    try:
        for piece in opened.pieces:
            body += piece
            if len(body) > failures.MAX_BODY_BYTES:
                break
    except (http_client.ConnectionLost, ToolExecutionError):
        pass
    finally:
        limits.end_within(None)
    return body[: failures.MAX_BODY_BYTES]


def _this_machine(name: str, port: int) -> tuple[str, ...]:
    return _LOOPBACK
