"""`vespe mcp wrap`: anyone's MCP server, bounded, held and logged, for the client that starts
it.
"""

import functools
import gc
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Final

import click

from vespe import defaults, errors
from vespe.calls.log import CallLog
from vespe.calls.sandboxing import confine
from vespe.calls.secrets import SecretValues, secret_files
from vespe.cli import kit_facts, options, report
from vespe.documents import strict_json
from vespe.features.mcp.recordings.recorder import ServerRecorder
from vespe.features.mcp.recordings.server_recording import RecordingFile
from vespe.features.mcp.server import unforeseen
from vespe.features.mcp.server.wrapped_calls import WrappedCalls
from vespe.features.mcp.server.wrapping import Aside, Watcher, wrap
from vespe.http.addresses import parse_url
from vespe.kits import mcp_kits
from vespe.lazy import shlex, shutil
from vespe.models import Implementation, JsonObject, Tool
from vespe.processes import process
from vespe.projects import project, user_config
from vespe.records import dataclass
from vespe.tool_types import Context
from vespe.tools import templates
from vespe.types.mcp_tool import exchange, server_kits

_SECRET_VARIABLE: Final = re.compile(
    r"(?i)token|secret|passw(?:or)?d|passphrase|api_?key|private_?key|access_?key|credential"
)
"""Names of variables whose values are not recorded, though no server was given them."""
_SHORTEST: Final = 8
_REMOTE_FAREWELL_S: Final = 30.0
"""How long a server behind a URL may take to answer what was asked before stdin ended."""


@click.command(
    "wrap",
    context_settings={"allow_interspersed_args": False},
    epilog="Example: vespe mcp wrap --write . "
    "--write ~/.npm/ -- npx -y @modelcontextprotocol/server-filesystem .",
)
@click.argument("server_command", nargs=-1, metavar="[-- COMMAND...]")
@click.option(
    "--url",
    metavar="URL",
    help="A server that listens, over Streamable HTTP, instead of a command.",
)
@options.header_option
@options.login_option
@click.option(
    "--read",
    "read",
    multiple=True,
    metavar="PATH",
    help="Let it read only this; repeatable. Default: everything except keys and other "
    "private places.",
)
@click.option(
    "--write",
    "write",
    multiple=True,
    metavar="PATH",
    help="Let it write only here; repeatable. Default: the project (`.`).",
)
@click.option(
    "--network",
    "network",
    multiple=True,
    metavar="HOST",
    help="Let it reach only this host; repeatable. Default: all hosts.",
)
@click.option("--no-network", is_flag=True, help="Let it reach no host.")
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME",
    help="An environment variable that it may see; repeatable.",
)
@click.option(
    "--name",
    metavar="NAME",
    help="The server's name in the log; default: the name of its program, or the host of its URL.",
)
@click.option(
    "--record",
    "record",
    metavar="FILE",
    help="Record requests and answers in FILE, without secrets, for `mcp serve --replay`.",
)
@click.option(
    "--log-arguments",
    is_flag=True,
    help="Write the arguments of calls to the log, not only their digest.",
)
def command(
    server_command: tuple[str, ...],
    url: str | None,
    headers: tuple[str, ...],
    login: str | None,
    read: tuple[str, ...],
    write: tuple[str, ...],
    network: tuple[str, ...],
    no_network: bool,
    secrets: tuple[str, ...],
    name: str | None,
    record: str | None,
    log_arguments: bool,
) -> int:
    """Run an MCP server (over stdin and stdout) in Vespe's sandbox. Its messages are passed on
    unchanged. With --url, pass messages on between the client and a server that listens.

    The options set the permissions of a COMMAND. It gets none of your environment variables except
    those that you name. It ends with all its processes when stdin closes, at Ctrl-C and SIGTERM,
    and when Vespe itself is killed. The exit code is the server's. Calls are in `vespe log`.
    """
    stated: dict[str, tuple[str, ...]] = {"read": read, "write": write, "network": network}
    if no_network and network:
        raise errors.UsageError(
            "--network and --no-network cannot be combined", hint="use one of them"
        )
    if url is not None and (no_network or secrets or any(stated.values())):
        raise errors.UsageError(
            "--read, --write, --network and --secret are for a COMMAND: --url starts none",
            hint="a secret for a server that listens is a --header",
        )
    root, here = kit_facts.root_if_any(None), os.getcwd()
    _check_there(write, root or here)
    user = user_config.narrow(
        user_config.load_user_config(), {} if root is None else project.read_config(root).document
    )
    permissions: JsonObject = {key: list(value) for key, value in stated.items() if value} | (
        {"network": []} if no_network else {}
    )
    reach = {"secrets": secrets, "headers": headers, "login": login, "root": root}
    server = _server(server_command, url, name, user, **reach)
    tool = Tool(
        uid=server.name,
        name=server.name,
        description="",
        input_schema={},
        implementation=Implementation(type=mcp_kits.TYPE, args=server.args),
        permissions=permissions,
    )
    context = Context(
        project_root=root or here,
        directory=_place(server.argv[0]),
        environment=process.child_environment(os.environ, server.variables),
        secret_files=secret_files(user),
        timeout_s=defaults.TIMEOUT_S,
        allow_hosts=user.allow_hosts,
    )
    log = CallLog(root or here, keep_arguments=log_arguments, kept=True)
    gc.enable()  # unlike a command, a server lives
    with confine(tool, context, setting=user.sandbox) as held:
        recorder = None if record is None else _recorder(record, server, user=user)
        calls = WrappedCalls(log, name=server.name, sandbox=held.sandbox, secrets=server.secrets)
        status = _passed_on(server, held, calls, recorder)
    if recorder is not None and recorder.error is not None:
        raise recorder.error
    return status


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """What is wrapped: the process that speaks for it, which is told `first` on its stdin, and
    `args` as a tool's `implementation_details` have them. `secrets` are the values that it is sent.
    `renew` gives a token for one that the server refused; lines with `mark` ask for it.
    """

    name: str
    args: JsonObject
    argv: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict)
    first: bytes = b""
    farewell_s: float = defaults.GRACE_S
    secrets: tuple[str, ...] = ()
    mark: str = ""
    renew: Callable[[str], str] | None = None


