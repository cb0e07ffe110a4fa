"""Creates what the sandbox escapes attack: a home directory with keys, a project, and servers that
record what they receive. All of it is removed afterwards.
"""

import contextlib
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from vespe.features.escapes.rows import STATED
from vespe.files import locations
from vespe.files.private_copy import private_directory
from vespe.files.repositories import find_repositories
from vespe.models import Permissions
from vespe.processes.sandbox.held import Policy
from vespe.processes.sandbox.levels import Machine
from vespe.processes.sandbox.policy import ToolSurroundings, policy, python_needs
from vespe.processes.sandbox.programs import loaders
from vespe.processes.sandbox.protected import NAMED

PATH: Final = "/usr/bin:/bin"
_GUARD: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guard.py")
_SHARED: Final = "/dev/shm"
_TEMPORARY: Final = "/tmp"
_STATE: Final = "home/.local/state/vespe"
_DIRECTORIES: Final = (
    "home/.ssh",
    "home/.mozilla/firefox",
    "home/.config/fish",
    "home/.config/app",
    "home/.vespe",
    "home/docs",
    "home/elsewhere/config/gh",
    "home/elsewhere/gnupg",
    "home/moved",
    _STATE,
    "project/.vespe/tools",
    "project/.git/hooks",
    "project/.hg",
    "project/.jj/repo",
    "project/sub/.vespe/tools",
    "project/lib",
    "project/vendor/x/.git/hooks",
    "project/docs",
    "project/out",
    "outside/empty",
    "scratch",
    "tool",
)
_FILES: Final = (
    "home/.ssh/id",
    "home/.netrc",
    "home/.msmtprc",
    "home/.mozilla/firefox/logins.json",
    "home/elsewhere/gnupg/key",
    "home/elsewhere/config/gh/hosts.yml",
    "home/elsewhere/config/app",
    "home/elsewhere/notes",
    "home/moved/a",
    "home/.bash_history",
    "home/.profile",
    "home/notes",
    "home/docs/a",
    f"{_STATE}/trust.json",
    "project/.vespe/config.json",
    "project/.git/config",
    "project/.git/HEAD",
    "project/.hg/hgrc",
    "project/.jj/repo/config.toml",
    "project/sub/.vespe/config.json",
    "project/lib/.git",
    "project/vendor/x/.git/config",
    "project/a",
    "project/a2",
    "project/inside",
    "project/docs/a",
    "outside/file",
    "outside/gone",
    "tool/main.py",
)
_LINKS: Final = {
    "to-key": "home/.ssh/id",
    "to-notes": "home/notes",
    "to-outside": "outside/file",
    "to-inside": "project/inside",
    "within": "project/docs",
    "made": "project/out",
    "keys": "home/.ssh",
    "keys2": "home/.ssh",
    "profile": "home/.profile",
    "lent-socket": "outside/socket",
    "chain": "project/keys",
    "led": "home",
    "lent": "outside",
    "cache": "project/.git",
    "tools": "project/.vespe",
    "document": "home/.ssh/id",
    "program": "/bin/true",
}
_VARIABLES: Final = {
    "HOME": "home",
    "GNUPGHOME": "home/elsewhere/gnupg",
    "XDG_CONFIG_HOME": "home/elsewhere/config",
}
"""What the environment of their user names."""
_SAID: Final = re.compile(rb"escaped (\d+)\.")


@contextlib.contextmanager
def guarded() -> Iterator[Callable[[str], None]]:
    """Start a process that removes what it is told of, should this one be killed; yield what tells
    it.
    """
    reader, writer = os.pipe()
    words = (sys.executable, "-I", "-S", _GUARD)
    actions = ((os.POSIX_SPAWN_DUP2, reader, 0),)
    try:
        pid = os.posix_spawn(words[0], words, {}, file_actions=actions)
    finally:
        os.close(reader)
    try:
        yield lambda path: _tell(writer, path)
    finally:
        _tell(writer, "done")  # whoever is interrupted has taken it away himself
        os.close(writer)
        os.waitpid(pid, 0)


