"""What one call's process is held to: the tool's `permissions` at the level that the machine has
and the user's setting asks for.
"""

import contextlib
import errno
import functools
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from vespe.calls.secrets import secret_files
from vespe.errors import (
    InvalidDocument,
    PermissionDenied,
    Refused,
    StorageError,
    ToolExecutionError,
)
from vespe.files import atomic, locations, repositories, unreviewed
from vespe.files.private_copy import is_private_copy, private_directory
from vespe.lazy import pattern, shlex
from vespe.models import PERMISSIONS, Execution, Permissions, Tool
from vespe.processes.sandbox import levels
from vespe.processes.sandbox.held import Policy, is_loopback
from vespe.processes.sandbox.listing import real_path
from vespe.processes.sandbox.places import Places, StatedPlace, make_written
from vespe.processes.sandbox.policy import PROXY_PORT, ToolSurroundings, policy, python_needs
from vespe.processes.sandbox.protected import find_protected, holds, homes
from vespe.projects import user_config
from vespe.tool_types import Context, type_of, wants_to_be_kept
from vespe.tools.permissions import permissions_of


@contextlib.contextmanager
def confine(tool: Tool, context: Context, *, setting: str) -> Iterator[Context]:
    """Return the context with what the tool's process is held to, for as long as its temporary
    directory is there.

    `setting` is the user's `sandbox`, as the project raises it. A directory that the tool states to
    write, with a `/` at its end, is made where it is not there. Raises Refused where the setting is
    `require` and a permission that the tool states cannot be held, PermissionDenied where what it
    is to write is not there and cannot be made.
    """
    if not _starts(tool):
        yield context
        return
    level = "off" if setting == "off" else machine().level
    permissions = permissions_of(tool.permissions)
    if level == "off":
        made = policy(
            levels.Machine(),
            "off",
            permissions,
            ToolSurroundings(project="/", directory="/", scratch="/"),
        )
        _require(setting, made, tool)
        yield replace(context, sandbox=made)
        return
    # A session with a server, and a process that keeps state, live longer than the call.
    make_written_places(tool, permissions, context.project_root)
    with (
        _temporary_directory(context, level)
        if (kept := _kept_directory(tool, context)) is None
        else contextlib.nullcontext((kept, None)) as (scratch, identity)
    ):
        reach = Reach(permissions.network or (), context)
        root = os.path.realpath(context.project_root)
        found = _repositories(root, permissions)
        # Who makes one call alone has nothing of noting what a policy was made of.
        make = policy if context.workers is None else _policy_for()
        where = _surroundings(tool, context, scratch, found)
        made = make(machine(), level, permissions, where, connect=reach.connect)
        made = _looking(made, root, found)
        of_git = _for_git(tool, context, made, scratch, kept=kept)
        own = {**made.environment, **of_git}
        # What a file of ours lies in is this call's alone.
        lasting = None if of_git else identity
        made = replace(made, refusals=reach.refusals, environment=own, lasting=lasting)
        _require(setting, made, tool)
        yield replace(
            context, sandbox=made, environment={**context.environment, **made.environment}
        )


def make_written_places(tool: Tool, permissions: Permissions, root: str) -> None:
    """Make the directories that a tool states to write, with a `/` at their end, and that are not
    there. Raises PermissionDenied where one cannot be made, or may be a file.
    """
    absent = [
        path
        for path in permissions.write or ()
        if not os.path.exists(os.path.join(root, os.path.expanduser(path)))
    ]
    if not absent:
        return
    places = Places(root, find_protected(_own()))
    beside = [places.find(path).path for path in permissions.write or ()]
    for stated in absent:
        # A kit that was made when the slash was not asked for cannot be mended by who uses it.
        as_directory = tool.kit_id is not None and not os.path.splitext(stated)[1]
        try:
            make_written(places, stated, as_directory=as_directory, beside=beside)
        except FileNotFoundError as error:
            # What a kit states was named by an option.
            shown = f"{stated}/" if tool.kit_id else f'"write": ["{stated}/"]'
            raise _not_there(
                tool,
                stated,
                "does not exist",
                f"if it is a directory, end it with / ({shown}) and Vespe creates it; "
                f"if it is a file, run `touch {shlex.quote(error.filename or stated)}`",
            ) from None
        except OSError as error:
            raise _not_there(
                tool,
                stated,
                f"does not exist and cannot be created: {error.strerror}",
                f"create it yourself: `mkdir -p {shlex.quote(places.find(stated).path)}`",
            ) from None


