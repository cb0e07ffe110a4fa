"""The OAuth flow by the official SDK, driven request by request: each is judged before it is sent,
and what the servers answered is known where the flow fails.
"""

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import field, replace
from typing import Any, Final, Protocol
from urllib.request import parse_http_list, parse_keqv_list

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import ValidationError

from vespe import defaults
from vespe.documents import redaction
from vespe.errors import LoginRequired, Refused, ToolExecutionError, VespeError
from vespe.features.oauth.records import TokenGrant
from vespe.features.oauth.transport import JudgedTransport
from vespe.records import dataclass

_EARLY_S: Final = 30.0
_EARLY_PART: Final = 0.1
"""A token is refreshed so long before its end, or this part of its life where that is less: it must
last for the call.
"""
_VERSION: Final = "2025-06-18"
"""The oldest revision whose clients name the resource that they want a token for."""
_QUIET: Final[ContextVar[bool]] = ContextVar("QUIET", default=False)
_SAID: Final = 300


class Person(Protocol):
    """Whoever logs in: `redirect_uri` is where their browser is sent with the code."""

    redirect_uri: str

    def ask(self, question: "LoginQuestion") -> None:
        """Ask whether to log in there, and lead the person there; raises Refused for a no."""
        ...

    def answer(self) -> tuple[str, str, str | None]:
        """Wait for the code, the state and the issuer that the redirect brings."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginQuestion:
    """What a person is asked: to log in at `issuer`, by opening `url`, so that `server` may be used
    with these scopes.
    """

    server: str
    issuer: str
    scope: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The login that is wanted: to the server of a kit, by a client that was given
    (`client_id`, `client_secret`) or is known by `metadata_url`, else one that is registered.

    `issuer` is the one that a client which was given belongs to, "" where that is not known;
    `scope` is asked for beside what the server asks for.
    """

    kit_id: str
    url: str
    scope: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    issuer: str = ""
    metadata_url: str = ""
    allow_hosts: tuple[str, ...] = ()


def logged_in(wanted: Wanted, person: Person, *, cancel: threading.Event) -> TokenGrant:
    """Log a person in, and return the tokens; nothing is kept. The server has accepted them.

    Raises Refused and its kinds, ToolExecutionError, OutputTooLarge, TimedOut and Interrupted.
    """
    return asyncio.run(_Flow(wanted, person, cancel).run())


def refreshed(grant: TokenGrant, secret: str, *, allow_hosts: tuple[str, ...]) -> TokenGrant:
    """Return other tokens for a grant, from the endpoint that gave it. Raises LoginRequired where
    it refuses for good, ToolExecutionError where it fails.
    """
    return asyncio.run(_refreshed(grant, secret, allow_hosts))


class _Storage:
    """What the SDK reads and writes: nothing is kept here, what is new is known afterwards."""

    def __init__(
        self, tokens: OAuthToken | None = None, client: OAuthClientInformationFull | None = None
    ) -> None:
        self.tokens, self.client = tokens, client

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens to begin with."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Take new tokens."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the client to begin with."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Take a new client."""
        self.client = client_info