def _tell(writer: int, line: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(writer, os.fsencode(f"{line}\n"))


@contextlib.contextmanager
def canaries(uid: int, *, tell: Callable[[str], None] = lambda path: None) -> Iterator["Canaries"]:
    """Make everything, as a user's; it is gone afterwards. `tell` is told each path first."""
    with contextlib.ExitStack() as stack:
        made = []
        for parent in (_parent(), _TEMPORARY, *filter(_is_writable, (_SHARED,))):
            made.append(stack.enter_context(private_directory(parent)))
            tell(made[-1])
        base, temporary, *shared = made
        here = Canaries(base, temporary, "".join(shared), uid)
        for path in here.leftovers:
            tell(path)
        stack.callback(here.close)
        here.make()
        yield here


def _parent() -> str:
    """Return where they are: what lies in /tmp or in shared memory a tool does not even see."""
    for path in ("/var/tmp", os.environ.get("TMPDIR") or _TEMPORARY):
        real = f"{os.path.realpath(path)}/"
        if not real.startswith((f"{_TEMPORARY}/", f"{_SHARED}/")) and _is_writable(path):
            return path
    return _TEMPORARY


def _is_writable(path: str) -> bool:
    return os.access(path, os.W_OK | os.X_OK)


class Canaries:
    """The places, the servers, and the words for them in rows."""

    def __init__(self, base: str, temporary: str, shared: str, uid: int) -> None:
        self.base, self.temporary, self.shared, self.uid = base, temporary, shared, uid
        self.mark = f"vespe-escape-{os.urandom(8).hex()}"
        self._listening: list[socket.socket] = []
        self._ports: list[int] = []
        self._master = self._terminal = -1

    @property
    def home(self) -> str:
        """The home directory in which keys are."""
        return os.path.join(self.base, "home")

    @property
    def _left(self) -> str:
        return os.path.join(_SHARED, self.mark)

    @property
    def leftovers(self) -> list[str]:
        """What is to be gone at the end, whoever ends: nothing else is made outside of it."""
        made = (self.base, self.temporary, self.shared)
        return [*filter(None, made), self._left, os.path.join(_TEMPORARY, self.mark)]

    def make(self) -> None:
        """Make all that there is not yet."""
        for name in _DIRECTORIES:
            os.makedirs(self._at(name))
        for name in _FILES:
            _write(self._at(name))
        for name, target in _LINKS.items():
            os.symlink(os.path.join(self.base, target), self._at(f"project/{name}"))
        os.symlink(f"/proc/self/root{self._at('home/.ssh')}", self._at("project/by-proc"))
        if self.shared:
            _write(os.path.join(self.shared, "victim"))
        for family, kind in ((2, 1), (2, 2), (10, 1), (10, 2)):
            self._ports.append(self._serve(family, kind))
        for place in (*map(self._at, ("outside", "home/docs", "project/docs")), self.temporary):
            self._serve(socket.AF_UNIX, 1, os.path.join(place, "socket"))
        os.link(self._at("outside/socket"), self._at("project/second"))
        self._serve(socket.AF_UNIX, 2, self._at("outside/datagrams"))
        self._serve(socket.AF_UNIX, 1, f"\0{self.mark}")
        self._master, self._terminal = os.openpty()
        if self.uid != os.getuid():
            self._hand_over()

    def _at(self, name: str) -> str:
        return os.path.join(self.base, name)

    def _serve(self, family: int, kind: int, address: Any = None) -> int:
        """Listen at an address; return the port, and 0 where there is no such network."""
        one = socket.socket(family, kind)
        self._listening.append(one)
        try:
            one.bind(address or ("127.0.0.1" if family == 2 else "::1", 0))
        except OSError:
            if address:
                raise
            return 0
        one.setblocking(False)
        if kind == socket.SOCK_STREAM:
            one.listen()
        return 0 if family == socket.AF_UNIX else int(one.getsockname()[1])

    def _hand_over(self) -> None:
        """Let everything be another user's, who has to get there, too."""
        for top in filter(None, (self.base, self.temporary, self.shared)):
            os.chmod(top, 0o755)
            for directory, names, files in os.walk(top):
                for name in (".", *names, *files):
                    os.lchown(os.path.join(directory, name), self.uid, self.uid)
        os.chown(os.ttyname(self._terminal), self.uid, self.uid)

    def names(self) -> dict[str, Any]:
        """Return the words for all of it in rows; one that is "" or 0 is not there."""
        tcp, udp, tcp6, udp6 = self._ports
        disks = (f"/dev/{name}" for name in _listed("/sys/block"))
        return {
            "P": self._at("project"),
            "H": self.home,
            "O": self._at("outside"),
            "S": self._at(_STATE),
            "T": self._at("scratch"),
            "D": self._at("tool"),
            "TCP": tcp,
            "UDP": udp,
            "TCP6": tcp6,
            "UDP6": udp6,
            "ABSTRACT": self.mark,
            "MARK": self.mark,
            "LEFT": self._left,
            "SHARED": os.path.join(self.shared, "victim") if self.shared else "",
            "SOCKET": os.path.join(self.temporary, "socket"),
            "PTY": os.ttyname(self._terminal),
            "DISK": next(filter(os.path.exists, disks), ""),
            "LOADER": next(loaders(), ""),
            "X86": os.uname().machine == "x86_64",
        }

    def policy(self, machine: Machine, level: str, kind: str) -> Policy:
        """Return what a tool is held to whose user has this home, as calls ask for it."""
        root = self.home if "home" in kind else self._at("project")
        real = locations.hidden_dirs()
        with _living_with({name: self._at(path) for name, path in _VARIABLES.items()}):
            found = find_repositories(root)
            where = ToolSurroundings(
                project=root,
                directory=self._at("tool"),
                scratch=self._at("scratch"),
                path=PATH,
                own=(*locations.hidden_dirs(), *real),
                kept=found.found,
                knows_all=found.whole,
                needs=python_needs(sys.executable),
            )
            return policy(machine, level, STATED.get(kind, Permissions()), where)

    def came(self) -> set[int]:
        """Return the rows of which something got to a server; -1 for one that did not say which."""
        found: set[int] = set()
        for one in self._listening[:4]:
            with contextlib.suppress(BlockingIOError):
                while True:
                    said = _SAID.match(_received(one))
                    found.add(int(said[1]) if said else -1)
        return found

    def close(self) -> None:
        """Close the servers, and take away what got out."""
        for one in self._listening:
            one.close()
        for descriptor in (self._master, self._terminal):
            if descriptor >= 0:
                os.close(descriptor)
        for path in self.leftovers[-2:]:
            with contextlib.suppress(OSError):
                os.unlink(path)


@contextlib.contextmanager
def _living_with(variables: Mapping[str, str]) -> Iterator[None]:
    """Be a user with other directories, for as long as a policy is made."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == "HOME" or name.startswith("XDG_") or name in NAMED
    }
    try:
        for name in kept:
            del os.environ[name]
        os.environ.update(variables)
        yield
    finally:
        for name in variables:
            del os.environ[name]
        os.environ.update(kept)


def _received(one: socket.socket) -> bytes:
    if one.type == socket.SOCK_DGRAM:
        return one.recv(100)
    connection, _ = one.accept()
    with connection:
        connection.settimeout(1)
        try:
            return connection.recv(100)
        except OSError:
            return b""


def _listed(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def _write(path: str) -> None:
    with open(path, "x", encoding="utf-8") as file:
        file.write("x")
