"""Policies that are made once: the next call of a tool gets what the last one had, with its own
temporary directory in it, for as long as the file system is as it was.

A policy asks the file system some 300 questions, and one that gives a home directory in parts has a
rule for each entry. What it was made of is noted while it is made (`looked.py`), and looked at
again before each use: by the number of a watch where Linux tells of changes, else by some 50
stamps. Mounts and sockets that came are asked for at each call; a socket that came is covered in
that call. A policy is never mended: at any difference it is made anew, and the processes that hold
the rules of the old one end.

Of a call of 6.4 ms this saves 1.2 ms, and what is shared 1.3 ms more (`processes/zygote.py`).
"""

import os
import threading
import time
from dataclasses import replace
from typing import Any, Final

from vespe.files.looked import Looked, mounts_told
from vespe.files.watch import Watch
from vespe.lazy import pattern
from vespe.models import Permissions
from vespe.processes.sandbox import looked, sockets
from vespe.processes.sandbox.held import Policy, Shared
from vespe.processes.sandbox.levels import Machine
from vespe.processes.sandbox.places import Places
from vespe.processes.sandbox.policy import Connect, ToolSurroundings, policy, socket_gap
from vespe.processes.sandbox.protected import NAMED, holds, homes

_MOST: Final = 32
_PRIVATE: Final = pattern(r"(?:/.*)?/\.vespe-[0-9a-f]{24}\.tmp(?=/|$)")
_BUSY: Final = ("/tmp", "/var/tmp", "/dev/shm")
"""Where everybody makes files at any time."""
_QUIET_S: Final = 1.0
"""How long at least between two times that everything is watched anew."""


def policy_for(
    machine: Machine,
    level: str,
    permissions: Permissions,
    where: ToolSurroundings,
    *,
    connect: Connect,
) -> Policy:
    """Return what `policy` returns, made anew only where something may be different."""
    own = _own(permissions, where)
    if own is None or level not in ("landlock", "namespaces"):
        return policy(machine, level, permissions, where, connect=connect)
    mounts = mounts_told()
    key = _key(machine, level, permissions, where, own)
    with _lock:
        made = _kept.get(key)
    if made is None or not made.holds(mounts):
        made = _Made(machine, level, permissions, where, own)
        made.mounts = mounts
        _keep(key, made)
    return made.policy_for(own, where.scratch, connect)


def _own(permissions: Permissions, where: ToolSurroundings) -> tuple[str, ...] | None:
    """Return the directories that are this call's alone: its temporary one, and the copy that its
    tool runs from. None where they are not known by their names, or are asked about.
    """
    scratch, copied = _PRIVATE.fullmatch(where.scratch), _PRIVATE.match(where.directory)
    own = (where.scratch, *([copied[0]] if copied else ()))
    named = (*(where.starts if permissions.programs is not None else ()), *where.command)
    if scratch is None or any(path.startswith(own) for path in (where.project, *named)):
        return None
    return own


def _key(
    machine: Machine,
    level: str,
    permissions: Permissions,
    where: ToolSurroundings,
    own: tuple[str, ...],
) -> tuple[object, ...]:
    """Return all that a policy is made of, but for the file system."""
    stated = [text[1:] for text in permissions.sockets or () if text.startswith("$")]
    return (
        machine,
        level,
        permissions,
        replace(
            where,
            scratch="",
            directory=where.directory.removeprefix(own[1]) if own[1:] else where.directory,
            starts=where.starts if permissions.programs is not None else (),
        ),
        tuple(map(os.path.dirname, own)),
        homes(),
        tuple(map(os.environ.get, NAMED)),
        os.getuid(),
        os.environ.get("HOME"),
        tuple(map(os.environ.get, stated)),
    )