def _server(
    command: tuple[str, ...],
    url: str | None,
    name: str | None,
    user: user_config.UserConfig,
    **given: Any,
) -> _Server:
    """Return the server that the words mean; raises UsageError where they mean none."""
    if bool(command) == bool(url):
        raise errors.UsageError(
            "say which server to wrap: a command after --, or --url",
            hint="vespe mcp wrap -- COMMAND",
        )
    if url:
        reach = {key: given[key] for key in ("headers", "login", "root")}
        return _at_url(url, name, user, **reach)
    if given["headers"] or given["login"]:
        raise errors.UsageError("--header and --login are for --url")
    called = name or os.path.basename(command[0])
    values = _values(given["secrets"], user, called)
    return _Server(
        name=called,
        args={"command": list(command)},
        argv=command,
        variables=values,
        secrets=tuple(values.values()),
    )


def _at_url(
    url: str,
    name: str | None,
    user: user_config.UserConfig,
    *,
    headers: tuple[str, ...],
    login: str | None,
    root: str | None,
) -> _Server:
    """Return the server that listens at `url`: a process of our own speaks for it, and is told the
    headers where nobody else reads them.
    """
    called = name or parse_url(url).authority
    given = dict(map(mcp_kits.parse_header, headers))
    options.refuse_two_tokens(login, given)
    values = _values(tuple(templates.secret_names(given)), user, called)
    sent = templates.substitute_secrets(given, values)
    secrets = list(values.values())
    authorize, by_login, mark = None, dict[str, str](), ""
    if login is not None:
        kept = SecretValues(environment=os.environ, configured=user.secrets)
        authorize = functools.partial(_token, kept, login, url, root)
        mark = f"{os.urandom(16).hex()} "
        by_login = {"token": authorize(""), "mark": mark}
        secrets.append(by_login["token"])
    if not any(finder.find_spec("mcp", None) for finder in sys.meta_path):
        raise errors.MissingExtra("wrapping an MCP server at a URL", extra="mcp", module="mcp")
    reach: JsonObject = {
        "url": url,
        "headers": sent,
        "allow_hosts": list(user.allow_hosts),
        "secrets": secrets,
        **by_login,
    }
    return _Server(
        name=called,
        args={"url": url},
        argv=exchange.argv("line_bridge"),
        farewell_s=_REMOTE_FAREWELL_S,
        first=strict_json.compact_bytes(reach) + b"\n",
        secrets=tuple(secrets),
        mark=mark,
        renew=authorize,
    )