class _Flow:
    """One login: the SDK's generator says which request comes next."""

    def __init__(self, wanted: Wanted, person: Person, cancel: threading.Event) -> None:
        self._wanted, self._person, self._cancel = wanted, person, cancel
        self._transport = JudgedTransport(wanted.allow_hosts, cancel=cancel)
        self._tried: list[str] = []
        self._storage = _Storage(client=_given(wanted, person.redirect_uri))
        self._provider = OAuthClientProvider(
            wanted.url,
            _described(person.redirect_uri),
            self._storage,
            redirect_handler=self._lead,
            callback_handler=self._await_code,
            client_metadata_url=wanted.metadata_url or None,
        )

    async def run(self) -> TokenGrant:
        """Log in, and see that the server takes the token."""
        try:
            async with httpx2.AsyncClient(
                transport=self._transport, trust_env=False, timeout=None
            ) as client:
                with _quietly():
                    probe = _probe(client, self._wanted.url)
                    first = await self._challenge(client, probe)
                    await self._through(client, probe, first)
                    last = await client.send(probe)
        finally:
            self._cancel.set()  # a request that is under way ends
        if last.status_code in (401, 403):
            raise ToolExecutionError(
                f"the MCP server of {self._wanted.kit_id} refuses the token that it was just given "
                f"(HTTP status {last.status_code}{_quoted(last.headers.get('www-authenticate'))})",
                hint="nothing was saved; the server's operator can tell you which tokens it "
                "accepts",
            )
        return self._grant()

    async def _challenge(
        self, client: httpx2.AsyncClient, probe: httpx2.Request
    ) -> httpx2.Response:
        """Return the answer that the flow begins with: the server's own 401, or one that asks for
        what the person wants.
        """
        said = await client.send(probe)
        header = said.headers.get("www-authenticate", "")
        if not self._wanted.scope:
            return said if said.status_code == 401 else httpx2.Response(401, request=probe)
        asked = f'Bearer error="insufficient_scope", scope="{self._wanted.scope}"'
        found = _field(header, "resource_metadata")
        asked += f', resource_metadata="{found}"' if found else ""
        return httpx2.Response(403, headers={"www-authenticate": asked}, request=probe)

    async def _through(
        self, client: httpx2.AsyncClient, probe: httpx2.Request, first: httpx2.Response
    ) -> None:
        flow = self._provider.async_auth_flow(probe)
        try:
            async with contextlib.aclosing(flow):
                outgoing = await flow.asend(None)  # type: ignore[arg-type]  # as for any generator
                response = first
                while (outgoing := await flow.asend(response)) is not probe:
                    self._check(outgoing)
                    response = await client.send(outgoing, follow_redirects=False)
                    self._note(outgoing, response)
        except StopAsyncIteration:
            pass
        except VespeError:
            raise
        except (OAuthFlowError, ValidationError, ValueError) as error:
            raise self._explained(error) from None
        if self._storage.tokens is None:
            raise self._explained(OAuthFlowError("it ended without a token"))

    def _check(self, outgoing: httpx2.Request) -> None:
        """Refuse to send what the SDK would where nothing says that it goes to the right place."""
        context, wanted = self._provider.context, self._wanted
        if outgoing.method == "POST" and context.oauth_metadata is None:
            raise self._nowhere()
        known = context.auth_server_url
        if wanted.issuer and known and known.rstrip("/") != wanted.issuer.rstrip("/"):
            raise Refused(
                f"the MCP server of {wanted.kit_id} now uses another authorization server: "
                f"{known}. The client is registered at {wanted.issuer}",
                hint=f"if this is intended, run `vespe mcp logout {wanted.kit_id}`, then log "
                "in again",
            )

    def _note(self, outgoing: httpx2.Request, response: httpx2.Response) -> None:
        self._last = outgoing, response
        if outgoing.method == "GET":
            kind = response.headers.get("content-type", "").partition(";")[0]
            said = f", {kind}" if response.status_code == 200 and kind else ""
            self._tried.append(f"{outgoing.url} answered {response.status_code}{said}")

    async def _lead(self, url: str) -> None:
        context = self._provider.context
        metadata = context.oauth_metadata
        if metadata is None:
            raise self._nowhere()
        # One that does not say which methods it supports may support none: MCP's specification lets
        # no client go on there.
        if "S256" not in (metadata.code_challenge_methods_supported or ()):
            raise Refused(
                f"{metadata.issuer} does not say that it supports PKCE with S256, which protects "
                "the login against stolen codes",
                hint="nothing was sent there; its operator can turn it on",
            )
        for endpoint in (
            metadata.authorization_endpoint,
            metadata.token_endpoint,
            metadata.revocation_endpoint,
        ):
            if endpoint is not None:
                self._transport.check(str(endpoint))
        if context.client_info is not None and self._wanted.client_id:
            context.client_info.token_endpoint_auth_method = _auth_method(
                metadata, bool(self._wanted.client_secret)
            )
        asked = LoginQuestion(
            server=self._wanted.url,
            issuer=str(metadata.issuer),
            scope=context.client_metadata.scope or "",
            url=url,
        )
        # Here and not in a thread: nothing else runs meanwhile, and a Ctrl-C reaches this one.
        self._person.ask(asked)

    async def _await_code(self) -> AuthorizationCodeResult:
        code, state, issuer = self._person.answer()
        self._transport.restart()
        return AuthorizationCodeResult(code=code, state=state, iss=issuer)

    def _nowhere(self) -> ToolExecutionError:
        tried = "; ".join(self._tried)
        return ToolExecutionError(
            f"the MCP server of {self._wanted.kit_id} does not say where to log in: {tried}"[:1000],
            hint="if it takes a fixed token: --header 'Authorization: Bearer ${env:NAME}' of "
            "`vespe kit add-mcp`, and the secret NAME",
        )

    def _explained(self, error: Exception) -> VespeError:
        """Say why the flow failed; what the SDK says of tokens may quote them, and is not told."""
        outgoing, response = getattr(self, "_last", (None, None))
        context, kit_id = self._provider.context, self._wanted.kit_id
        if outgoing is not None and response is not None and outgoing.method == "POST":
            url = str(outgoing.url)
            metadata = context.oauth_metadata
            is_token = metadata is not None and url == str(metadata.token_endpoint)
            if is_token:
                return _no_token(url, response, kit_id, self._secrets())
            if context.client_info is None:
                return ToolExecutionError(
                    f"{outgoing.url.host} does not register Vespe as a client"
                    f" (HTTP status {response.status_code}{_reason(response, ())})",
                    hint="register a client there yourself, and pass it with --client-id",
                )
        return Refused(
            f"the login to {kit_id} is refused: {str(error)[:_SAID]}",
            hint="nothing was saved; the server's operator can correct its metadata",
        )

    def _secrets(self) -> tuple[str, ...]:
        client = self._provider.context.client_info
        known = (client.client_secret if client else None, self._wanted.client_secret)
        return tuple(filter(None, known))

    def _grant(self) -> TokenGrant:
        context, tokens = self._provider.context, self._storage.tokens
        metadata, client = context.oauth_metadata, context.client_info
        if metadata is None or client is None or tokens is None:
            raise self._nowhere()
        revocation = metadata.revocation_endpoint
        wants_resource = context.should_include_resource_param(_VERSION)
        return TokenGrant(
            kit_id=self._wanted.kit_id,
            url=self._wanted.url,
            issuer=str(metadata.issuer),
            authorization_endpoint=str(metadata.authorization_endpoint),
            token_endpoint=str(metadata.token_endpoint),
            revocation_endpoint=str(revocation) if revocation else "",
            resource=context.get_resource_url() if wants_resource else "",
            client_id=client.client_id,
            client_secret="" if self._wanted.client_id else client.client_secret or "",
            client_auth=client.token_endpoint_auth_method or "none",
            access_token=tokens.access_token,
            refresh_token=tokens.refresh_token or "",
            scope=tokens.scope or "",
            fresh_until=_fresh_until(tokens.expires_in),
        )


