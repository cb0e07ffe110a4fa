"""`vespe mcp serve --http`: where to listen, who may ask, and what is said about it on stderr."""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from vespe import errors
from vespe.cli import report
from vespe.features.mcp.server import http_tokens
from vespe.lazy import ipaddress, pattern
from vespe.records import dataclass

if TYPE_CHECKING:
    import socket

    from vespe.features.mcp.server.http_endpoint import Served
    from vespe.features.mcp.server.http_gate import AccessPolicy

F = TypeVar("F", bound=Callable[..., Any])
_ADDRESS: Final = pattern(r"(?:(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):)?(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """What the options say: `address` is HOST:PORT, or PORT on this machine alone."""

    address: str
    token_file: str | None
    no_token: bool
    allow_remote: bool
    stateless: bool


_OPTIONS: Final = (
    click.option(
        "--stateless",
        is_flag=True,
        help="Keep no state between requests, for several workers behind a proxy.",
    ),
    click.option(
        "--allow-remote",
        is_flag=True,
        help="Let --http listen on an address that other machines can reach. A token is required.",
    ),
    click.option(
        "--no-token",
        is_flag=True,
        help="Require no token, so that every program on this machine can call the tools. "
        "Loopback only.",
    ),
    click.option(
        "--token-file",
        metavar="FILE",
        help="Read the token from FILE, which is created with mode 0600 if it does not exist.",
    ),
    click.option(
        "--http",
        "address",
        metavar="HOST:PORT",
        help="Serve over Streamable HTTP instead of stdin and stdout.",
    ),
)


def http_options(command: F) -> F:
    """Add the options of HTTP to a command, which gets them as `http`: HttpSettings, or None where
    it is not asked for.
    """

    @functools.wraps(command)
    def gathered(
        *,
        address: str | None,
        token_file: str | None,
        no_token: bool,
        allow_remote: bool,
        stateless: bool,
        **others: Any,
    ) -> Any:
        if address is None and (token_file or no_token or allow_remote or stateless):
            given = (
                "--token-file, --no-token, --allow-remote and --stateless "
                "can only be used with --http"
            )
            raise errors.UsageError(given, hint="add --http 127.0.0.1:8000")
        settings = None
        if address is not None:
            settings = HttpSettings(
                address=address,
                token_file=token_file,
                no_token=no_token,
                allow_remote=allow_remote,
                stateless=stateless,
            )
        return command(http=settings, **others)

    made: Any = gathered
    for option in _OPTIONS:
        made = option(made)
    return cast(F, made)


def serve(tools: "Served", settings: HttpSettings, *, max_calls: int) -> None:
    """Serve over HTTP until a signal; raises as `listening` does before anything is served."""
    with listening(settings) as (listener, policy):
        from vespe.features.mcp.server import http_server

        http_server.serve_http(
            tools,
            listener,
            policy,
            stateless=settings.stateless,
            max_calls=max_calls,
            tell=report.warn,
        )


@contextlib.contextmanager
def listening(settings: HttpSettings) -> Iterator[tuple["socket.socket", "AccessPolicy"]]:
    """Listen as the options say, and tell the user where; yields the socket and who is let in.
    Raises UsageError, MissingExtra, Refused and StorageError.
    """
    host, port = _listening(settings)
    try:
        from vespe.features.mcp.server.http_gate import AccessPolicy
        from vespe.http import server
    except ImportError as error:
        raise errors.MissingExtra(
            "serving over HTTP", extra="mcp", module=error.name or "mcp"
        ) from None
    listener = server.bind(host, port)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    with _token(settings, port) as token:
        report.note(f"serving on http://{shown}:{port}/mcp")
        yield listener, AccessPolicy(token=token, remote=settings.allow_remote)


def _listening(settings: HttpSettings) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(settings.address)
    if found is None or int(found["port"]) > 65_535:
        raise errors.UsageError(
            f"--http takes HOST:PORT, not {settings.address!r}", hint="--http 127.0.0.1:8000"
        )
    host = (found["host"] or "127.0.0.1").strip("[]")
    if not _is_loopback(host):
        if not settings.allow_remote:
            raise errors.Refused(
                f"other machines can reach {host}",
                hint="listen on 127.0.0.1, or add --allow-remote",
            )
        if settings.no_token:
            raise errors.Refused("--allow-remote needs a token", hint="leave out --no-token")
    elif settings.allow_remote and settings.no_token:
        raise errors.Refused("--allow-remote needs a token", hint="leave out --no-token")
    if settings.no_token and settings.token_file:
        raise errors.UsageError("--no-token and --token-file cannot be combined")
    return host, int(found["port"])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@contextlib.contextmanager
def _token(settings: HttpSettings, port: int) -> Iterator[str | None]:
    if settings.no_token:
        report.warn("no token is required: every program on this machine can call these tools")
        yield None
    elif settings.token_file:
        path = os.path.abspath(settings.token_file)
        token, made = http_tokens.token_of(path)
        report.note(f"the token is in {path}" + (", which was just created" if made else ""))
        yield token
    else:
        with http_tokens.token_for(port) as (token, path):
            report.note(f"Authorization: Bearer {token}")
            report.note(f"the token is also in {path} while this server runs")
            yield token