def _token(kept: SecretValues, login: str, url: str, root: str | None, refused: str) -> str:
    token = server_kits.token_of_login(kept, login, url, root=root, refused=refused)
    if not token:
        raise errors.LoginRequired(
            login,
            why=f"at {url}: you are not logged in",
            command=f"vespe mcp login {login} --url {shlex.quote(url)}",
        )
    return token


def _aside(
    mark: str, renew: Callable[[str], str], hiding: Sequence[Callable[[str], None]]
) -> Aside:
    """Return what gives the process that speaks for the server a new token. Nothing but the token
    goes there: a refresh token stays in this process.
    """

    def answer(asked: bytes) -> bytes:
        try:
            token = renew(strict_json.parse_object(asked)["refused"])
        except errors.VespeError as error:
            said = f"{error} ({error.hint})" if error.hint else str(error)
            return strict_json.compact_bytes({"error": said})
        except Exception as error:
            # This is a thread of its own: without an answer, the process would wait for one.
            unforeseen.log("the renewal of a login", error)
            said = f"a bug in Vespe ended the renewal of the login ({type(error).__name__})"
            return strict_json.compact_bytes({"error": said})
        for hide in hiding:
            hide(token)
        return strict_json.compact_bytes({"token": token})

    return Aside(mark=mark.encode("ascii"), answer=answer)


def _passed_on(
    server: _Server, held: Context, calls: WrappedCalls, recorder: ServerRecorder | None
) -> int:
    """Pass messages on until the server or its client is gone; return the server's exit code."""
    watchers: list[Watcher] = [calls, recorder] if recorder else [calls]
    hiding = [calls.hide, *([recorder.hide] if recorder else [])]
    return wrap(
        server.argv,
        held,
        watchers,
        first=server.first,
        farewell_s=server.farewell_s,
        aside=None if server.renew is None else _aside(server.mark, server.renew, hiding),
    )


def _recorder(path: str, server: _Server, *, user: user_config.UserConfig) -> ServerRecorder:
    """Return what records the server; every secret that is known here stands as `***`, whether or
    not the server was given it.
    """
    kept = SecretValues(environment=os.environ, configured=user.secrets)
    known = [value for name in user.secrets for value in kept.known((name,))]
    named = [value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name)]
    return ServerRecorder(
        RecordingFile(path, server=server.name),
        secrets=tuple({*server.secrets, *known, *(v for v in named if len(v) >= _SHORTEST)}),
        failed=lambda error: report.warn(f"recording stopped: {error}"),
    )


def _check_there(paths: tuple[str, ...], root: str) -> None:
    """Raise UsageError for a path that is not there and that nothing makes: the server could not
    write it.
    """
    for path in paths:
        if not path.endswith("/") and not os.path.lexists(
            os.path.join(root, os.path.expanduser(path))
        ):
            raise errors.UsageError(
                f"--write {path}: there is no such file or directory",
                hint=f"to create a directory, end the path with /: --write {path}/",
            )


def _place(program: str) -> str:
    """Return the directory of a program, which it may always read; that of the system's programs
    where there is no such program.
    """
    return os.path.dirname(os.path.realpath(shutil.which(program) or "/usr/bin/env"))


def _values(names: tuple[str, ...], user: user_config.UserConfig, called: str) -> dict[str, str]:
    kept = SecretValues(environment=os.environ, configured=user.secrets)
    values = {name: kept.find((name,)) for name in names}
    for name, value in values.items():
        if not value:
            raise errors.MissingSecret(name, tool=called)
    return values
