"""From permissions to rules: what is stated holds alone, what is not has its default, and what
cannot be held is a gap.
"""

import os
import tempfile
import venv
from pathlib import Path
from typing import Any

import pytest

from vespe.models import Permissions
from vespe.processes.sandbox.held import READ_FILE, Policy
from vespe.processes.sandbox.levels import Machine
from vespe.processes.sandbox.policy import ToolSurroundings, policy

BEST = Machine(landlock=7, namespaces=0, processes=0, filter=0)


def made(
    home: Path,
    level: str = "landlock",
    machine: Machine = BEST,
    project: Path | None = None,
    **stated: Any,
) -> Policy:
    for name in (
        "project/.vespe",
        "project/.git/hooks",
        "project/docs",
        "tool",
        "scratch",
        "home/.ssh",
    ):
        (home.parent / name).mkdir(parents=True, exist_ok=True)
    for name in (".ssh/key", "notes"):
        (home / name).write_text("k", encoding="utf-8")
    root = home.parent
    where = ToolSurroundings(
        project=str(project or root / "project"),
        directory=str(root / "tool"),
        scratch=str(root / "scratch"),
        path="/usr/bin:/bin",
        own=(str(home / "state"),),
        starts=("true",),
    )
    return policy(machine, level, Permissions(**stated), where)


def test_by_default_all_is_read_but_keys_and_only_the_project_written(home: Path) -> None:
    held, root = made(home), home.parent
    for path in ("/etc/hostname", root / "project/a", home / "notes", root / "tool/t.py"):
        assert not held.refuses("read", str(path)), path
    assert held.refuses("read", str(home / ".ssh/key")) and held.refuses("read", "/dev/vda")
    assert not held.refuses("write", str(root / "project/a")) and not held.refuses(
        "write", str(root / "scratch/a")
    )
    assert held.refuses("write", str(root / "tool/t.py")) and held.refuses("write", str(root / "a"))


def test_what_is_stated_holds_alone(home: Path) -> None:
    held, root = made(home, read=["docs"], write=["docs/"]), home.parent
    assert not held.refuses("read", str(root / "project/docs/a")) and held.refuses(
        "read", str(root / "project/a")
    )
    assert not held.refuses("read", str(root / "tool/t.py")) and not held.refuses(
        "read", "/usr/bin/true"
    )
    assert not held.refuses("write", str(root / "project/docs/a")) and held.refuses(
        "write", str(root / "project/a")
    )


def test_a_named_key_is_given_but_what_holds_keys_is_given_without_them(home: Path) -> None:
    assert not made(home, read=["~/.ssh/key"]).refuses("read", str(home / ".ssh/key"))
    held = made(home, read=["~"])
    (home / "state").mkdir()
    assert held.refuses("read", str(home / ".ssh/key"))
    assert made(home, read=["~/state"], write=["~/state"]).refuses("read", str(home / "state/log"))


def test_programs_that_are_stated_start_and_others_do_not(home: Path) -> None:
    held = made(home, programs=["sh"])
    assert (
        not held.refuses("programs", "/bin/sh")
        and not held.refuses("programs", "/usr/bin/true")
        and held.refuses("programs", "/bin/ls")
    )
    assert not made(home).refuses("programs", "/bin/ls")


@pytest.mark.parametrize(
    ("level", "stated", "gaps"),
    [
        ("namespaces", {}, {"late-names", "late-project", "loopback", "sockets made later"}),
        ("namespaces", {"write": []}, {"late-names", "loopback", "sockets made later"}),
        (
            "namespaces",
            {"network": [], "sockets": ["s"]},
            {"late-names", "late-project", "sockets made later"},
        ),
        ("namespaces", {"programs": [], "network": ["h"], "write": []}, {"late-names", "programs"}),
        ("namespaces", {"read": ["docs"], "network": []}, {"late-project", "names"}),
        ("namespaces", {"read": [], "write": ["~"], "network": []}, {"late", "names"}),
        (
            "landlock",
            {},
            {"ipc", "metadata", "names", "processes", "project", "sockets", "loopback"},
        ),
        (
            "landlock",
            {"write": [], "network": ["h"]},
            {"ipc", "metadata", "names", "processes", "hosts"},
        ),
        (
            "landlock",
            {"write": ["docs"], "network": []},
            {"ipc", "metadata", "names", "processes", "late-project"},
        ),
        (
            "namespaces",
            {"read": ["docs"], "write": [], "network": [], "memory_mb": 9},
            {"memory", "names"},
        ),
        ("off", {"read": ["."], "memory_mb": 5}, {"read", "memory_mb"}),
    ],
)
def test_gaps_are_named(home: Path, level: str, stated: dict[str, Any], gaps: set[str]) -> None:
    assert {gap.partition(":")[0] for gap in made(home, level, **stated).gaps} == gaps


def test_older_kernels_have_more_gaps(home: Path) -> None:
    assert {"truncate", "signals"} <= set(made(home, machine=Machine(landlock=1, filter=0)).gaps)


