"""Calls that are forks of a process in the tool's sandbox, which has imported what it depends on."""

import fcntl
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool
from tests.support.systems import NO_NAMESPACES, refusing
from tests.types.python_script.test_environments import OFFLINE
from vespe.calls.asking import PersonReply, ToolQuestion
from vespe.calls.path import CallPath, open_path
from vespe.calls.sandboxing import machine
from vespe.models import Call, Outcome
from vespe.processes.workers import Workers
from vespe.projects.workspace import open_workspace
from vespe.types.python_script.environments import interpreter

pytestmark = pytest.mark.skipif(
    machine().level not in ("namespaces", "landlock"), reason="this machine has no sandbox"
)
SOURCE = """
import os, tempfile, threading
tempfile.gettempdir()
COUNT = 0
with open("imports", "a") as file:
    file.write("x")
if os.path.exists("starts-threads"):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A distribution whose module notes each import, installed in a cache of its own."""
    at = tmp_path_factory.mktemp("wheel") / "probe-1.0-py3-none-any.whl"
    about = "probe-1.0.dist-info/"
    with zipfile.ZipFile(at, "w") as file:
        file.writestr("probe.py", SOURCE)
        file.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n")
        file.writestr(
            about + "WHEEL",
            "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(about + "RECORD", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(at.parent / "cache"))
        patch.setenv("HOME", str(at.parent))
        interpreter((f"probe @ file://{at}",), environment=OFFLINE | {"HOME": str(at.parent)})
    return at


@pytest.fixture
def make(project: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write a tool that depends on the distribution."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(wheel.parent / "cache"))

    def written(name: str, body: str, **more: Any) -> None:
        at = python_tool(project / f".vespe/tools/tool-{name}", name, body, **more)
        block = f'# /// script\n# dependencies = ["probe @ file://{wheel}"]\n# ///\n'
        text = (at / "main.py").read_text(encoding="utf-8")
        (at / "main.py").write_text(f"{block}import os, probe\n{text}", encoding="utf-8")

    return written


@pytest.fixture
def path(project: Path) -> Iterator[CallPath]:
    with Workers() as workers:
        yield replace(open_path(open_workspace(project)), workers=workers)


def run(path: CallPath, tool: str, **more: Any) -> Outcome:
    return path.run(Call(tool=tool, arguments={}, **more))


def test_what_a_tool_depends_on_is_imported_once_and_calls_share_nothing(
    make: Callable[..., None], project: Path, path: CallPath
) -> None:
    body = (
        "import tempfile\nprobe.COUNT += 1\nos.environ['LEFT'] = os.environ.get('LEFT', '') + 'x'\n"
        "open(os.path.join(tempfile.gettempdir(), 'left'), 'x').close()\n"
        "return [probe.COUNT, os.environ['LEFT'], os.environ['TMPDIR']]"
    )
    make("t", body)
    directories, imports = set(), [""]
    # What comes into the home directory, or beside it, makes another sandbox: then it is imported
    # again.
    while len(imports) < 20 and imports[-1] != "reused":
        outcome = run(path, "t")
        assert outcome.error is None and outcome.result[:2] == [1, "x"]
        directories.add(outcome.result[2])
        now = (project / "imports").read_text(encoding="utf-8")
        imports.append("reused" if now == imports[-1] else now)
    assert imports[-1] == "reused" and len(directories) == len(imports) - 1
    assert not any(map(os.path.exists, directories))


BODIES = (
    "print('said')\nreturn {'a': [1]}",
    "raise ValueError('no')",
    "return object()",
    "raise SystemExit(3)",
    "os._exit(7)",
    "os._exit(0)",
    "os.kill(os.getpid(), 9)",
    "import threading\nthreading.Thread(target=threading.Event().wait).start()\nreturn 1",
    "import atexit\natexit.register(print, 'bye')\nreturn 1",
    "os.close(1)\nos.close(2)\nreturn 1",
    "os.closerange(3, 100)\nreturn 1",
    "import sys\nreturn [len(sys.argv), __name__]",
    "if os.fork() == 0:\n    return 2\nos.wait()\nreturn 1",
    "try:\n    open(os.path.expanduser('~/.ssh/id'))\nexcept OSError as e:\n    return e.errno",
)


def test_p62_an_outcome_is_the_one_of_a_process_of_its_own(
    make: Callable[..., None], home: Path, path: CallPath
) -> None:
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("KEY", encoding="utf-8")
    for number, body in enumerate(BODIES):
        make(f"t{number}", body)

    def seen(outcome: Outcome) -> Outcome:
        return replace(outcome, duration_ms=0.0)

    for number, body in enumerate(BODIES):
        forked = run(path, f"t{number}")
        alone = replace(path, workers=None).run(Call(tool=f"t{number}", arguments={}))
        assert seen(forked) == seen(alone), body


def test_nothing_that_a_call_starts_outlives_it(
    make: Callable[..., None], project: Path, path: CallPath
) -> None:
    body = (
        "import fcntl, signal\nreader, writer = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n"
        "    if os.fork() == 0:\n        file = open('held', 'w')\n"
        "        fcntl.flock(file, fcntl.LOCK_EX)\n        os.write(writer, b'x')\n"
        "        signal.pause()\n    os._exit(0)\nos.read(reader, 1)\nreturn 1"
    )
    make("t", body)
    for _ in range(2):
        assert run(path, "t").result == 1
        with open(project / "held", "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_call_that_is_late_or_ends_its_parent_does_no_harm_to_the_next(
    make: Callable[..., None], path: CallPath
) -> None:
    make("late", "import signal\nsignal.pause()")
    make("ends", "try:\n    os.kill(os.getppid(), 9)\nexcept OSError:\n    pass\nreturn 1")
    make("one", "return 1")
    late = run(path, "late", timeout_s=1.0)
    assert late.error is not None and late.error.code == "timed_out"
    for _ in range(2):
        run(path, "ends")
        assert run(path, "one").result == 1


def test_where_an_import_starts_threads_each_call_has_a_process_of_its_own(
    make: Callable[..., None], project: Path, path: CallPath
) -> None:
    (project / "starts-threads").touch()
    make("t", "return os.environ['TMPDIR']")
    assert len({run(path, "t").result for _ in range(2)}) == 2
    assert path.workers is not None and path.workers.threaded


def test_each_policy_has_a_process_of_its_own(
    make: Callable[..., None], project: Path, path: CallPath
) -> None:
    body = "open('made', 'w').close()\nreturn 1"
    make("writes", body)
    make("reads", body, permissions={"write": []})
    assert run(path, "writes").result == 1
    refused = run(path, "reads").error
    assert refused is not None and refused.code == "permission_denied"


ONE_LEVEL_DOWN = """
import sys
from dataclasses import replace
from vespe.calls.path import open_path
from vespe.models import Call
from vespe.processes.workers import Workers
from vespe.projects.workspace import open_workspace

with Workers() as workers:
    path = replace(open_path(open_workspace(".")), workers=workers)
    for _ in range(9):
        outcome = path.run(Call(tool="t", arguments={}))
        print(outcome.result, outcome.error, outcome.sandbox["level"])
"""


def test_it_is_so_without_namespaces_too(
    make: Callable[..., None], project: Path, wheel: Path
) -> None:
    found = wheel.parent / "cache/vespe/sandbox"  # what this machine has, as it was found
    found.unlink(missing_ok=True)
    make("t", "probe.COUNT += 1\nreturn probe.COUNT")
    command = refusing(NO_NAMESPACES, sys.executable, "-c", ONE_LEVEL_DOWN)
    done = subprocess.run(command, cwd=project, capture_output=True, encoding="utf-8", check=True)
    found.unlink()
    assert done.stdout == "1 None landlock\n" * 9
    assert len((project / "imports").read_text(encoding="utf-8")) < 9


def test_a_secret_of_one_call_is_not_there_in_the_next(
    make: Callable[..., None], path: CallPath
) -> None:
    make(
        "t", "return sorted(name for name in os.environ if name.startswith('KEY'))", secrets=["KEY"]
    )
    make("u", "return sorted(name for name in os.environ if name.startswith('KEY'))")
    given = replace(path, environment={**os.environ, "KEY": "abcdefgh"})
    assert run(given, "t").result == ["KEY"] and run(given, "u").result == []
    assert json.dumps(run(given, "t").result) == '["KEY"]'


def test_a_fork_asks_a_person_and_none_of_it_is_left_for_the_next_call(
    make: Callable[..., None], project: Path, path: CallPath
) -> None:
    body = "import vespe_ask\nos.write(4, b'half a li') if probe.COUNT else None\n"
    make("asks", body + "return vespe_ask.ask('Sure?', name='sure') | {'pid': os.getppid()}")
    asked: list[ToolQuestion] = []

    def person(question: ToolQuestion) -> PersonReply:
        asked.append(question)
        return PersonReply(action="accept")

    answered = replace(path, asker=person)
    parents = {run(answered, "asks").unwrap()["pid"] for _ in range(2)}
    error = run(path, "asks").error
    assert error is not None and error.code == "needs_input"
    parents.add(run(answered, "asks").unwrap()["pid"])
    assert len(asked) == 3 and len(parents) == 1