def _not_there(tool: Tool, stated: str, why: str, hint: str) -> PermissionDenied:
    return PermissionDenied(
        f"{tool.name!r} states that it writes {stated}, which {why}",
        hint=hint,
        details={"permission": "write", "refused": stated},
    )


@contextlib.contextmanager
def installing(
    environment: Mapping[str, str], *, written: Sequence[str], setting: str
) -> Iterator[Policy | None]:
    """Return what uv or pip, and the code of what they build, is held to; None where there is no
    sandbox.

    They write in `written` and in their own caches, and read keys of package indexes alone, but no
    file that a secret of the user's configuration is kept in. Any host is reached: where an index
    is, its answers say. Raises Refused where `setting` is `require` and there is no sandbox.
    """
    level = "off" if setting == "off" else machine().level
    if level == "off":
        _require_some(setting)
        yield None
        return
    home = environment.get("HOME") or os.path.expanduser("~")
    cache = environment.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    caches = (
        environment.get("PIP_CACHE_DIR") or f"{cache}/pip",
        environment.get("UV_CACHE_DIR") or f"{cache}/uv",
    )
    keys = (
        environment.get("NETRC") or f"{home}/.netrc",
        f"{home}/.config/uv/credentials",
        f"{home}/.local/share/uv/credentials",
    )
    for path in caches:
        with contextlib.suppress(OSError):  # a cache is no need
            os.makedirs(path, exist_ok=True)
    permissions = Permissions(
        read=("/", *filter(os.path.lexists, keys)), write=(*written, *filter(os.path.isdir, caches))
    )
    with private_directory() as scratch:
        where = ToolSurroundings(
            project=scratch,
            directory=scratch,
            scratch=scratch,
            path=environment.get("PATH", ""),
            needs=_python(sys.executable),
            own=(
                locations.user_config_dir(),
                locations.user_state_dir(),
                *secret_files(user_config.load_user_config()),
            ),
        )
        yield policy(machine(), level, permissions, where)


def isolating(program: str, *, scratch: str, setting: str, memory_mb: int) -> Policy | None:
    """Return what a program that needs nothing but its own code is held to: no files beside an
    empty directory `scratch`, no network, no other programs. None where there is no sandbox.

    Raises Refused where `setting` is `require` and there is no sandbox.
    """
    level = "off" if setting == "off" else machine().level
    if level == "off":
        _require_some(setting)
        return None
    permissions = Permissions(read=(), write=(), network=(), programs=(), memory_mb=memory_mb)
    where = ToolSurroundings(
        project=scratch, directory=scratch, scratch=scratch, starts=(program,), own=_own()
    )
    # It is started by a library, which forks no process namespace for it.
    return policy(replace(machine(), processes=1), level, permissions, where)


class Reach:
    """Which hosts the proxy of one call reaches: those that the tool states, judged by their
    addresses as those of HTTP tools are.
    """

    def __init__(self, hosts: tuple[str, ...], context: Context) -> None:
        self._hosts = hosts
        # An address that the tool states is what the user was shown; what a name leads to is not,
        # `localhost.example` neither.
        self._literal = (*context.allow_hosts, *filter(_says_an_address, hosts))
        self._timeout_s = context.timeout_s
        self.refusals: list[tuple[str, str]] = []

    def connect(self, host: str, port: int) -> Any:
        """Open a connection; raises Refused for a host that is not stated, AddressRefused, and what
        dialling raises.
        """
        from vespe.http import addresses, sockets

        if not addresses.is_listed(host, port, self._hosts):
            self.refusals.append(("network", f"{host}:{port}"))
            raise Refused(
                f"the sandbox did not let it reach {host}:{port}, "
                "which `permissions.network` does not name"
            )
        with sockets.ExchangeLimits(host, timeout_s=self._timeout_s).hold():
            return sockets.Dialler(self._literal).connect_tcp(host, port).get_extra_info("socket")


def _says_an_address(host: str) -> bool:
    from vespe.http import addresses

    name = host if host.count(":") > 1 else host.partition(":")[0]
    return name.lower() == "localhost" or addresses.is_address(name)


def machine() -> levels.Machine:
    """Return what this machine offers, tried once for each start of it."""
    return levels.machine(locations.user_cache_dir())


def _starts(tool: Tool) -> bool:
    implementation = tool.implementation
    return implementation is not None and type_of(implementation.type).starts_process(
        implementation.args
    )


