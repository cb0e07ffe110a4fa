"""A real authorization server on loopback, from the routes of the official SDK, and an MCP server
that takes its tokens: tokens rotate, and a refresh token that comes twice is noticed.
"""

import contextlib
import json
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from tests.support.loopback import Exchange, Loopback
from tests.support.mcp_servers import definition


class Issuer(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Registers every client and says yes to every login; `lifetime_s` is that of its tokens.

    It judges: `reused` counts refresh tokens that came twice, `refreshes` those that were good,
    `revoked` what was given back. `forgets` loses clients as soon as they are registered.
    """

    def __init__(self, *, lifetime_s: int = 3600) -> None:
        self.url = ""
        self.lifetime_s = lifetime_s
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.spent: set[str] = set()
        self.refreshes = self.reused = 0
        self.revoked: list[str] = []
        self.forgets = self.denies = False
        self.resources: list[str | None] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        where = str(params.redirect_uri)
        if self.denies:
            return construct_redirect_uri(
                where, error="access_denied", error_description="No.", state=params.state
            )
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        self.resources.append(params.resource)
        if self.forgets:
            self.clients.clear()
        return construct_redirect_uri(where, code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._made(client.client_id, authorization_code.scopes)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        if refresh_token in self.spent:
            self.reused += 1
            self.refresh.clear()
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        if self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant", "it was used before")
        self.spent.add(refresh_token.token)
        self.refreshes += 1
        return self._made(client.client_id, scopes or refresh_token.scopes)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.revoked.append(token.token)
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def _made(self, client_id: str, scopes: list[str]) -> OAuthToken:
        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        self.access[access] = AccessToken(
            token=access,
            client_id=client_id,
            scopes=scopes,
            expires_at=int(time.time()) + self.lifetime_s,
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes)
        return OAuthToken(
            access_token=access,
            refresh_token=refresh,
            expires_in=self.lifetime_s,
            scope=" ".join(scopes) or None,
        )


@dataclass
class Resource:
    """An MCP server that takes the issuer's tokens, with a tool `echo`. `scopes` are those that
    each method wants; `said` is merged into its metadata, `body` stands for it. `seen` are the
    requests, with what they were authorized by.
    """

    issuer: Issuer
    url: str = ""
    scopes: dict[str, str] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    challenge: str = ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    calls: int = 0

    def __call__(self, exchange: Exchange) -> bool:
        if exchange.method == "GET" and "oauth-protected-resource" in exchange.target:
            if self.body is not None:
                return exchange.reply(self.body, kind="text/html")
            said = {"resource": self.url, "authorization_servers": [self.issuer.url], **self.said}
            return exchange.reply(json.dumps(said).encode())
        if exchange.method != "POST":
            return exchange.reply(b"", status=405)
        asked = json.loads(exchange.body or b"{}")
        sent = exchange.headers.get("authorization", "")
        self.seen.append((asked.get("method", ""), sent))
        token = self.issuer.access.get(sent.removeprefix("Bearer "))
        metadata = self.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
        if token is None or (token.expires_at or 0) < time.time():
            said_so = self.challenge or f'Bearer resource_metadata="{metadata}"'
            return exchange.reply(b"{}", f"WWW-Authenticate: {said_so}", status=401)
        wanted = self.scopes.get(asked.get("method", ""), "")
        if wanted and wanted not in token.scopes:
            said_so = f'Bearer error="insufficient_scope", scope="{wanted}"'
            return exchange.reply(b"{}", f"WWW-Authenticate: {said_so}", status=403)
        if "id" not in asked:
            return exchange.reply(b"", status=202)
        return exchange.reply(json.dumps(self._answer(asked, sent)).encode())

    def _answer(self, asked: dict[str, Any], sent: str) -> dict[str, Any]:
        self.calls += asked.get("method") == "tools/call"
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"},
            },
            "ping": {},
            "tools/list": {"tools": [definition("echo")]},
            # A server that says again what it was sent: none of it may come out.
            "tools/call": {"content": [{"type": "text", "text": f"done for {sent}"}]},
        }
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
        if asked.get("method") in results:
            return answer | {"result": results[asked["method"]]}
        return answer | {"error": {"code": -32601, "message": "there is none"}}


@contextlib.contextmanager
def authorized(*, lifetime_s: int = 3600) -> Iterator[tuple[Issuer, Resource]]:
    """Let an authorization server and an MCP server listen."""
    issuer = Issuer(lifetime_s=lifetime_s)
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        issuer.url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        routes = create_auth_routes(
            issuer,
            AnyHttpUrl(issuer.url),
            client_registration_options=ClientRegistrationOptions(enabled=True),
            revocation_options=RevocationOptions(enabled=True),
        )
        config = uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        running = threading.Thread(target=server.run, args=([listener],), daemon=True)
        running.start()
        resource = Resource(issuer)
        try:
            with Loopback(resource) as listening:
                resource.url = listening.url("/mcp")
                yield issuer, resource
        finally:
            server.should_exit = True
            running.join(10)
