"""Policies that are made once, for as long as they would be made the same."""

import operator
import os
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vespe.calls.kept_policies import policy_for
from vespe.files.private_copy import private_directory
from vespe.models import Permissions
from vespe.processes.sandbox.held import Policy
from vespe.processes.sandbox.levels import Machine
from vespe.processes.sandbox.policy import ToolSurroundings, policy

BEST = Machine(landlock=7, namespaces=0, processes=0, filter=0)
KEY = ".config/gh"


def connect(host: str, port: int) -> Any:
    raise ConnectionError(f"{host}:{port}")


@pytest.fixture
def where(home: Path) -> ToolSurroundings:
    root = home.parent
    for name in ("project/.vespe", "project/.git", "project/docs", "tool", "bin", "lib"):
        (root / name).mkdir(parents=True)
    for name in (".ssh", ".config/app", "notes", ".local/share"):
        (home / name).mkdir(parents=True)
    (root / "project/data").symlink_to("docs")
    (root / "bin/program").write_text("#!/bin/sh\n", encoding="utf-8")
    (root / "bin/program").chmod(0o755)
    time.sleep(0.15)  # what changed just now is never believed
    return ToolSurroundings(
        project=str(root / "project"),
        directory=str(root / "tool"),
        scratch="",
        path=f"{root}/bin:/usr/bin:/bin",
        needs=(str(root / "lib"),),
        own=(str(home / "state"),),
    )


def made(where: ToolSurroundings, level: str = "namespaces", **stated: Any) -> Policy:
    with private_directory() as scratch:
        return policy_for(
            BEST, level, Permissions(**stated), replace(where, scratch=scratch), connect=connect
        )


def plain(one: Policy) -> dict[str, Any]:
    """A policy's message, with what has no order in an order."""
    found = dict(one.message) | {"rules": sorted(set(one.message["rules"]))}
    if one.message["namespaces"]:
        found["namespaces"] = {
            key: sorted(value) if isinstance(value, list) else value
            for key, value in one.message["namespaces"].items()
        }
    return found


def is_the_same(where: ToolSurroundings, level: str = "namespaces", **stated: Any) -> bool:
    """Whether what is kept is what would be made now: others are at work in the directories above a
    test, so that is asked at a moment when they do nothing.
    """
    given = Permissions(**stated)
    for _ in range(200):
        with private_directory() as scratch:
            here = replace(where, scratch=scratch)
            anew = policy(BEST, level, given, here, connect=connect)
            kept = policy_for(BEST, level, given, here, connect=connect)
            again = policy(BEST, level, given, here, connect=connect)
        if plain(anew) == plain(again):
            names = ("gaps", "root", "stated", "leads", "own", "environment", "connect")
            return plain(kept) == plain(anew) and all(
                getattr(kept, name) == getattr(anew, name) for name in names
            )
    raise AssertionError("the file system is never at rest")


STATED: list[dict[str, Any]] = [
    {},
    {"read": ("docs",), "write": ("docs",), "network": ()},
    {"write": ("~",)},
    {"programs": ("program",), "network": ("example.com",)},
    {"sockets": ("/run/none",), "memory_mb": 64},
]


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
@pytest.mark.parametrize("stated", STATED, ids=str)
def test_what_is_kept_is_what_would_be_made(
    where: ToolSurroundings, level: str, stated: dict[str, Any]
) -> None:
    assert all(is_the_same(where, level, **stated) for _ in range(3))


def test_the_next_call_gets_what_was_made_before(where: ToolSurroundings) -> None:
    # Who else is at work beside the home directory of a test makes others of them.
    pairs = ((made(where), made(where)) for _ in range(50))
    assert any(one.shared is not None and one.shared is other.shared for one, other in pairs)