def _is_served(tool: Tool) -> bool:
    return tool.implementation is not None and type_of(tool.implementation.type).keeps_session


def _policy_for() -> Callable[..., Policy]:
    from vespe.calls.kept_policies import policy_for  # a command with one call would import it, too

    return policy_for


def _kept_directory(tool: Tool, context: Context) -> str | None:
    """Return the temporary directory of what lives longer than the call; None where nothing
    does.
    """
    if context.sessions is not None and _is_served(tool):
        # The tools of one server share its session; a kit's servers have nothing in common with
        # another kit's.
        return context.sessions.enter(tool.scope, private_directory)
    if context.workers is not None and wants_to_be_kept(tool, context):
        return context.workers.persistent.enter(context.directory, private_directory)
    if context.workers is not None and forks_calls(tool, context):
        return context.workers.forking.enter(context.directory, private_directory)
    return None


def _temporary_directory(
    context: Context, level: str
) -> contextlib.AbstractContextManager[tuple[str, tuple[int, int] | None]]:
    """Return the temporary directory of one call, and what tells it from others where it may stay.
    Where nothing is left in it, and nothing else of the call's own is in its sandbox, the next call
    of the tool has it too.
    """
    if context.workers is None or level != "namespaces" or is_private_copy(context.directory):
        return _new_directory()
    from vespe.files.kept_directories import KeptDirectories

    directories = context.workers.directories(KeptDirectories)
    # one that lies where they were made before is not the place that the user wants now
    place = os.environ.get("TMPDIR")
    return directories.borrow((context.directory, context.project_root, place))


@contextlib.contextmanager
def _new_directory() -> Iterator[tuple[str, None]]:
    with private_directory() as path:
        yield path, None


def forks_calls(tool: Tool, context: Context) -> bool:
    """Whether a call of a held tool can be a fork of a process in its sandbox: what it depends on
    is imported once. A proxy is of one call, and a private copy too.
    """
    details, network = tool.implementation, permissions_of(tool.permissions).network
    if (
        context.workers is None
        or network
        or details is None
        or details.environment
        or not type_of(details.type).is_python
        or sys.platform != "linux"
        or is_private_copy(context.directory)
        or wants_to_be_kept(tool, context)
    ):
        return False
    path = os.path.join(context.directory, str(details.path))
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return _has_dependencies(path, (status.st_ino, status.st_mtime_ns, status.st_size))


@functools.lru_cache(256)
def _has_dependencies(path: str, stamp: tuple[int, ...]) -> bool:
    """Whether a script names packages, as long as its file stays as it is."""
    from vespe.tools.python.script_metadata import read_metadata

    try:
        return bool(read_metadata(atomic.read_bytes(path), path=path).dependencies)
    except (InvalidDocument, StorageError):
        return False


def _repositories(root: str, permissions: Permissions) -> repositories.Repositories | None:
    """Return the repositories of the project; None for a tool that writes nothing of it."""
    if not _may_write(root, permissions):
        return None
    found = repositories.find_repositories(root)
    unreviewed.begin(root, found)
    return found


def _looking(made: Policy, root: str, found: repositories.Repositories | None) -> Policy:
    """Return a policy that knows what was there before the call of what others execute."""
    if found is None:
        return made
    looked_at = (root, *map(os.path.dirname, found.found))
    return replace(made, executed=repositories.Executed(looked_at, found.listed))


def _may_write(root: str, permissions: Permissions) -> bool:
    """Whether a tool may write something of the project."""
    if permissions.write is None:
        return True
    written = (os.path.join(root, os.path.expanduser(path)) for path in permissions.write)
    return any(holds(root, path) or holds(path, root) for path in map(os.path.realpath, written))


def _surroundings(
    tool: Tool, context: Context, scratch: str, found: repositories.Repositories | None
) -> ToolSurroundings:
    return ToolSurroundings(
        project=context.project_root,
        kept=() if found is None else found.found,
        knows_all=found is None or found.whole,
        directory=context.directory,
        scratch=scratch,
        path=context.environment.get("PATH", ""),
        needs=_needs(tool),
        starts=_programs(tool, context),
        command=_command(tool),
        own=(*_own(), *context.secret_files),
    )


def _own() -> tuple[str, ...]:
    return tuple({*locations.hidden_dirs()})


def _needs(tool: Tool) -> tuple[str, ...]:
    environments = os.path.join(locations.user_cache_dir(), "envs")
    is_python = tool.implementation is not None and type_of(tool.implementation.type).is_python
    if is_python and not os.path.isdir(environments):
        # The call may make the first environment, and only what is there now can be let through.
        with contextlib.suppress(OSError):
            os.makedirs(environments, mode=0o700, exist_ok=True)
    return (*_python(sys.executable), environments)


