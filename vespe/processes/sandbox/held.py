"""What a process is held to, as a value: made by `policy`, carried to the child by `process`, and
done there by `enter`.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Protocol

from vespe.lazy import shutil
from vespe.models import Permissions
from vespe.processes.sandbox.listing import Parts, real_path
from vespe.processes.sandbox.places import StatedPlace
from vespe.records import dataclass

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3


class Shared:
    """What the policies of several calls have in common: `message` is all of it as `enter.share`
    takes it, and `is_valid` says that it is still what a policy would be made of.
    """

    __slots__ = ("is_valid", "message")

    def __init__(self, message: Mapping[str, Any]) -> None:
        self.message, self.is_valid = message, True


class CommandSources(Protocol):
    """What other programs take commands from in a project whose directory is `root`."""

    @property
    def root(self) -> str:
        """The project's directory."""
        ...

    def new(self) -> list[str]:
        """Return the paths of what is there now, and was not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a process is held to: `message` is what `enter` takes, and `gaps` names what it cannot
    hold.

    `root` is the project's, `stated` is what the tool states, and `leads` those of its paths, each
    with its permission, that open nothing because a link leads out. `own` are Vespe's own places
    and the files of secrets, which no permission opens. `parts` are the directories that it is
    given in parts.
    `executed` is what other programs take commands from in the project, as it was before the call;
    None for a tool that writes nothing there. `connect` opens the connections of its proxy; None
    where there is no proxy. `environment` is to be added to the process's own. `refusals` is what
    its proxy refused so far. `prefix` is a program that holds what it is given to start, where the
    system has one. `shared` is what it has in common with others, where there is something, and
    `of_call` what it has not, as `enter.enter_shared` takes it. `lasting` is the inode and the
    device of its temporary directory, where that may be the next call's too.
    """

    level: str
    gaps: tuple[str, ...] = ()
    message: Mapping[str, Any] = field(default_factory=dict, repr=False)
    root: str = ""
    stated: Permissions = field(default_factory=Permissions)
    leads: tuple[tuple[str, StatedPlace], ...] = ()
    own: tuple[str, ...] = ()
    executed: CommandSources | None = None
    parts: Parts = field(default_factory=Parts)
    connect: Callable[[str, int], Any] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    refusals: list[tuple[str, str]] = field(default_factory=list)
    shared: Shared | None = field(default=None, repr=False)
    of_call: Mapping[str, Any] = field(default_factory=dict, repr=False)
    lasting: tuple[int, int] | None = None

    def refuses(self, kind: str, what: str) -> bool:
        """Whether it holds the process back from a path (`read`, `write`, `programs`), from making,
        moving or removing a path itself, even a link (`name`), from a socket (`sockets`) or from a
        host (`network`).
        """
        if not self.message:
            return False
        if kind == "sockets":
            return what[:1] == "/" and self.covers(os.fsencode(real_path(what)))
        if kind == "network":
            return (
                self.stated.network is not None
                and what.rpartition(":")[0] not in self.stated.network
                and what not in self.stated.network
            )
        if kind == "name":
            here, name = os.path.split(what)
            return self._refuses("write", os.path.join(real_path(here), name))
        found = shutil.which(what) if kind == "programs" and "/" not in what else what
        return found is not None and self._refuses(kind, real_path(found))

    def _refuses(self, kind: str, path: str) -> bool:
        """Whether it holds the process back from a path whose links were followed."""
        wanted = {"read": READ_FILE, "write": WRITE_FILE, "programs": EXECUTE}[kind]
        place = os.fsencode(path)
        mounts = self.message.get("namespaces") or {"kept": ()}
        if kind == "write" and any(_holds(path, place) for path in mounts["kept"]):
            return True
        if self.covers(place):
            return True
        holding = _holding(place)
        return not any(
            path in holding and rights & wanted for path, rights in self.message["rules"]
        )

    def covers(self, place: bytes) -> bool:
        """Whether there is something at a place that the process does not see."""
        mounts = self.message.get("namespaces")
        if not mounts or any(_holds(path, place) for path in mounts["shown"]):
            return False
        if any(_holds(path, place) for path in mounts["hidden"]):
            return True
        temporary = mounts["temporary"]
        return (
            temporary
            and _holds(temporary, place)
            and place != temporary
            and not any(_holds(path, place) or _holds(place, path) for path in mounts["seen"])
            and os.path.lexists(place)
        )

    @property
    def is_apart(self) -> bool:
        """Whether the process is in a namespace of processes, and sees no others."""
        namespaces = self.message.get("namespaces")
        return bool(namespaces and namespaces["processes"])

    @property
    def kept_directory(self) -> str:
        """The temporary directory that a supervisor may keep mounted for the next call; "" where
        the call needs mounts that the next one does not have.
        """
        is_alike = self.lasting is not None and self.shared is not None and self.is_apart
        return self.environment["TMPDIR"] if is_alike and not self.of_call["hidden"] else ""

    @property
    def document(self) -> dict[str, Any]:
        """What an Outcome says of it."""
        return {"level": self.level, "gaps": list(self.gaps)}


def _holding(place: bytes) -> set[bytes]:
    found = {place, b"/"}
    while place != b"/":
        place = os.path.dirname(place)
        found.add(place)
    return found


def _holds(place: bytes, path: bytes) -> bool:
    return path == place or path.startswith(place.rstrip(b"/") + b"/")


def is_loopback(address: str) -> bool:
    """Whether an address, with or without a port, is this process's own machine, or a name for
    none.
    """
    return address.startswith(("127.", "::1", "localhost", ":", "/")) or not address
