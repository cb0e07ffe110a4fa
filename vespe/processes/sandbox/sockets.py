"""Unix sockets at paths: which there are on this machine, who listens there, and which a tool
states.

Landlock and seccomp see no address: what may connect at all reaches every socket whose file its
user may write. So those that are there when a process begins are covered by mounts, and the kernel
is asked which there are: a list of known places has never all of them.
"""

import os
import re
import stat
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_TABLE: Final = "/proc/net/unix"
_BEFORE: Final = 7
"""How many words of a line stand before the path."""
_MOST_NAMED: Final = 8
_CHUNK: Final = 1 << 16
_NAME_SERVICES: Final = (
    "/run/nscd",
    "/run/nslcd",
    "/run/systemd/resolve",
    "/run/systemd/userdb",
    "/var/lib/sss/pipes/nss",
)
"""Who only answers which users, groups and hosts there are: without them `whoami` and git fail."""
_NAMES: Final = (
    ("tmux", r"/tmux"),
    ("screen", r"/S-[^/]+/|/screens?/"),
    ("ssh-agent", r"/ssh-[^/]*/agent|/\.ssh/agent/|ssh-agent|/keyring/ssh"),
    ("gpg-agent", r"/S\.(gpg-agent|dirmngr|keyboxd|scdaemon)"),
    ("docker", r"/docker(-cli)?[^/]*\.sock|/docker/"),
    ("podman", r"/podman"),
    ("containerd", r"/containerd"),
    ("dbus", r"/dbus|/bus$"),
    ("systemd", r"/systemd/"),
    ("X11", r"/\.X11-unix/"),
    ("wayland", r"/wayland-"),
    ("audio", r"/pipewire|/pulse/"),
    ("postgresql", r"/\.s\.PGSQL\."),
    ("mysql", r"/mysql[^/]*"),
    ("redis", r"/redis"),
    ("emacs", r"/emacs"),
    ("vscode", r"/vscode-"),
    ("watchman", r"/watchman"),
)
"""Who listens, by what is in the path."""


def listening() -> tuple[str, ...]:
    """Return the paths of the Unix sockets that are there and that this user may connect to,
    sorted, links followed.

    That their files are there is believed for a second. One that was bound by a relative path, or
    in another mount namespace, is not among them.
    """
    return _listening(bound(), int(time.monotonic()))


@lru_cache(2)
def _listening(paths: frozenset[str], _: int) -> tuple[str, ...]:
    found = {os.path.realpath(path) for path in paths if _is_reached(path)}
    return tuple(sorted(path for path in found if not path.startswith(_NAME_SERVICES)))


def bound() -> frozenset[str]:
    """Return the absolute paths that sockets were bound to, whether or not they are still there."""
    try:
        table = os.open(_TABLE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return frozenset()
    # A file of `io` asks for its status first, which in each call are two questions more.
    said = b""
    try:
        while more := os.read(table, _CHUNK):
            said += more
    except OSError:
        return frozenset()
    finally:
        os.close(table)
    lines = (line.split(None, _BEFORE) for line in said.split(b"\n") if b" /" in line)
    found = (words[_BEFORE] for words in lines if len(words) > _BEFORE)
    return frozenset(os.fsdecode(path) for path in found if path.startswith(b"/"))


def _is_reached(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode) and os.access(path, os.W_OK)
    except OSError:
        return False


def names(paths: Iterable[str]) -> str:
    """Return who listens at these paths, in a few words: known services by name, others by path."""
    found = list(dict.fromkeys(map(_name, paths)))
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return " ".join(found[:_MOST_NAMED]) + more


def _name(path: str) -> str:
    return next((name for name, words in _NAMES if re.search(words, path)), path)


def stated_path(text: str) -> str:
    """Return the path that a tool states, which may be a variable's: `$SSH_AUTH_SOCK`; "" where
    that is not set.

    A variable may hold an address, as of Docker (`unix:///run/docker.sock`) or D-Bus
    (`unix:path=/run/user/1000/bus,guid=…`).
    """
    if not text.startswith("$"):
        return text
    value = os.environ.get(text[1:], "")
    for prefix in ("unix://", "unix:path="):
        if value.startswith(prefix):
            value = value[len(prefix) :].partition(",")[0]
    return value if os.path.isabs(value) else ""