_python = functools.cache(python_needs)


def _programs(tool: Tool, context: Context) -> tuple[str, ...]:
    """Return what the tool is started with, which it need not state."""
    started = tool.implementation
    return () if started is None else type_of(started.type).programs(started, context.directory)


def _for_git(
    tool: Tool, context: Context, made: Policy, scratch: str, *, kept: str | None
) -> dict[str, str]:
    """Return the variables by which git starts in a tool that may not read the user's configuration
    of it, or that lives longer than that may: in a directory of its own that is `kept`.
    """
    stated = made.stated
    named = (*(stated.programs or ()), *_programs(tool, context))
    may_start = stated.programs is None or "git" in map(os.path.basename, named)
    if not may_start or (stated.read is None and (kept is None or not made.parts.given)):
        return {}
    from vespe.git import user_settings

    if stated.read is None:
        return user_settings.kept_whole(scratch, context.environment, cwd=context.project_root)
    return user_settings.beside(
        scratch,
        context.environment,
        lambda path: made.refuses("read", path),
        cwd=context.project_root,
    )


def _command(tool: Tool) -> tuple[str, ...]:
    """Return the words of the command that starts it, where it states one."""
    args = tool.implementation.args if tool.implementation else {}
    words = args.get("command")
    return tuple(word for word in words if isinstance(word, str)) if isinstance(words, list) else ()


def _require(setting: str, made: Policy, tool: Tool) -> None:
    if made.level == "off":
        _require_some(setting)
    if setting == "require" and "hosts" in made.gaps:
        hosts = ", ".join(permissions_of(tool.permissions).network or ())
        raise Refused(
            f"your configuration requires a sandbox, but {made.level!r} cannot limit "
            f"{tool.name!r} to its hosts: {hosts}",
            hint="`vespe doctor` shows what would give this machine a better sandbox; `vespe "
            "config set sandbox auto` runs the tool without this limit",
        )


def _require_some(setting: str) -> None:
    if setting == "require":
        raise Refused(
            "your configuration requires a sandbox, but this machine has none",
            hint="`vespe doctor` shows how to get one",
        )


_SEARCHED_CHARACTERS: Final = 8192
"""How much of a log is searched for complaints: the time grows faster than the text."""
_PROXY: Final = f"127.0.0.1:{PROXY_PORT}"
_SAID: Final = pattern(
    r"(?:^|[\s'\"‘`(:])(?:[^\s:]+: (?:line )?\d+: (?:cannot (?:create|open) )?)?"
    r"((?:/|~/|[\w.@+-]+/)[^\s'\"’:]+)['\"’]?\)?:? *(?::.*)?"
    r"(Permission denied|Operation not permitted|Read-only file system|No such file or directory"
    r"|Connection refused)",
    re.MULTILINE,
)
"""How programs say which file was refused; a directory that is hidden is there outside, and what is
only not to be written is seen. A shell names its script and the line first.
"""
_SAID_BEFORE: Final = pattern(
    r"(?i)(permission denied|operation not permitted|read-only file system|no such file or "
    r"directory)(?:, \w+|(?: \(os error \d+\))?(?: at path)?):? "
    r"['\"‘`]((?:/|~/|[\w.@+-]+/)[^'\"’`\n]+)"
)
"""How Node, Python and Rust say it."""
_NETWORK: Final = pattern(
    r"(?i)network is unreachable|could not resolve host|temporary failure in name "
    r"resolution|couldn't connect to server|bad address"
)


