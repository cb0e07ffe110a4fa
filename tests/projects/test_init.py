"""A project comes whole and trusted, or not at all: under kills at every step, full disks and
races.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import InvalidDocument, NotTrusted, StorageError
from vespe.projects import project
from vespe.projects.init import found_project
from vespe.trust import gate

KILL = """
import os, signal, sys
from vespe.projects.init import found_project
left = int(sys.argv[2])
def steps(name):
    real = getattr(os, name)
    def step(*arguments, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    setattr(os, name, step)
for name in ("mkdir", "open", "write", "fsync", "replace", "rename"):
    steps(name)
found_project(sys.argv[1])
"""


def run(code: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run code, unmeasured: a killed process leaves a torn coverage file."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    argv = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(
        argv,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        **options,
    )


def records(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "state").rglob("*.json"))


def is_trusted(root: Path) -> bool:
    try:
        return gate.check(project.read_config(root), environ={}).kind == "place"
    except NotTrusted:
        return False


def is_whole(root: Path) -> bool:
    return sorted(os.listdir(root)) == [".vespe"] and sorted(os.listdir(root / ".vespe")) == [
        ".gitignore",
        "config.json",
        "tools",
    ]


def test_a_project_is_made_whole_and_trusted_with_its_directory(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "new/deep"
    founded = found_project(root)
    assert (founded.root, founded.made) == (str(root), True)
    assert is_whole(root) and is_trusted(root)


def test_a_second_time_changes_nothing_and_grants_nothing(home: Path, tmp_path: Path) -> None:
    found_project(tmp_path)
    shutil.copytree(tmp_path / ".vespe", tmp_path / "copy/.vespe")
    before = records(home)
    assert not found_project(tmp_path).made and not found_project(tmp_path / "copy").made
    assert records(home) == before and not is_trusted(tmp_path / "copy")


def test_what_a_project_from_elsewhere_lacks_is_added_without_trust(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "p/.vespe").mkdir(parents=True)
    assert not found_project(tmp_path / "p").made
    assert is_whole(tmp_path / "p") and not is_trusted(tmp_path / "p")


def kills(home: Path, root: Path) -> Iterator[int]:
    """Kill a founding before each of its steps in turn, until one gets through."""
    for number in range(200):
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(home / "state", ignore_errors=True)
        if not run(KILL, root, number).returncode:
            return
        yield number
    raise AssertionError("it never gets through")


def test_p45_a_kill_at_any_step_leaves_no_project_or_a_whole_and_trusted_one(
    home: Path, tmp_path: Path
) -> None:
    seen = set()
    root = tmp_path / "p"
    for number in kills(home, root):
        there = (root / ".vespe").exists()
        seen.add(there)
        assert not there or is_trusted(root), number
        assert found_project(root).made is not there
        assert is_whole(root) and is_trusted(root) and len(records(home)) == 1, number
    assert seen == {False, True}


def test_p47_where_nothing_can_be_written_nothing_is_left(home: Path, tmp_path: Path) -> None:
    code = (
        "import resource, sys\nfrom vespe.projects.init import found_project\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))\n"
        "try: found_project(sys.argv[1])\nexcept Exception as error: "
        "print(type(error).__name__, error)\n"
    )
    assert (
        run(code, tmp_path / "p").stdout
        == f"StorageError cannot make {tmp_path}/p/.vespe: File too large\n"
    )
    assert os.listdir(tmp_path / "p") == [] and records(home) == []


def test_p47_trust_that_cannot_be_kept_leaves_no_project(home: Path, tmp_path: Path) -> None:
    (home / "state").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match=r"cannot make .*state"):
        found_project(tmp_path / "p")
    assert os.listdir(tmp_path / "p") == []
    (home / "state").unlink()
    assert found_project(tmp_path / "p").made and is_trusted(tmp_path / "p")


@pytest.mark.parametrize("kind", ["file", "link", "dangling link"])
def test_what_is_no_directory_is_refused(home: Path, tmp_path: Path, kind: str) -> None:
    inner = Path(project.project_dir(tmp_path))
    inner.write_text("", encoding="utf-8") if kind == "file" else inner.symlink_to(
        "/" if kind == "link" else "nowhere"
    )
    with pytest.raises(InvalidDocument, match="not a directory"):
        found_project(tmp_path)
    assert records(home) == []


def test_a_leftover_is_swept_and_what_only_looks_like_one_stays(home: Path, tmp_path: Path) -> None:
    left, link, other = (
        tmp_path / "p" / f".vespe-{end}.tmp" for end in ("0" * 24, "1" * 24, "mine")
    )
    (left / "tools").mkdir(parents=True)
    (tmp_path / "theirs").mkdir()
    link.symlink_to(tmp_path / "theirs")
    other.mkdir()
    found_project(tmp_path / "p")
    assert (
        sorted(os.listdir(tmp_path / "p")) == sorted([".vespe", link.name, other.name])
        and (tmp_path / "theirs").is_dir()
    )


def test_a_place_that_cannot_be_made_is_a_sentence(home: Path) -> None:
    with pytest.raises(StorageError, match="cannot make /dev/null/here"):
        found_project("/dev/null/here")


def test_something_that_takes_the_place_meanwhile_is_left_alone(home: Path, tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom vespe.projects.init import found_project\nreal = os.rename\n"
        "def rename(a, b):\n os.mkdir(b)\n open(b + '/theirs', 'w').close()\n real(a, "
        "b)\nos.rename = rename\n"
        "try: found_project(sys.argv[1])\nexcept Exception as error: "
        "print(type(error).__name__, error)\n"
    )
    assert run(code, tmp_path / "p").stdout.startswith("StorageError cannot make ")
    assert [str(path.relative_to(tmp_path / "p")) for path in (tmp_path / "p").rglob("*")] == [
        ".vespe",
        ".vespe/theirs",
    ]
    assert records(home) == [] and not is_trusted(tmp_path / "p")


def test_from_a_working_directory_that_is_gone_it_is_a_sentence(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(StorageError, match="cannot find the working directory"):
        found_project(".")


def test_exactly_one_of_several_at_once_has_made_the_project(home: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from vespe.projects.init import found_project; sys.stdin.read(); "
        "print(found_project(sys.argv[1]).made)"
    )
    argv = [sys.executable, "-c", code, str(tmp_path / "p")]
    started = [
        subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        for _ in range(6)
    ]
    assert sorted(p.communicate("")[0].strip() for p in started) == ["False"] * 5 + ["True"]
    assert is_whole(tmp_path / "p") and is_trusted(tmp_path / "p") and len(records(home)) == 1


def test_the_second_waits_for_the_first_and_sweeps_nothing_of_it(
    home: Path, tmp_path: Path
) -> None:
    slow = (
        "import os, sys\nfrom vespe.projects.init import found_project\nreal = os.rename\n"
        "def rename(a, b):\n print('staged', flush=True)\n sys.stdin.read()\n real(a, "
        "b)\nos.rename = rename\n"
        "print(found_project(sys.argv[1]).made)\n"
    )
    quick = (
        "import sys; from vespe.projects.init import found_project; "
        "print(found_project(sys.argv[1]).made)"
    )

    def start(code: str) -> subprocess.Popen[str]:
        argv = [sys.executable, "-c", code, str(tmp_path / "p")]
        return subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    first = start(slow)
    assert first.stdout is not None and first.stdout.readline() == "staged\n"
    second = start(quick)
    with contextlib.suppress(subprocess.TimeoutExpired):
        second.wait(timeout=1)
    assert first.communicate("")[0] == "True\n" and second.communicate()[0] == "False\n"
    assert is_whole(tmp_path / "p") and is_trusted(tmp_path / "p")