class _Made:
    """A policy that was made for one call, in parts: what it has in common with the next call's,
    and what is that call's own.
    """

    def __init__(
        self,
        machine: Machine,
        level: str,
        permissions: Permissions,
        where: ToolSurroundings,
        own: tuple[str, ...],
    ) -> None:
        self.mounts = -1
        self._reaches = permissions.network is None or bool(permissions.sockets)
        self._listening = self._sockets()
        self._seen = self._covered = 0
        self._covered_until = 0.0
        parents = [(os.path.dirname(path), os.path.basename(path)) for path in own]
        real = [os.path.join(os.path.realpath(parent), name) for parent, name in parents]
        busy = (*_BUSY, os.path.realpath(where.project), *map(os.path.dirname, (*own, *real)))
        self.looked = Looked(busy, (*own, *real))
        with looked.noting(self.looked):
            self._parents = tuple(looked.realpath(parent) for parent, _ in parents)
            self._policy = policy(machine, level, permissions, where, connect=_nobody)
        self._places = tuple(f"{path}/".encode("utf-8", "surrogateescape") for path in real)
        self._places_of = Places(where.project, ())
        self._split()

    def _split(self) -> None:
        """Take apart what of the message is of one call: its own directories, and what each call
        has mounted anew.
        """
        message = dict(self._policy.message)
        namespaces: dict[str, Any] = dict(message["namespaces"] or {})
        self._own: dict[str, list[bytes]] = {}
        for name in ("writable", "seen") if namespaces else ():
            self._own[name] = [path for path in namespaces[name] if self._is_own(path)]
            namespaces[name] = [path for path in namespaces[name] if not self._is_own(path)]
        mounted = (
            tuple(filter(None, (b"/dev/shm", namespaces.get("temporary")))) if namespaces else ()
        )
        seen = tuple(path + b"/" for path in namespaces.get("seen", ()))
        self._rules: list[Any] = []
        self._own_rules: list[Any] = []
        self._covered_rules: list[Any] = []
        beneath = tuple(path + b"/" for path in mounted)
        for rule in message["rules"]:
            path = rule[0] + b"/"
            if path.startswith(self._places):
                self._own_rules.append(rule)
            elif path.startswith(seen) or not path.startswith(beneath):
                self._rules.append(rule)
            elif path in beneath or any(one.startswith(path) for one in (*seen, *self._places)):
                self._own_rules.append(rule)
            else:  # each call's own mount covers it: there is nothing that a rule could be on
                self._covered_rules.append(rule)
        self._namespaces = namespaces
        self._message = {**message, "rules": self._rules}
        if namespaces:
            self._message["namespaces"] = namespaces
        # Only a first process of a namespace can have mounts that its children have, too.
        is_shared = not namespaces or namespaces["processes"]
        self.shared = Shared(self._message) if is_shared and not namespaces.get("port") else None

    def _is_own(self, path: bytes) -> bool:
        return (path + b"/").startswith(self._places)

    def _sockets(self) -> tuple[str, ...]:
        """Return the sockets that there are, where the tool could reach one."""
        return sockets.listening() if self._reaches else ()

    def holds(self, mounts: int) -> bool:
        """Whether it would be made the same now, but for sockets that came."""
        if mounts != self.mounts:
            return False
        if not self.looked.holds_where_busy():
            return False
        number = _watch.number()
        if number and number == self._seen:
            return True
        now = time.monotonic()
        if now >= self._covered_until and not _watch.is_covered(self._covered):
            self._covered = _watch.cover(self._covered, self.looked.followed)
            self._covered_until = now + (_QUIET_S if self._covered else 0.0)
        is_watched = _watch.is_covered(self._covered)
        if not self.looked.holds():
            return False
        self._seen = number if is_watched else 0
        return True

    def policy_for(self, own: tuple[str, ...], scratch: str, connect: Connect) -> Policy:
        """Return the policy of a call that has these directories of its own."""
        made = self._policy
        now = [
            os.fsencode(os.path.join(parent, os.path.basename(path))) + b"/"
            for parent, path in zip(self._parents, own, strict=True)
        ]
        pairs = tuple(zip(self._places, now, strict=True))
        of_call: dict[str, Any] = {
            name: [_moved(path, pairs) for path in paths] for name, paths in self._own.items()
        }
        of_call["rules"] = [(_moved(path, pairs), rights) for path, rights in self._own_rules]
        of_call["hidden"] = self._came(made.stated)
        rules = [*self._rules, *of_call["rules"], *self._covered_rules]
        message = {**self._message, "rules": rules}
        if self._namespaces:
            message["namespaces"] = self._namespaces | {
                name: [*self._namespaces[name], *of_call[name]] for name in (*self._own, "hidden")
            }
        return replace(
            made,
            gaps=tuple(map(self._gap, made.gaps)),
            message=message,
            connect=connect if made.connect is not None else None,
            environment={**made.environment, "TMPDIR": scratch},
            refusals=[],
            shared=self.shared,
            of_call=of_call,
        )

    def _came(self, stated: Permissions) -> list[bytes]:
        """Return the sockets that came since it was made, and that the tool does not state."""
        if not self._namespaces:
            return []
        came = [path for path in self._sockets() if path not in self._listening]
        named = filter(None, map(sockets.stated_path, stated.sockets or ())) if came else ()
        reached = [self._places_of.find(path).path for path in named]
        return [
            os.fsencode(path)
            for path in came
            if not any(one and holds(one, path) for one in reached)
            and os.path.exists(path)
            and not os.path.islink(path)
        ]

    def _gap(self, gap: str) -> str:
        """Return a gap as it is now: one names the sockets that are reached."""
        return socket_gap(self._policy.level) if gap.startswith("sockets") else gap


def _moved(path: bytes, pairs: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """Return a path with the directory of one call in the place of another one's."""
    for before, now in pairs:
        if (path + b"/").startswith(before):
            return (now + path[len(before) :]).rstrip(b"/")
    return path


def _nobody(host: str, port: int) -> Any:
    """Stand for what connects, which is of each call another one."""
    raise ConnectionError(f"{host}:{port}")


def _keep(key: tuple[object, ...], made: _Made) -> None:
    """Keep what was made, unless something changed just now, in the place of what was made
    before.
    """
    with _lock:
        gone = [_kept.pop(key, None)]
        if made.looked.settle():
            gone += [_kept.pop(next(iter(_kept)))] if len(_kept) >= _MOST else []
            _kept[key] = made
        elif made.shared is not None:
            made.shared.is_valid = False
    for one in gone:
        if one is not None and one.shared is not None:
            one.shared.is_valid = False


_kept: dict[tuple[object, ...], _Made] = {}
_lock = threading.Lock()
_watch = Watch()