def test_where_no_new_proc_can_be_mounted_processes_are_seen_and_not_changed(home: Path) -> None:
    held = made(home, "namespaces", Machine(landlock=7, namespaces=0, processes=1, filter=0))
    assert "processes" in held.gaps and not held.is_apart
    assert held.message["filter"] == made(home).message["filter"]


def test_a_project_that_holds_the_home_is_written_but_for_keys_and_start_up_files(
    home: Path,
) -> None:
    (home / ".netrc").write_text("t", encoding="utf-8")
    (home / ".bashrc").write_text("b", encoding="utf-8")
    # no project: a client merely starts there
    assert made(home, "namespaces", project=home).refuses("write", str(home / "new"))
    assert not made(home, "namespaces", project=home, write=["."]).refuses(
        "write", str(home / "new")
    )
    (home / ".vespe").mkdir()
    held = made(home, "namespaces", project=home)
    for name in ("new", "notes", ".config/new"):
        assert not held.refuses("write", str(home / name)), name
    for name in (".ssh/key", ".netrc", ".bashrc"):
        assert held.refuses("write", str(home / name)), name
    assert held.refuses("read", str(home / ".netrc")) and not held.refuses(
        "read", str(home / ".bashrc")
    )
    # Landlock alone cannot take a place out of another
    assert made(home, project=home).refuses("write", str(home / "new"))


def test_what_of_a_project_others_execute_is_kept_unless_it_is_named(home: Path) -> None:
    def kept(**stated: Any) -> set[str]:
        mounts = made(home, "namespaces", **stated).message["namespaces"]
        return {path.decode().partition("project/")[2] for path in mounts["kept"]}

    assert (
        kept() == {".vespe", ".git"}
        and kept(write=[".", ".git"]) == {".vespe"}
        and kept(write=["docs"]) == set()
    )
    assert "project" not in made(home, "namespaces").gaps
    (home.parent / "project/.hg").mkdir()
    (home.parent / "project/.jj").symlink_to(home)
    # a link can be replaced
    assert kept() == {".vespe", ".git", ".hg"} and "project" in made(home, "namespaces").gaps
    held = made(home, "namespaces", write=[".", ".git/hooks"]).message["namespaces"]
    assert any(path.endswith(b"/.git") for path in held["kept"]) and any(
        path.endswith(b"/.git/hooks") for path in held["writable"]
    )


def test_a_home_in_a_project_keeps_what_its_directories_hold_and_says_what_it_does_not(
    home: Path,
) -> None:
    (home / ".config/fish").mkdir(parents=True)
    (home / ".vespe").mkdir()
    held = made(home, "namespaces", project=home)
    assert (
        bytes(home / ".config") in held.message["namespaces"]["writable"] and "project" in held.gaps
    )


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_what_could_hold_a_protected_place_is_given_in_parts_and_what_is_in_it_whole(
    home: Path, level: str
) -> None:
    for name in (".config/app", ".local/share/app"):
        (home / name).mkdir(parents=True)
    held = made(home, level)
    rules = {path.decode() for path, rights in held.message["rules"] if rights & READ_FILE}
    assert {str(home / name) for name in ("notes", ".config/app", ".local/share/app")} <= rules
    above = {"/", str(home), str(home / ".config"), str(home / ".local"), str(home.parent)}
    assert not above & rules
    for late in ("late", ".config/late", ".aws/key", "notes2/a"):
        assert held.refuses("read", str(home / late))
    (home / "late").touch()
    (home / ".aws").mkdir()
    assert held.parts.came_late(str(home / "late")) and not held.parts.came_late(
        str(home / ".aws/key")
    )
    assert not held.parts.came_late(str(home / "gone"))


def test_what_a_command_names_in_the_temporary_directory_is_seen_with_what_is_beside_it() -> None:
    with tempfile.TemporaryDirectory(prefix="vespe-c-", dir="/tmp") as place:
        script = Path(place, "server.py")
        script.touch()
        where = ToolSurroundings(
            project="/usr",
            directory="/usr",
            scratch="/usr",
            command=("python", str(script), "/tmp"),
        )
        mounts = policy(BEST, "namespaces", Permissions(), where).message["namespaces"]
        assert os.fsencode(place) in mounts["seen"] and b"/tmp" not in mounts["seen"]


def test_a_virtual_environment_in_the_temporary_directory_is_seen_whole() -> None:
    """Its interpreter is a link to another one, and its packages are in `lib`, not in `bin`."""
    with tempfile.TemporaryDirectory(prefix="vespe-e-", dir="/tmp") as place:
        venv.create(place, symlinks=True, with_pip=False)
        where = ToolSurroundings(
            project="/usr",
            directory="/usr",
            scratch="/usr",
            command=(f"{place}/bin/python", "-m", "server"),
        )
        mounts = policy(BEST, "namespaces", Permissions(), where).message["namespaces"]
        assert os.fsencode(place) in mounts["seen"]
