"""From what a tool may use to what its process is held to, at the level that there is, and what of
it cannot be held.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from vespe.models import PERMISSIONS, Permissions
from vespe.processes.sandbox import filter as seccomp
from vespe.processes.sandbox import listing, looked, seatbelt, sockets
from vespe.processes.sandbox.held import EXECUTE, READ_DIR, READ_FILE, WRITE_FILE, Policy
from vespe.processes.sandbox.levels import Machine
from vespe.processes.sandbox.places import EXECUTED, Places, StatedPlace
from vespe.processes.sandbox.programs import of_programs, search_path
from vespe.processes.sandbox.protected import (
    MACHINE,
    SOCKETS,
    closed_places,
    find_protected,
    holds,
    homes,
    named_places,
)
from vespe.records import dataclass

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""Vespe itself, which a tool may import."""
Connect = Callable[[str, int], Any]
_TEMPORARY: Final = "/tmp"
"""Where all keep their temporary files, and many their sockets."""
PROXY_PORT: Final = 3128
"""Where the proxy listens in a tool's own network namespace, in which every port is free."""
_REFER, _TRUNCATE, _DEVICE = 1 << 13, 1 << 14, 1 << 15
_READ: Final = READ_FILE | READ_DIR
_OF_FILES: Final = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _DEVICE
# All but to make devices.
_WRITE: Final = WRITE_FILE | 0b1_0111_1011_0000 | _REFER | _TRUNCATE
_VERSIONS: Final = ((1, 0x1FFF), (2, _REFER), (3, _TRUNCATE), (5, _DEVICE))
_SCOPES: Final = 3
"""Signals, and abstract Unix sockets, stay inside (version 6)."""
_KEPT_BY_ROOT: Final = 0b1_1011
"""chown, dac_override, fowner, fsetid: to root every file is as it was, and nothing else."""
_DEVICES: Final = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/fd",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
)
_SYSTEM: Final = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/proc",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/var/lib/ca-certificates",
)
"""What programs need in order to start at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSurroundings:
    """Where a tool runs: the project, its own directory, a temporary directory of its own, and its
    environment.

    `needs` are directories that its interpreter needs; `starts` are programs that it is started
    with, and `command` the words of the command that starts it, as it was approved; `own` are the
    directories of Vespe's own state; `kept` is what lies deeper in the project and is kept as its
    `.git` is, and `knows_all` says that no more of it is there.
    """

    project: str
    directory: str
    scratch: str
    path: str = ""
    needs: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    knows_all: bool = True


def policy(
    machine: Machine,
    level: str,
    permissions: Permissions,
    where: ToolSurroundings,
    *,
    connect: Connect | None = None,
) -> Policy:
    """Return what a tool's process is held to at a level that the machine has; `connect` is what
    its proxy reaches hosts by.
    """
    if level == "off":
        return Policy(level="off", gaps=tuple(_stated(permissions)), stated=permissions)
    files = _Files(permissions, where, mounts=level == "namespaces")
    if level == "seatbelt":
        return _seatbelt(permissions, where, files)
    isolated = level == "namespaces" and permissions.network is not None
    apart = level == "namespaces" and machine.processes == 0
    message = {
        "made": [],
        "rules": files.encoded_rules(),
        "handled": sum(bits for version, bits in _VERSIONS if version <= machine.landlock),
        "scoped": _SCOPES if machine.landlock >= 6 else 0,
        "capabilities": _KEPT_BY_ROOT,
        "memory": (permissions.memory_mb or 0) << 20,
        "filter": seccomp.program(
            _families(permissions, isolated),
            memfd=permissions.programs is None,
            apart=apart,
            bounded=bool(permissions.memory_mb),
        ),
        "namespaces": files.mounts() | _network(permissions) | {"processes": apart}
        if level == "namespaces"
        else None,
    }
    proxied = isolated and bool(permissions.network)
    return Policy(
        level=level,
        gaps=tuple(_gaps(machine, level, permissions, files)),
        message=message,
        root=looked.realpath(where.project),
        stated=permissions,
        leads=tuple(files.leads()),
        own=tuple(map(looked.realpath, where.own)),
        parts=files.parts(),
        connect=connect if proxied else None,
        environment=_environment(permissions, where, proxied=proxied),
    )


def _seatbelt(permissions: Permissions, where: ToolSurroundings, files: "_Files") -> Policy:
    rules = files.encoded_rules()
    profile = seatbelt.profile(
        hidden=files.hidden if permissions.read is None else (*homes(), *files.hidden),
        readable=[
            os.fsdecode(path) for path, rights in rules if rights & READ_FILE and path != b"/"
        ],
        writable=[
            os.fsdecode(path)
            for path, rights in rules
            if rights & WRITE_FILE and not path.startswith(b"/dev/")
        ],
        network=permissions.network is None or bool(permissions.network),
    )
    stated = [key for key in ("programs", "memory_mb") if getattr(permissions, key) is not None]
    gaps = ("metadata", "names", "sockets", "processes", *stated)
    gaps += (("hosts",) if permissions.network else ()) + (
        ("loopback",) if permissions.network is None else ()
    )
    gaps += ("project",) if files.kept else ()
    environment = _environment(permissions, where, proxied=False)
    message = {"rules": rules}
    return Policy(
        level="seatbelt",
        gaps=gaps,
        message=message,
        root=looked.realpath(where.project),
        stated=permissions,
        leads=tuple(files.leads()),
        own=tuple(map(looked.realpath, where.own)),
        parts=files.parts(),
        environment=environment,
        prefix=(seatbelt.PROGRAM, "-p", profile),
    )


def _stated(permissions: Permissions) -> Iterator[str]:
    yield from (key for key in PERMISSIONS if getattr(permissions, key) is not None)


def _families(permissions: Permissions, isolated: bool) -> tuple[int, ...]:
    if permissions.network is None:
        return (seccomp.UNIX, seccomp.INET, seccomp.INET6, seccomp.NETLINK)
    # With a network stack of its own, its loopback is as good as a pipe; a Unix socket at a path
    # would lead out.
    stated = (seccomp.UNIX,) if permissions.sockets else ()
    return (*stated, seccomp.INET, seccomp.INET6) if isolated or permissions.network else stated


def _network(permissions: Permissions) -> dict[str, Any]:
    return {
        "network": permissions.network is not None,
        "port": PROXY_PORT if permissions.network else 0,
    }


def _environment(
    permissions: Permissions, where: ToolSurroundings, *, proxied: bool
) -> dict[str, str]:
    found = {"TMPDIR": where.scratch}
    found |= {
        text[1:]: os.environ[text[1:]]
        for text in permissions.sockets or ()
        if text.startswith("$") and text[1:] in os.environ
    }
    if proxied:
        proxy = f"http://127.0.0.1:{PROXY_PORT}"
        found |= dict.fromkeys(
            ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
            proxy,
        )
        found |= {"no_proxy": "", "NO_PROXY": "", "NODE_USE_ENV_PROXY": "1"}
    return found


def _gaps(machine: Machine, level: str, permissions: Permissions, files: "_Files") -> Iterator[str]:
    """Name what is not held; docs/security.md says what each means."""
    if level == "landlock":
        yield from ("ipc", "metadata", "names")
        if permissions.network:
            yield "hosts"
    elif permissions.read is not None:
        yield "names"
    if files.kept and (level == "landlock" or files.is_open):
        yield "project"
    elif files.writes_project:
        yield "late-project"
    if level == "namespaces" and files.lists_homes:
        yield "late-names"
    if files.writes_homes:
        yield "late"
    if permissions.network is None:
        yield "loopback"
    if permissions.network is None or permissions.sockets:
        yield socket_gap(level)
    if machine.landlock < 3:
        yield "truncate"
    if machine.landlock < 6:
        yield "signals"
    if level == "landlock" or machine.processes:
        yield "processes"
    if permissions.programs is not None:
        yield "programs"
    if permissions.memory_mb is not None:
        yield "memory"


def socket_gap(level: str) -> str:
    """Say which Unix sockets are reached that the tool does not state."""
    if level == "namespaces":
        return "sockets made later"
    found = sockets.listening()
    return f"sockets: {sockets.names(found)}" if found else "sockets"


_STARTED: Final = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".xprofile",
    ".xsessionrc",
    ".pam_environment",
    ".gitconfig",
    ".config/git",
    ".config/nvim",
    ".vimrc",
    ".emacs",
    ".emacs.d",
    ".local/bin",
    "bin",
    "Library/LaunchAgents",
)
"""What of a home directory other programs take commands from, where that is the project or is in
it.
"""


class _Files:
    """The places of one tool: what it may read, write and start, as rules of Landlock and as mounts
    where there are any.
    """

    def __init__(self, permissions: Permissions, where: ToolSurroundings, *, mounts: bool) -> None:
        self._permissions, self._where, self._mounts = permissions, where, mounts
        self.hidden = find_protected(where.own)
        self._hiding = tuple(f"{path}/" for path in self.hidden)
        self._places = Places(where.project, self.hidden)
        self._root = self._places.root
        self._scratch = looked.realpath(where.scratch)
        stated = permissions.write if permissions.write is not None else self._written_by_default()
        self._write = tuple(map(self._places.find, stated))
        self._read = tuple(map(self._places.find, permissions.read or ()))
        # What is not there yet opens nothing, least of all the directory that it would be made in.
        self._written = tuple(
            dict.fromkeys(one.path for one in self._write if looked.lexists(one.path))
        )
        # Nothing covers what is not there yet, nor a link.
        links = (path for path in self._executed() if looked.islink(path))
        self.is_open = any(
            holds(place, one) for place in self._written for one in (*homes(), *links)
        ) or (not where.knows_all and self._root in self._written)
        self.kept = self._kept_places()
        self._directory, self._own = (
            looked.realpath(where.directory),
            tuple(map(looked.realpath, where.own)),
        )
        self._needs = [
            path
            for path in (self._directory, *map(looked.realpath, where.needs))
            if looked.lexists(path)
        ]
        stated_sockets = filter(None, map(sockets.stated_path, permissions.sockets or ()))
        self._sockets = [
            place.path
            for place in map(self._places.find, stated_sockets)
            if place.path and looked.exists(place.path)
        ]
        self._covered = self._covered_places() if mounts else ()
        closed = closed_places(homes(), named_places(), os.getuid())
        passing = set(MACHINE) - closed if mounts else set()
        # What a mount covers is closed only until it is replaced, and what is not there by none.
        self._holes = _Holes(("/dev", *closed, *self._own, *(set(self.hidden) - passing)))
        # Nothing can be made in a directory that is given in parts: what is to be written is
        # given whole, where mounts cover what there is.
        covered = [hole for hole in self.hidden if hole not in self._covered]
        self._bare = _Holes(("/dev", *covered)) if mounts else self._holes
        self._listed: set[str] = set()
        self._found: dict[str, tuple[str, ...]] = {}

    def _executed(self) -> Iterator[str]:
        """Return what of the project others take commands from, whether it is there or not."""
        yield from (os.path.join(self._root, name) for name in EXECUTED)

    def _kept_places(self) -> list[str]:
        """Return what is not written, though the tool may write what it is in: it would have to
        name it.
        """
        explicit = self._written if self._permissions.write is not None else ()
        started = (
            os.path.join(home, name)
            for home in homes()
            if holds(self._root, home)
            for name in _STARTED
        )
        found = dict.fromkeys(
            (
                *(
                    path
                    for path in (*self._executed(), *started)
                    if not any(
                        holds(one, path) and one != self._root and holds(self._root, one)
                        for one in explicit
                    )
                ),
                # Of what lies deeper, a directory that holds it does not name it.
                *(path for path in self._where.kept if path not in explicit),
            )
        )
        return [
            path
            for path in found
            if looked.lexists(path)
            and not looked.islink(path)
            and any(holds(place, path) for place in self._written)
        ]

    def _written_by_default(self) -> tuple[str, ...]:
        """Return the project; nothing for a directory that holds a home and that nobody made a
        project: a client merely starts there.
        """
        is_project = looked.isdir(os.path.join(self._root, ".vespe"))
        return (".",) if is_project or not any(holds(self._root, home) for home in homes()) else ()

    def leads(self) -> Iterator[tuple[str, StatedPlace]]:
        """Return the stated places that open nothing, because of where their links lead, each with
        its permission.
        """
        for kind, places in (("read", self._read), ("write", self._write)):
            yield from ((kind, place) for place in places if place.leads)

    def parts(self) -> listing.Parts:
        """Return what the rules give by listing it."""
        return listing.Parts(frozenset(self._listed), self._holes.above, self._holes.places)

    @property
    def lists_homes(self) -> bool:
        """Whether what is made later in a home can be seen there: its name, and no more."""
        return any(
            holds(path, home) or holds(home, path) for path in self._listed for home in homes()
        )

    @property
    def writes_homes(self) -> bool:
        """Whether a protected place that is made later is given with what it is made in."""
        return self._mounts and not self._holes.above.isdisjoint(self._written)

    @property
    def writes_project(self) -> bool:
        """Whether a repository that is made in the project later can be written."""
        return any(holds(self._root, place) or holds(place, self._root) for place in self._written)

    def encoded_rules(self) -> list[tuple[bytes, int]]:
        """Return `rules` with the paths as the system knows them."""
        rules = list(self.rules())
        paths = os.fsencode("\0".join(path for path, _ in rules)).split(b"\0")  # all at once
        return [(path, rights) for path, (_, rights) in zip(paths, rules, strict=True)]

    def rules(self) -> Iterator[tuple[str, int]]:
        """Return paths with the rights that there are beneath each; those of several rules add
        up.
        """
        may_start = self._permissions.programs is None
        read = _READ | (EXECUTE if may_start else 0)
        everywhere = self._permissions.read is None
        yield from self._given(("/",) if everywhere else _SYSTEM, read)
        yield from self._given(self._searched(), read)
        named = (
            *(place.path for place in self._read if place.path),
            *((self._root,) if everywhere else ()),
        )
        yield from self._given(filter(self._may_be_named, named), read, named=True)
        yield from self._given(self._needs, read, named=True)
        yield from self._given(filter(self._may_be_named, self._written), read | _WRITE, named=True)
        # Python finds a package by listing what it is in.
        yield looked.realpath(os.path.dirname(_PACKAGE)), READ_DIR
        yield self._scratch, read | _WRITE
        for path in _DEVICES:
            # A shared map of this one is memory that no limit counts.
            is_memory = path == "/dev/zero" and self._permissions.memory_mb
            yield path, READ_FILE | READ_DIR | (0 if is_memory else WRITE_FILE) | _DEVICE
        if self._mounts:
            yield "/dev/shm", _READ | _WRITE
        if not may_start:
            for path in self._programs():
                looked.note(path)
                yield path, READ_FILE | EXECUTE

    def _may_be_named(self, path: str) -> bool:
        """Whether a tool can be given a place that it names; none of Vespe's own state."""
        return not any(holds(own, path) for own in self._own)

    def _programs(self) -> Iterator[str]:
        yield from of_programs(
            filter(self._may_start, self._started()), search=self._where.path, home=self._root
        )

    def _started(self) -> tuple[str, ...]:
        """Return the programs that the tool may start: those that it states, and its own."""
        return (*(self._permissions.programs or ()), *self._where.starts)

    def _may_start(self, name: str) -> bool:
        """Whether a stated program is one: what a link out of the project leads to may be a program
        of the machine, as in `.venv/bin`, and no document.
        """
        if "/" not in name:
            return True
        place = self._places.find(name)
        return bool(place.path) or (
            looked.isfile(place.leads)
            and looked.access(place.leads, os.X_OK)
            and not f"{place.leads}/".startswith(self._hiding)
        )

    def _searched(self) -> Iterator[str]:
        """Return what programs come from. A directory on PATH is the project's only as long as it
        does not lead out of it, and the project is not read for a `bin` of its own.
        """
        kept = (
            name
            for name in self._where.path.split(os.pathsep)
            if not name.startswith((self._root, self._where.project))
            or self._places.find(name).path
        )
        return (path for path in self._search(os.pathsep.join(kept)) if path != self._root)

    def _search(self, path: str) -> tuple[str, ...]:
        """Return what `search_path` does, asked once for each PATH."""
        if path not in self._found:
            self._found[path] = search_path(path)
        return self._found[path]

    def mounts(self) -> dict[str, Any]:
        """Return what is writable, what in it is kept as it is, what is hidden, and what of that is
        shown all the same.
        """
        temporary, seen = self._temporary()
        hidden = [
            path
            for path in (*SOCKETS, *self._covered, *self._listening(temporary))
            if looked.exists(path) and not looked.islink(path) and path not in self._sockets
        ]
        shown = [
            path
            for path in (*self._needs, *self._sockets)
            if any(path != cover and holds(cover, path) for cover in hidden)
        ]
        written = _outermost((*self._written, self._scratch))
        # A directory in which something is kept could be renamed, and made anew without it, were it
        # not mounted itself.
        held = {place for path in self.kept for place in _between(path, written)}
        named = {place for place in self._written if any(holds(path, place) for path in self.kept)}
        return {
            "writable": [os.fsencode(path) for path in (*written, *sorted(held | named))],
            "kept": [os.fsencode(path) for path in self.kept],
            "hidden": [os.fsencode(path) for path in _outermost(hidden)],
            "shown": [os.fsencode(path) for path in shown],
            "memory": looked.isdir("/dev/shm"),
            "size": b",size=%dm" % self._permissions.memory_mb
            if self._permissions.memory_mb
            else b"",
            "temporary": os.fsencode(temporary),
            "seen": [os.fsencode(path) for path in seen],
        }

    def _temporary(self) -> tuple[str, list[str]]:
        """Return the temporary directory of all, which the call has an empty one in the place of,
        and what it sees in it: what it works in, needs and states; "" where it states that
        directory, or has its home there.
        """
        place = looked.realpath(_TEMPORARY)
        named = (*self._written, *(place.path for place in self._read if place.path))
        if place in (*homes(), self._root) or any(holds(path, place) for path in named):
            return "", []
        seen = (
            self._root,
            self._scratch,
            self._directory,
            *self._needs,
            *self._sockets,
            *named,
            *_scripts(self._where.command, place),
            *filter(self._may_start, self._started()),
            *homes(),
            *self._search(self._where.path),
            os.path.dirname(_PACKAGE),
        )
        beneath = [path for path in seen if holds(place, path) and looked.lexists(path)]
        return place if looked.isdir(place) else "", _outermost(beneath)

    def _listening(self, temporary: str) -> list[str]:
        """Return the sockets that are to be covered: of others, and where the call can see them."""
        if self._permissions.network is not None and not self._sockets:
            return []  # it has no Unix sockets
        return [
            path
            for path in sockets.listening()
            if not holds(self._scratch, path) and not any(holds(one, path) for one in self._sockets)
        ]

    def _covered_places(self) -> tuple[str, ...]:
        """Return the protected places that a mount hides: all that hold nothing which the tool
        names or works in.
        """
        needed = (
            self._root,
            self._scratch,
            self._directory,
            *self._written,
            *(place.path for place in self._read if place.path),
        )
        return tuple(
            path
            for path in self.hidden
            if not any(holds(path, one) for one in needed) and path not in self._needs
        )

    def _given(
        self, paths: Iterable[str], rights: int, *, named: bool = False
    ) -> Iterator[tuple[str, int]]:
        """Return the paths with rights on what is beneath each, protected places left out: of them
        only names can be listed.

        A path that lies in a protected place is left out, unless it is `named`: the tool said so,
        and its user agreed.
        """
        holes = self._bare if rights & WRITE_FILE else self._holes
        for path in paths:
            if not named and f"{path}/".startswith(self._hiding):
                continue
            if path in holes.above:
                self._listed.add(path)
                yield path, rights & READ_DIR
            looked.note(path)
            of_files = rights & _OF_FILES
            yield from [
                (part, rights if is_directory else of_files)
                for part, is_directory in listing.without(path, holes.places, holes.above)
            ]