def explained(error: ToolExecutionError, tool: Tool, made: Policy | None) -> ToolExecutionError:
    """Return the error as it is, or as PermissionDenied where it comes of what the sandbox
    refused.
    """
    touched = error.details.pop("touched", ())
    widened: Mapping[str, str] = error.details.pop("widened", {})
    if made is None or not made.message or type(error) is not ToolExecutionError:
        return error
    known = refused(touched, made)
    # What Python told of a path needs no guess from an error's words.
    guessed = [one for one in _guessed(error, made) if one[1] not in [what for _, what in known]]
    found = [*made.refusals, *known, *guessed]
    said = f"{error} {error.details.get('stderr', '')}"
    for kind, what in reversed(found):
        # What it went on after is not what it failed of; an error of a connection names no end.
        says_it = PERMISSIONS[kind].values in ("host", "socket") or os.path.basename(what) in said
        if not says_it and not ((kind, what) == found[-1] and _NAMELESS.search(said)):
            continue
        says = _to_allow(kind, what, tool, made)
        if "" in widened:
            says = widened[""]
        if kind in widened:
            there = what if os.path.lexists(what) else os.path.dirname(what)
            says = f"to allow this, run `{widened[kind]} {shlex.quote(_short(there))}`"
        return PermissionDenied(
            f"the sandbox did not let {tool.name!r} {PERMISSIONS[kind].verb} {what}"
            f"{_why(kind, what, made)}: {error}",
            hint=f"{_OWN}; {widened.get('secret', _DECLARED)}"
            if _is_own(what, made)
            else _AGAIN
            if _came_late(kind, what, made)
            else says,
            details=error.details | {"permission": kind, "refused": what},
        )
    if found:
        error.details["refused"] = [what for _, what in found]
    return error


def _to_allow(kind: str, what: str, tool: Tool, made: Policy) -> str:
    """Return the hint that names the line to add to a tool's config.json."""
    stated = getattr(permissions_of(tool.permissions), kind)
    # a kit's bytes are pinned
    own = f"first copy it with `vespe tool copy {tool.kit_id}/{tool.name}`; " if tool.kit_id else ""
    if what == _SOME_HOST and stated:
        return f"{_BY_PROXY}; {own}{_ANY_HOST}"
    if stated is None:
        # What is stated holds alone: the default has to be stated beside it.
        stated = PERMISSIONS[kind].default
    place = _lead(kind, what, made)
    lead = _short(place.leads) if place else ""
    line = ", ".join(f'"{item}"' for item in [*stated, lead or _to_state(what)])
    return f'{own}to allow this, add to its config.json: "permissions": {{"{kind}": [{line}]}}'


_NAMELESS: Final = pattern(r"PermissionError: \[Errno 13\] Permission denied(?!:)")
"""An error that names no file, as that of `os.execv`: what was touched last is what it is of."""
_AGAIN: Final = (
    "call it again; if its MCP server or its persistent process is still running, restart that "
    "first"
)
_OWN: Final = "no permission opens it, because it contains secrets or Vespe's own state"
_DECLARED: Final = "if the tool needs a secret, name it under `secrets` in its config.json"
_SOME_HOST: Final = "a host"
"""What a program could not reach, where it does not name it."""
_BY_PROXY: Final = (
    "the hosts that it states can only be reached by HTTP and HTTPS, through the proxy in "
    "HTTP_PROXY and HTTPS_PROXY"
)
_ANY_HOST: Final = (
    'for another protocol, remove "network" from the "permissions" in its config.json, so that it '
    "can reach any host"
)


def _is_own(what: str, made: Policy) -> bool:
    """Whether a path, links followed, is a place that no permission opens."""
    return what[:1] == "/" and any(holds(own, real_path(what)) for own in made.own)


def _lead(kind: str, what: str, made: Policy | None) -> StatedPlace | None:
    """Return the stated place that would hold a path, if its link were followed."""
    real = real_path(what)
    return next(
        (
            place
            for stated, place in (made.leads if made is not None else ())
            if stated == kind and holds(place.leads, real)
        ),
        None,
    )


def _why(kind: str, what: str, made: Policy | None) -> str:
    """Say why a path is refused where its tool seems to state it."""
    if lead := _lead(kind, what, made):
        return (
            f" ({lead.stated} is a link to {_short(lead.leads)}, which the permissions do not name)"
        )
    if made is not None and PERMISSIONS[kind].values != "host" and _came_late(kind, what, made):
        return " (it was created or replaced after the process started; a new process can use it)"
    return ""


def _came_late(kind: str, what: str, made: Policy) -> bool:
    # What a mount covers is never reached, whenever it was made.
    covered = made.covers(os.fsencode(real_path(what)))
    return kind == "read" and not covered and made.parts.came_late(what)


def _to_state(what: str) -> str:
    """Return what a config.json says for a path: for a temporary file the directory it was to be
    made in, since the next one has another name.
    """
    above = os.path.dirname(what)
    is_temporary = _TEMPORARY_NAME.fullmatch(os.path.basename(what)) and not os.path.lexists(what)
    return f"{_short(above)}/" if is_temporary and above not in ("/", *homes()) else _short(what)


_TEMPORARY_NAME: Final = pattern(r"\.tmp[A-Za-z0-9]{6}")
"""What Rust's programs call one, uv too."""


