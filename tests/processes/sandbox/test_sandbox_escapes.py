"""The escape table: nothing gets out but by a gap that was named, and what is allowed goes on
working.
"""

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.support import render_escapes
from tests.support.escapes import LATE, ROWS, attempt, message
from vespe.files.repositories import find_repositories
from vespe.models import Permissions
from vespe.processes.child_scripts import ENTER
from vespe.processes.sandbox import levels
from vespe.processes.sandbox.held import Policy
from vespe.processes.sandbox.policy import ToolSurroundings, policy
from vespe.processes.sandbox.programs import loaders

MACHINE = levels.machine()
LEVELS = ("namespaces", "landlock")
USERS = {"root": 0, "user": os.getuid() or 65534}
CLOSED = Permissions(
    read=("docs", "out"), write=("out",), network=(), programs=("cat", "sh"), memory_mb=256
)
LINKS = Permissions(
    read=("docs", "within", "keys", "led", "led/docs"),
    write=("out", "made", "lent", "cache", "tools", "~/.absent", "later/x"),
    network=(),
    programs=("true", "./program", "./document"),
)
STATED = {"closed": CLOSED, "links": LINKS}
SHARED = Path("/dev/shm")

pytestmark = pytest.mark.skipif(
    MACHINE.level not in LEVELS, reason=f"this machine has {MACHINE.level!r}"
)


class World:
    """What stands outside a sandbox: a home with keys, servers that remember what they got, and a
    process of the same user.
    """

    def __init__(self, base: Path, uid: int) -> None:
        self.base, self.uid = base, uid
        self.listening: list[socket.socket] = []
        for name in (
            "home/.ssh",
            "home/.mozilla/firefox",
            "home/docs",
            "project/.vespe/tools",
            "project/.git/hooks",
            "project/lib",
            "project/vendor/x/.git/hooks",
            "project/docs",
            "project/out",
            "home/.config/fish",
            "home/.config/app",
            "home/.vespe",
            "outside/empty",
            "state",
            "scratch",
            "tool",
        ):
            (base / name).mkdir(parents=True)
        for name in (
            "home/.ssh/id",
            "home/.netrc",
            "home/.mozilla/firefox/logins.json",
            "home/.bash_history",
            "home/.profile",
            "home/notes",
            "home/docs/a",
            "state/trust.json",
            "project/.vespe/config.json",
            "project/.git/config",
            "project/.git/HEAD",
            "project/lib/.git",
            "project/vendor/x/.git/config",
            "project/a",
            "project/a2",
            "project/inside",
            "project/docs/a",
            "outside/file",
            "outside/gone",
            "tool/main.py",
        ):
            (base / name).write_text("x", encoding="utf-8")
        for name, target in (
            ("key", "home/.ssh/id"),
            ("notes", "home/notes"),
            ("outside", "outside/file"),
            ("inside", "project/inside"),
        ):
            (base / f"project/to-{name}").symlink_to(base / target)
        for name, target in (
            ("within", "project/docs"),
            ("made", "project/out"),
            ("keys", "home/.ssh"),
            ("led", "home"),
            ("lent", "outside"),
            ("cache", "project/.git"),
            ("tools", "project/.vespe"),
            ("document", "home/.ssh/id"),
            ("program", "/bin/true"),
        ):
            (base / f"project/{name}").symlink_to(base / target)
        self.shared = SHARED / "vespe-victim"
        self.shared.write_text("x", encoding="utf-8")
        self.sockets = [self.served(*one) for one in ((2, 1), (2, 2), (10, 1), (10, 2))]
        self.temporary = Path(tempfile.mkdtemp(prefix="vespe-victim-", dir="/tmp"))
        self.temporary.chmod(0o755)
        for place in (base / "outside", base / "home/docs", base / "project/docs", self.temporary):
            self.served(1, 1, str(place / "socket"))
        self.served(1, 2, str(base / "outside/datagrams"))
        self.abstract = f"vespe-escape-{os.getpid()}-{uid}"
        self.served(1, 1, f"\0{self.abstract}")
        self.master, self.pty = os.openpty()
        if os.getuid() == 0 and uid:
            subprocess.run(
                [
                    "chown",
                    "-hR",
                    f"{uid}:{uid}",
                    *map(str, (base, self.shared, self.temporary, os.ttyname(self.pty))),
                ],
                check=True,
            )
        user = {"user": uid, "group": uid, "extra_groups": []} if os.getuid() == 0 and uid else {}
        self.victim = subprocess.Popen(["/bin/sleep", "600"], env={"TOKEN": "x"}, **user)  # type: ignore[call-overload]  # options as a dict

    def served(self, family: int, kind: int, address: Any = None) -> int:
        """Listen at an address; returns the port."""
        one = socket.socket(family, kind)
        self.listening.append(one)
        one.bind(address or ("127.0.0.1" if family == 2 else "::1", 0))
        one.setblocking(False)
        if kind == 1:
            one.listen()
        return one.getsockname()[1] if family != 1 else 0

    def came(self) -> bool:
        """Whether anything came by TCP or UDP, or lies where all share memory."""
        got = []
        for one in self.listening[:4]:
            with contextlib.suppress(BlockingIOError):
                got.append(one.recv(100) if one.type == socket.SOCK_DGRAM else one.accept()[1])
        return bool(got) or (SHARED / "vespe-escape").exists()

    def names(self) -> dict[str, Any]:
        tcp, udp, tcp6, udp6 = self.sockets
        disk = next(
            (f"/dev/{name}" for name in os.listdir("/sys/block") if os.path.exists(f"/dev/{name}")),
            "/dev/zero-disk",
        )
        places = {
            "P": "project",
            "H": "home",
            "O": "outside",
            "S": "state",
            "T": "scratch",
            "D": "tool",
        }
        return {key: str(self.base / name) for key, name in places.items()} | {
            "VICTIM": self.victim.pid,
            "PARENT": os.getpid(),
            "TCP": tcp,
            "UDP": udp,
            "TCP6": tcp6,
            "UDP6": udp6,
            "ABSTRACT": self.abstract,
            "SOCKET": str(self.temporary / "socket"),
            "PTY": os.ttyname(self.pty),
            "DISK": disk,
            "LOADER": next(loaders(), "/none"),
        }

    def policy(self, level: str, kind: str) -> Policy:
        where = ToolSurroundings(
            project=str(self.base / ("home" if "home" in kind else "project")),
            directory=str(self.base / "tool"),
            scratch=str(self.base / "scratch"),
            path="/usr/bin:/bin",
            own=(str(self.base / "state"),),
            kept=find_repositories(str(self.base / "project")).found,
            needs=(sys.prefix, sys.base_prefix),
        )
        return policy(MACHINE, level, STATED.get(kind, Permissions()), where)

    def close(self) -> None:
        self.victim.kill()
        self.victim.wait()
        for one in self.listening:
            one.close()
        for descriptor in (self.master, self.pty):
            os.close(descriptor)
        self.shared.unlink()
        shutil.rmtree(self.temporary)