class _Holes:
    """Places that are not given with what holds them, and the directories `above` them."""

    def __init__(self, places: Iterable[str]) -> None:
        self.places = frozenset(places)
        self.above = listing.above(self.places)


def _scripts(command: Iterable[str], temporary: str) -> Iterator[str]:
    """Return what a command names in the temporary directory of all: with a script what is beside
    it, which it imports, and with a program of a virtual environment that environment.
    """
    for word in filter(os.path.isabs, command):
        # Its interpreter is a link to another one, and its packages are not beside its programs.
        environment = os.path.dirname(os.path.dirname(os.path.abspath(word)))
        if environment != temporary and looked.isfile(os.path.join(environment, "pyvenv.cfg")):
            yield environment
        path = looked.realpath(word)
        beside = path if looked.isdir(path) else os.path.dirname(path)
        if path != temporary and holds(temporary, path) and looked.lexists(path):
            yield path if beside == temporary else beside


def _between(path: str, places: list[str]) -> Iterator[str]:
    """Return the directories that a path is in, as far as they lie in one of the places."""
    above = os.path.dirname(path)
    while any(holds(place, above) and place != above for place in places):
        yield above
        above = os.path.dirname(above)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return those paths that lie in none of the others."""
    found: list[str] = []
    for path in sorted(set(paths), key=len):
        if not any(holds(other, path) for other in found):
            found.append(path)
    return found


def python_needs(interpreter: str) -> tuple[str, ...]:
    """Return the directories that a Python interpreter is in: its own, and those of the one that it
    was made from.
    """
    own = os.path.dirname(os.path.dirname(os.path.abspath(interpreter)))
    return tuple(
        dict.fromkeys(
            (
                own,
                sys.prefix,
                sys.base_prefix,
                os.path.dirname(looked.realpath(interpreter)),
                _PACKAGE,
            )
        )
    )