async def _refreshed(grant: TokenGrant, secret: str, allow_hosts: tuple[str, ...]) -> TokenGrant:
    storage = _Storage(
        OAuthToken(access_token=grant.access_token, refresh_token=grant.refresh_token),
        OAuthClientInformationFull(
            client_id=grant.client_id,
            client_secret=secret or None,
            token_endpoint_auth_method=grant.client_auth,
            issuer=grant.issuer,
        ),
    )
    before = storage.tokens
    provider = OAuthClientProvider(grant.url, _described("http://127.0.0.1/callback"), storage)
    context = provider.context
    context.oauth_metadata = OAuthMetadata.model_validate(
        {
            "issuer": grant.issuer,
            "authorization_endpoint": grant.authorization_endpoint,
            "token_endpoint": grant.token_endpoint,
        }
    )
    if grant.resource:
        context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
            {"resource": grant.resource, "authorization_servers": [grant.issuer]}
        )
    context.token_expiry_time = 1.0
    transport = JudgedTransport(allow_hosts, cancel=threading.Event())
    async with httpx2.AsyncClient(transport=transport, trust_env=False, timeout=None) as client:
        with _quietly():
            probe = httpx2.Request("POST", grant.url)
            async with contextlib.aclosing(provider.async_auth_flow(probe)) as flow:
                outgoing = await flow.asend(None)  # type: ignore[arg-type]  # as for any generator
                response = await client.send(outgoing, follow_redirects=False)
                await flow.asend(response)
    tokens = storage.tokens
    if tokens is None or tokens is before:
        raise _unrefreshed(grant, response, secret)
    return replace(
        grant,
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token or grant.refresh_token,
        scope=tokens.scope or grant.scope,
        fresh_until=_fresh_until(tokens.expires_in),
    )


def _unrefreshed(grant: TokenGrant, response: httpx2.Response, secret: str) -> VespeError:
    reason = _reason(response, (secret, grant.refresh_token, grant.client_secret))
    code = _document(response).get("error")
    if code == "invalid_client":
        why = f"requires a login: {grant.issuer} no longer knows the client of the last one{reason}"
        return LoginRequired(grant.kit_id, why=why)
    if code in ("invalid_grant", "unauthorized_client", "invalid_scope", "invalid_target"):
        why = f"requires a login: {grant.issuer} ended the last one{reason}"
        return LoginRequired(grant.kit_id, why=why)
    if response.status_code == 200:
        return ToolExecutionError(f"{grant.issuer} answered without a token")
    return ToolExecutionError(
        f"{grant.issuer} answered with HTTP status {response.status_code}{reason}"
    )


