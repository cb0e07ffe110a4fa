"""`vespe mcp wrap`: anyone's MCP server, bounded, held and logged, for the client that starts
it.
"""

import gc
import os
import re
from typing import Final

import click

from vespe import defaults, errors
from vespe.calls.log import CallLog
from vespe.calls.sandboxing import confine
from vespe.calls.secrets import SecretValues, secret_files
from vespe.cli import kit_facts, report
from vespe.features.mcp.recordings.recorder import ServerRecorder
from vespe.features.mcp.recordings.server_recording import RecordingFile
from vespe.features.mcp.server.wrapped_calls import WrappedCalls
from vespe.features.mcp.server.wrapping import wrap
from vespe.lazy import shutil
from vespe.models import Implementation, JsonObject, Tool
from vespe.processes import process
from vespe.projects import project, user_config
from vespe.tool_types import Context

_SECRET_VARIABLE: Final = re.compile(
    r"(?i)token|secret|passw(?:or)?d|passphrase|api_?key|private_?key|access_?key|credential"
)
"""Names of variables whose values are not recorded, though no server was given them."""
_SHORTEST: Final = 8


@click.command(
    "wrap",
    context_settings={"allow_interspersed_args": False},
    epilog="Example: vespe mcp wrap --write . "
    "--write ~/.npm/ -- npx -y @modelcontextprotocol/server-filesystem .",
)
@click.argument("server_command", nargs=-1, required=True, metavar="-- COMMAND...")
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
    "--name", metavar="NAME", help="The server's name in the log; default: the name of its program."
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
    unchanged.

    The options set the server's permissions. It gets none of your environment variables except
    those that you name, and its calls are in `vespe log`. It ends with all its processes when stdin
    closes, at Ctrl-C and SIGTERM, and when Vespe itself is killed. The exit code is the server's.
    """
    if no_network and network:
        raise errors.UsageError(
            "--network and --no-network exclude each other", hint="use one of them"
        )
    root, here = kit_facts.root_if_any(None), os.getcwd()
    _check_there(write, root or here)
    user = user_config.narrow(
        user_config.load_user_config(), {} if root is None else project.read_config(root).document
    )
    stated = {"read": read, "write": write, "network": network}
    permissions: JsonObject = {key: list(value) for key, value in stated.items() if value} | (
        {"network": []} if no_network else {}
    )
    called = name or os.path.basename(server_command[0])
    values = _values(secrets, user, called)
    tool = Tool(
        uid=called,
        name=called,
        description="",
        input_schema={},
        implementation=Implementation(type="mcp_tool", args={"command": list(server_command)}),
        permissions=permissions,
    )
    context = Context(
        project_root=root or here,
        directory=_place(server_command[0]),
        environment=process.child_environment(os.environ, values),
        secret_files=secret_files(user),
        timeout_s=defaults.TIMEOUT_S,
        allow_hosts=user.allow_hosts,
    )
    log = CallLog(root or here, keep_arguments=log_arguments, kept=True)
    gc.enable()  # unlike a command, a server lives
    with confine(tool, context, setting=user.sandbox) as held:
        recorder = None if record is None else _recorder(record, called, user=user, values=values)
        calls = WrappedCalls(log, name=called, sandbox=held.sandbox, secrets=tuple(values.values()))
        status = wrap(server_command, held, [calls, recorder] if recorder else [calls])
    if recorder is not None and recorder.error is not None:
        raise recorder.error
    return status


def _recorder(
    path: str, called: str, *, user: user_config.UserConfig, values: dict[str, str]
) -> ServerRecorder:
    """Return what records the server; every secret that is known here stands as `***`, whether or
    not the server was given it.
    """
    kept = SecretValues(environment=os.environ, configured=user.secrets)
    known = [value for name in user.secrets for value in kept.known((name,))]
    named = [value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name)]
    return ServerRecorder(
        RecordingFile(path, server=called),
        secrets=tuple({*values.values(), *known, *(v for v in named if len(v) >= _SHORTEST)}),
        failed=lambda error: report.warn(f"nothing more is recorded: {error}"),
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
                hint=f"for a directory end it with /, and it is made: --write {path}/",
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