def test_a_tool_that_runs_from_a_copy_gets_its_own_copy(where: ToolSurroundings) -> None:
    shared = []
    for _ in range(50):
        with private_directory() as scratch, private_directory() as copied:
            tool = os.path.join(copied, "tool-x")
            os.mkdir(tool)
            here = replace(where, scratch=scratch, directory=tool)
            one = policy_for(BEST, "namespaces", Permissions(read=()), here, connect=connect)
        rules = {path for path, _ in one.message["rules"]}
        assert {path for path in rules if b"/.vespe-" in path} == {
            os.fsencode(tool),
            os.fsencode(scratch),
        }
        shared.append(one.shared)
    assert None not in shared and any(map(operator.is_, shared, shared[1:]))


def _replace(path: Path, *directories: str) -> None:
    path.rename(path.with_name("was"))
    for name in (".", *directories):
        (path / name).mkdir(parents=True)


def _link(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a name in a home that is given in parts": lambda root: (root / "home/new").touch(),
    "a directory there becomes a protected place": lambda root: (root / "home/notes").rename(
        root / "home/.aws"
    ),
    "one deeper does": lambda root: (root / "home/.config/app").rename(root / "home" / KEY),
    "a protected place is made late": lambda root: (root / "home/.netrc").touch(),
    "one is replaced": lambda root: _replace(root / "home/.ssh"),
    "a directory in a home is replaced": lambda root: _replace(root / "home/notes"),
    "a repository of the project is replaced": lambda root: _replace(root / "project/.git"),
    "another one is made": lambda root: (root / "project/.hg").mkdir(),
    "a stated place is replaced": lambda root: _replace(root / "project/docs"),
    "a stated link leads elsewhere": lambda root: _link(root / "project/data", ".."),
    "the project is replaced": lambda root: _replace(root / "project", "docs", ".vespe"),
    "the tool's directory is replaced": lambda root: _replace(root / "tool"),
    "what the interpreter needs is replaced": lambda root: _replace(root / "lib"),
    "a directory on PATH is replaced": lambda root: _replace(root / "bin"),
    "Vespe's own state is made": lambda root: (root / "home/state").mkdir(),
    "the home is replaced": lambda root: _replace(root / "home"),
}


@pytest.mark.parametrize("looks", [1, 80], ids=["looked at", "watched"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_at_any_difference_it_is_made_anew(
    where: ToolSurroundings, home: Path, change: Callable[[Path], object], looks: int
) -> None:
    stated: dict[str, Any] = {"write": ("docs", "data")}
    # Who else is at work beside the home directory of a test makes others of them.
    before = [made(where, **stated) for _ in range(looks)][-1]
    change(home.parent)
    after = made(where, **stated)
    assert after.shared is not before.shared
    assert before.shared is not None and not before.shared.is_valid
    assert is_the_same(where, **stated)


def test_what_is_stated_and_what_is_set_make_another_one(
    where: ToolSurroundings, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SOCKET", "/run/a")
    first = made(where, sockets=("$A_SOCKET",))
    others: list[Policy] = [
        made(where, sockets=("$A_SOCKET", "/run/b")),
        made(replace(where, path="/usr/bin"), sockets=("$A_SOCKET",)),
        made(replace(where, kept=("/x/.git",)), sockets=("$A_SOCKET",)),
        made(where, "landlock", sockets=("$A_SOCKET",)),
    ]
    monkeypatch.setenv("A_SOCKET", "/run/c")
    others.append(made(where, sockets=("$A_SOCKET",)))
    monkeypatch.setenv("HOME", str(home.parent))
    others.append(made(where, sockets=("$A_SOCKET",)))
    assert len({id(one.shared) for one in (first, *others)}) == 7


def test_a_socket_that_begins_to_listen_is_covered_in_the_next_call(
    where: ToolSurroundings, home: Path
) -> None:
    before = made(where)
    path = home / "notes/s"
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
        one.listen()
        after = made(where)
    assert before.shared is not after.shared
    assert os.fsencode(path) in after.message["namespaces"]["hidden"]


def test_each_call_has_its_own_refusals_and_connections(where: ToolSurroundings) -> None:
    one, other = (made(where, network=("example.com",)) for _ in range(2))
    one.refusals.append(("network", "a:1"))
    assert not other.refusals and other.connect is connect
    assert one.shared is None  # what listens for a proxy is one call's
