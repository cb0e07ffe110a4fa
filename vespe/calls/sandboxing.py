"""What one call's process is held to: the tool's `permissions` at the level that the machine has and the user's setting asks for."""

import contextlib
import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from vespe.calls.executors.base import Context
from vespe.errors import PermissionDenied, Refused, ToolExecutionError
from vespe.files import locations
from vespe.files.private_copy import private_directory
from vespe.lazy import pattern
from vespe.models import Execution, Tool
from vespe.processes.sandbox import levels
from vespe.processes.sandbox.held import Policy
from vespe.processes.sandbox.policy import Surroundings, policy, python_needs
from vespe.processes.sandbox.protected import holds, homes
from vespe.tools.permissions import permissions_of

_IN_PROCESS: Final = ("http_request", "wasm", "rust_function")
"""What starts no process of the tool's own: Vespe itself reaches the host, or WebAssembly holds the code."""


@contextlib.contextmanager
def sandboxed(tool: Tool, context: Context, *, setting: str) -> Iterator[Context]:
    """Return the context with what the tool's process is held to, for as long as its temporary directory is there.

    `setting` is the user's `sandbox`, as the project raises it. Raises Refused where it is `require` and a permission that the tool
    states cannot be held.
    """
    if not _starts(tool):
        yield context
        return
    level = machine().level if setting == "require" else "off"
    permissions = permissions_of(tool.permissions)
    if level == "off":
        made = policy(levels.Machine(), "off", permissions, Surroundings(project="/", directory="/", scratch="/"))
        _require(setting, made, tool)
        yield replace(context, sandbox=made)
        return
    with private_directory() as scratch:
        made = policy(machine(), level, permissions, _surroundings(tool, context, scratch))
        _require(setting, made, tool)
        yield replace(context, sandbox=made, environment={**context.environment, **made.environment})


def machine() -> levels.Machine:
    """Return what this machine offers, tried once for each start of it."""
    return levels.machine(locations.user_cache_dir())


def _starts(tool: Tool) -> bool:
    implementation = tool.implementation
    if implementation is None or implementation.type in _IN_PROCESS:
        return False
    return implementation.type != "mcp_tool" or bool(implementation.args.get("command"))


def _surroundings(tool: Tool, context: Context, scratch: str) -> Surroundings:
    return Surroundings(
        project=context.project_root,
        directory=context.directory,
        scratch=scratch,
        path=context.environment.get("PATH", ""),
        needs=_needs(),
        starts=_programs(tool, context),
        own=_own(),
    )


def _own() -> tuple[str, ...]:
    return tuple({locations.user_config_dir(), locations.user_state_dir(), locations.user_cache_dir()})


def _needs() -> tuple[str, ...]:
    return (*_python(sys.executable), os.path.join(locations.user_cache_dir(), "envs"))


_python = functools.cache(python_needs)


def _programs(tool: Tool, context: Context) -> tuple[str, ...]:
    """Return what the tool is started with, which it need not state."""
    implementation: Any = tool.implementation
    if implementation.type == "shell_command":
        return (os.path.join(context.directory, implementation.path) if implementation.path else str(implementation.entrypoint),)
    command = implementation.args.get("command") if implementation.type == "mcp_tool" else None
    return (sys.executable, *(command[:1] if isinstance(command, list) else ()))


def _require(setting: str, made: Policy, tool: Tool) -> None:
    if setting != "require":
        return
    if made.level == "off":
        raise Refused("your configuration requires a sandbox, and this machine has none", hint="`vespe doctor` says what would give it one")
    if "hosts" in made.gaps:
        hosts = ", ".join(permissions_of(tool.permissions).network or ())
        raise Refused(
            f"your configuration requires a sandbox, and {made.level!r} cannot hold {tool.name!r} to the hosts that it states: {hosts}",
            hint="`vespe doctor` says what would raise the level; `vespe config set sandbox auto` runs it without",
        )


_KINDS: Final = {"read": "read", "write": "write", "network": "reach", "programs": "start"}
_SAID: Final = pattern(
    r"(?:^|[\s'\"‘`(:])((?:/|\.{1,2}/|~/)[^\s'\"’:]+)['\"’]?\)?:? *(?::.*)?"
    r"(?:Permission denied|Operation not permitted|Read-only file system|No such file or directory)",
    re.MULTILINE,
)
"""How programs say which file was refused; a directory that is hidden is there outside."""
_NETWORK: Final = pattern(
    r"(?i)network is unreachable|could not resolve host|temporary failure in name resolution|couldn't connect to server|bad address"
)


def explained(error: ToolExecutionError, tool: Tool, made: Policy | None) -> ToolExecutionError:
    """Return the error as it is, or as PermissionDenied where it comes of what the sandbox refused."""
    touched = error.details.pop("touched", ())
    if made is None or not made.message or type(error) is not ToolExecutionError:
        return error
    for kind, what in (*reversed(refused(touched, made)), *_guessed(error, made)):
        stated = list(getattr(permissions_of(tool.permissions), kind) or _DEFAULTS.get(kind, ()))
        line = ", ".join(f'"{item}"' for item in [*stated, _short(what)])
        return PermissionDenied(
            f"the sandbox did not let {tool.name!r} {_KINDS[kind]} {what}: {error}",
            hint=f'where it is to, say so in its config.json: "permissions": {{"{kind}": [{line}]}}',
            details=error.details | {"permission": kind, "refused": what},
        )
    return error


def _short(what: str) -> str:
    """Return a path as a config.json says it."""
    home = next((home for home in homes() if holds(home, what)), None)
    return what if home is None or home == "/" else "~" + what[len(home) :]


_DEFAULTS: Final = {"read": (".",), "write": (".",)}
"""What to state beside, since what is stated holds alone."""


def refused(touched: Iterable[Sequence[str]], made: Policy | None) -> list[tuple[str, str]]:
    """Return those of the things that a tool touched which its sandbox holds it back from."""
    return [(kind, what) for kind, what in touched if made is not None and made.refuses(kind, what)]


def notes(execution: Execution, made: Policy | None) -> Execution:
    """Return an execution with a note for each refusal that the tool went on after."""
    found = refused(execution.touched, made)
    said = tuple(f"the sandbox did not let it {_KINDS[kind]} {what}" for kind, what in found[:8])
    return replace(execution, notes=(*execution.notes, *said)) if said else execution


def _guessed(error: ToolExecutionError, made: Policy) -> Iterator[tuple[str, str]]:
    """Find what was refused in what a program wrote to its standard error."""
    said = str(error.details.get("stderr", "")) + str(error)
    for path in _SAID.findall(said):
        kinds = ("read", "write", "programs") if os.path.lexists(os.path.dirname(path)) else ()
        yield from ((kind, path) for kind in kinds if made.refuses(kind, path))
    if made.network is not None and _NETWORK.search(said):
        host = next((host for host in _HOST.findall(said) if made.refuses("network", host)), "")
        yield "network", host or "a host"


_HOST: Final = pattern(r"(?i)(?:host:? |to |://)([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]+)?)")