def _no_token(
    url: str, response: httpx2.Response, kit_id: str, secrets: tuple[str, ...]
) -> VespeError:
    said = _document(response)
    reason = _reason(response, secrets)
    if response.status_code == 200:
        kind = response.headers.get("content-type", "no type").partition(";")[0]
        return ToolExecutionError(
            f"the login to {kit_id} failed: {url} answered without a token ({kind})",
            hint="nothing was saved; the operator of the authorization server can fix this",
        )
    if said.get("error") == "invalid_client":
        return ToolExecutionError(
            f"the login to {kit_id} failed: {url} does not know the client{reason}",
            hint="log in again, which registers a new client; for a client that you "
            "registered yourself, check --client-id and --client-secret",
        )
    return ToolExecutionError(
        f"the login to {kit_id} failed: {url} returned no token (HTTP status "
        f"{response.status_code}{reason})",
        hint="log in again; a code is valid only once, and for a short time",
    )


def _given(wanted: Wanted, redirect_uri: str) -> OAuthClientInformationFull | None:
    """Return the client that the user registered; which way it proves itself is known later."""
    if not wanted.client_id:
        return None
    return OAuthClientInformationFull.model_validate(
        {
            "client_id": wanted.client_id,
            "client_secret": wanted.client_secret or None,
            "redirect_uris": [redirect_uri],
            "token_endpoint_auth_method": "client_secret_post" if wanted.client_secret else "none",
            "issuer": wanted.issuer or None,
        }
    )


def _auth_method(metadata: OAuthMetadata, has_secret: bool) -> str:
    """Return how a client that was given proves itself: as the metadata says, RFC 8414's default
    first. Raises Refused where it takes neither of the ways that Vespe knows.
    """
    if not has_secret:
        return "none"
    supported = metadata.token_endpoint_auth_methods_supported or ["client_secret_basic"]
    ways = ("client_secret_basic", "client_secret_post")
    for way in ways:
        if way in supported:
            return way
    raise Refused(
        f"{metadata.issuer} takes clients with a secret by {', '.join(supported)[:_SAID]} alone, "
        f"and Vespe sends one by {' or '.join(ways)}",
        hint="the secret was not sent; register a client of another kind there, or a public one, "
        "and leave --client-secret out",
    )


def _described(redirect_uri: str) -> OAuthClientMetadata:
    return OAuthClientMetadata.model_validate(
        {
            "client_name": "Vespe",
            "software_id": "vespe",
            "software_version": defaults.VERSION,
            "redirect_uris": [redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
        }
    )


def _probe(client: httpx2.AsyncClient, url: str) -> httpx2.Request:
    """Return the request that the server is to refuse, then to accept: it begins no session."""
    return client.build_request(
        "POST",
        url,
        json={"jsonrpc": "2.0", "id": 1, "method": "ping"},
        headers={
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": _VERSION,
        },
    )


def _fresh_until(expires_in: int | None) -> float | None:
    if expires_in is None:
        return None
    lasts = max(0, expires_in)
    return time.time() + lasts - min(_EARLY_S, _EARLY_PART * lasts)


def _document(response: httpx2.Response) -> dict[str, Any]:
    try:
        document = json.loads(response.content)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _reason(response: httpx2.Response, secrets: tuple[str, ...]) -> str:
    """Return what an error of OAuth says, without the secrets that were sent."""
    said = _document(response)
    words = [said[key] for key in ("error", "error_description") if isinstance(said.get(key), str)]
    text = str(redaction.redact(": ".join(words)[:_SAID], tuple(filter(None, secrets))))
    return f" ({text})" if text else ""


def _quoted(text: str | None) -> str:
    return f": {text[:_SAID]}" if text else ""


def _field(header: str, name: str) -> str:
    _, _, rest = header.partition(" ")
    pairs = [part for part in parse_http_list(rest) if "=" in part]
    return parse_keqv_list(pairs).get(name, "")


class _Silence(logging.Filter):
    """Drops what the SDK logs of Vespe's own flows: it quotes answers that hold tokens."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _QUIET.get()


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    logger = logging.getLogger("mcp.client.auth.oauth2")
    if not any(isinstance(one, _Silence) for one in logger.filters):
        logger.addFilter(_Silence())
    token = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(token)
