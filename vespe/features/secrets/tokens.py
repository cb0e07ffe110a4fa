"""Access tokens that are fetched with a client's id and secret: OAuth's client credentials
(RFC 6749, section 4.4).
"""

import base64
from collections.abc import Callable
from dataclasses import field
from typing import Final, NamedTuple

from vespe import errors
from vespe.documents import redaction, strict_json
from vespe.http import client
from vespe.http.addresses import parse_url
from vespe.lazy import urls
from vespe.records import dataclass

TIMEOUT_S: Final = 30.0
_MOST_BYTES: Final = 64 * 1024
_EARLY: Final = 0.1
"""The part of its life that a token is not used for any more: it must last for the call."""
Fails = Callable[[str, str], errors.SecretUnavailable]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenClient:
    """Who asks for a token where: the token endpoint's `url`, the client's `id` and `secret`, and
    what else is sent (`scope`, `audience`).
    """

    url: str
    id: str
    secret: str = field(repr=False)
    more: tuple[tuple[str, str], ...] = ()


class FetchedToken(NamedTuple):
    """An access token, and how many seconds it is to be used; None where nobody says."""

    value: str
    lasts_s: float | None


def ask(asking: TokenClient, *, fails: Fails) -> FetchedToken:
    """Ask the endpoint for a token; raises what `fails` makes, which never quotes the secret."""
    url = parse_url(asking.url)
    pair = ":".join(urls.quote_plus(part) for part in (asking.id, asking.secret))
    request = client.Request(
        method="POST",
        url=asking.url,
        headers=(
            ("authorization", f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"),
            ("content-type", "application/x-www-form-urlencoded"),
            ("accept", "application/json"),
        ),
        body=urls.urlencode((("grant_type", "client_credentials"), *asking.more)).encode(),
    )
    try:
        response = client.exchange(
            request,
            timeout_s=TIMEOUT_S,
            max_bytes=_MOST_BYTES,
            # The user's own configuration names this host, wherever it is.
            allow_hosts=(url.host, url.authority),
        )
    except errors.VespeError as error:
        said = str(redaction.redact(str(error), (asking.secret,)))
        raise fails(said, error.hint or "check its URL, and that it answers") from None
    return _token(response, asking, fails)


def _token(response: client.Response, asking: TokenClient, fails: Fails) -> FetchedToken:
    try:
        document = strict_json.parse_json(response.body.decode("utf-8", "replace"))
    except errors.InvalidDocument:
        document = None
    answer = document if isinstance(document, dict) else {}
    if not 200 <= response.status <= 299:
        words = [answer[key] for key in ("error", "error_description") if key in answer]
        said = str(redaction.redact(" ".join(map(str, words))[:300], (asking.secret,)))
        raise fails(
            f"it answered with status {response.status}" + (f": {said}" if said else ""),
            "check the client's id, its secret and the scope",
        )
    value, lasts = answer.get("access_token"), answer.get("expires_in")
    if not isinstance(value, str) or not value or not value.isprintable():
        raise fails("its answer has no access_token", "check that this is the token endpoint")
    if isinstance(lasts, bool) or not isinstance(lasts, (int, float)):
        return FetchedToken(value, None)
    return FetchedToken(value, max(0.0, lasts * (1 - _EARLY)))