def _short(what: str) -> str:
    """Return a path as a config.json says it."""
    home = next((home for home in homes() if holds(home, what)), None)
    return what if home is None or home == "/" else "~" + what[len(home) :]


def refused(touched: Iterable[Sequence[str]], made: Policy | None) -> list[tuple[str, str]]:
    """Return those of the things that a tool touched which its sandbox holds it back from."""
    return [
        ("write" if kind == "name" else kind, what)
        for kind, what in touched
        if made is not None and made.refuses(kind, what) and what != _PROXY
    ]


def notes(execution: Execution, made: Policy | None) -> Execution:
    """Return an execution with a note for each refusal that the tool went on after."""
    # Its own loopback is its own, but not what it asked the proxy for.
    touched = [
        (kind, what)
        for kind, what in refused(execution.touched, made)
        if PERMISSIONS[kind].values != "host" or not is_loopback(what)
    ]
    found = list(dict.fromkeys((*touched, *_refused_by(execution, made))))
    said = tuple(
        f"the sandbox did not let it {PERMISSIONS[kind].verb} {what}{_why(kind, what, made)}"
        for kind, what in found[:8]
    )
    return replace(execution, notes=(*execution.notes, *said)) if said else execution


def planted(made: Policy | None, *, tool: str) -> tuple[str, ...]:
    """Return a note for each thing that a call of a tool has left in the project and that other
    programs take commands from; it is kept until the user has looked at it.
    """
    if made is None or made.executed is None:
        return ()
    root, new = made.executed.root, made.executed.new()
    if new:
        unreviewed.note(root, new, tool=tool)
    return tuple(
        f"{os.path.relpath(path, root)} is new, and other programs run commands from it: review it "
        "before you use them there"
        for path in new[:8]
    )


def _refused_by(execution: Execution, made: Policy | None) -> Iterator[tuple[str, str]]:
    """Find what else was refused: by the proxy, and what the programs that it started complain of
    in their log. A file that is not there is none of it.
    """
    if made is None:
        return
    yield from made.refusals
    for kind, what in _complaints(execution.logs[-_SEARCHED_CHARACTERS:], made):
        if what and (kind in ("write", "network") or os.path.lexists(what)):
            yield kind, what


def _guessed(error: ToolExecutionError, made: Policy) -> Iterator[tuple[str, str]]:
    """Find what was refused in what a program wrote to its standard error, or that it is the
    program itself.
    """
    if error.details.get("errno") == errno.EACCES and made.refuses(
        "programs", str(error.details.get("program"))
    ):
        yield "programs", str(error.details["program"])
    for kind, what in _complaints(str(error.details.get("stderr", "")) + str(error), made):
        yield kind, what or _SOME_HOST


def _complaints(said: str, made: Policy) -> Iterator[tuple[str, str]]:
    """Find what was refused in what a program says; an empty host is one that it does not name."""
    if not said:
        return  # most programs say nothing, and compiling the patterns takes 1 ms
    told = [*_SAID.findall(said), *((path, why) for why, path in _SAID_BEFORE.findall(said))]
    for path, why in told:
        if not path.startswith(("/", "~/", "./", "../")):
            path = os.path.join(made.root, path)
        kinds: tuple[str, ...] = ()
        if _is_socket(path):
            kinds = ("sockets",)
        elif os.path.lexists(os.path.dirname(path)) and why != "Connection refused":
            writes = ("write",) if not why.lower().startswith("no") else ()
            # What can be run was rather started than written, and what is no file was not started.
            started = ("programs",) if os.path.isfile(path) else ()
            runs = bool(started) and os.access(path, os.X_OK)
            # Nobody is refused to read what is not there, unless he is told just that, or nothing
            # there may be read.
            may_be = os.path.lexists(path) or made.refuses("read", path)
            is_read = not writes or (may_be and why != "Read-only file system")
            reads = ("read",) if is_read else ()
            kinds = (*reads, *started, *writes) if runs else (*reads, *writes, *started)
            if f"mkdir '{path}'" in said:  # as Node says it
                kinds = ("write",)
        yield from [(kind, path) for kind in kinds if made.refuses(kind, path)][:1]
    if made.stated.network is not None and _NETWORK.search(said):
        host = next((host for host in _HOST.findall(said) if made.refuses("network", host)), "")
        yield "network", host


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


_HOST: Final = pattern(r"(?i)(?:host:? |to |://)([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]+)?)")