Tried = dict[tuple[str, str], tuple[str, str, Policy, bool]]


def tried(uid: int) -> Tried:
    """Every row at every level as one user: what became of the attack and of its twin, under
    which policy, and whether anything came.
    """
    found: Tried = {}
    home = os.environ["HOME"]
    for level in LEVELS[LEVELS.index(MACHINE.level) :]:
        # what is in /tmp is not even there for a tool
        base = Path(tempfile.mkdtemp(prefix="vespe-escapes-", dir="/var/tmp"))
        base.chmod(0o755)
        world = World(base, uid)
        os.environ["HOME"] = str(base / "home")
        try:
            for kind in (
                "default",
                "closed",
                "links",
                *(("home",) if level == "namespaces" else ()),
            ):
                rows = [
                    row for row in ROWS if row.policy == kind and (uid == 0 or not row.root_only)
                ]
                made = world.policy(level, kind)
                plan = {
                    "message": message(made),
                    "uid": uid,
                    "names": world.names(),
                    "rows": [asdict(row) for row in rows],
                    "late": LATE if "late" in kind else "",
                    "change": "change_home" if "home" in kind else "change",
                }
                (answers,) = attempt([plan], ENTER)
                assert isinstance(answers, list), answers
                came = world.came()
                for row, (attack, twin) in zip(rows, answers, strict=True):
                    found[level, row.name] = attack, twin, made, came
        finally:
            os.environ["HOME"] = home
            world.close()
            shutil.rmtree(base, ignore_errors=True)
    return found


@pytest.fixture
def alone() -> Iterator[None]:
    """The only process of this machine that tries the table: some rows write where all may."""
    lock = os.open(SHARED, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield
    os.close(lock)


@pytest.mark.parametrize("user", ["user", pytest.param("root", marks=pytest.mark.root)])
def test_nothing_leads_out_but_a_gap_that_was_named_and_what_is_allowed_works_beside_each(
    user: str, alone: None
) -> None:
    found = tried(USERS[user])
    gaps = {row.name: row.gap for row in ROWS}
    leaks = {
        where: attack
        for where, (attack, _, made, came) in found.items()
        if came
        or (
            attack.startswith("yes")
            and not {*gaps[where[1]].split()} & {gap.partition(":")[0] for gap in made.gaps}
        )
    }
    assert leaks == {}
    broken = {where: twin for where, (_, twin, _, _) in found.items() if not twin.startswith("yes")}
    assert broken == {}
    for level in {level for level, _ in found}:
        assert len([1 for where in found if where[0] == level]) >= 60


def test_the_page_of_the_table_is_the_table() -> None:
    assert render_escapes.PAGE.read_text(encoding="utf-8") == render_escapes.render(), (
        "run `./dev docs`"
    )


def test_no_two_rows_of_the_table_have_one_name() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
