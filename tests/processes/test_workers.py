"""Calls that are forks of what is kept ready: the same outcomes as in an interpreter of their own,
and nothing left behind.
"""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.support.descriptors import left_open, opened
from tests.support.ondisk import PATIENCE_S
from vespe.calls import sandboxing
from vespe.errors import ToolExecutionError, VespeError
from vespe.models import Implementation, Tool
from vespe.processes import process
from vespe.processes import workers as workers_module
from vespe.processes.child_scripts import Interpreter
from vespe.processes.workers import Lease, Workers, _Spares, is_possible
from vespe.tool_types import Context
from vespe.types.python_script.execution import PythonScript
from vespe.types.shell_command.execution import ShellCommand

pytestmark = pytest.mark.skipif(not is_possible(), reason="there are no zygotes on this system")

NASTY = {
    "exit": "import sys\ndef f(): sys.exit(3)",
    "exit with a text": "import sys\ndef f(): sys.exit('no')",
    "_exit": "import os\ndef f(): os._exit(4)",
    "kills itself": "import os\ndef f(): os.kill(os.getpid(), 9)",
    "aborts": "import os\ndef f(): os.abort()",
    "prints": "import sys\ndef f():\n    print('out'); print('err', file=sys.stderr); return 1",
    "writes to descriptors": "import os\ndef f(): os.write(1, b'one\\n'); os.write(2, b'two\\n')",
    "closes its streams": "import sys\ndef f():\n    sys.stdout.close(); "
    "sys.stderr.close(); return 1",
    "closes all descriptors": "import os\ndef f(): os.closerange(0, 99); return 1",
    "closes the result alone": "import os\ndef f(): os.close(3); return 1",
    "leaves a thread": "import threading, time\ndef f(): threading.Thread(target=time.sleep, "
    "args=(60,)).start(); return 1",
    "leaves a child": "import subprocess, sys\ndef f(): subprocess.Popen([sys.executable, '-c', "
    "'import time; time.sleep(60)']); return 1",
    "leaves a daemon": "import os, time\ndef f():\n    if not os.fork():\n        os.setsid()\n"
    "        time.sleep(60)\n    return 1",
    "writes too much": "def f(): return 'x' * 70_000_000",
    "prints much": "def f():\n    for n in range(30000): print('line', n)\n    return 1",
    "never ends": "def f():\n    while True: pass",
    "never ends and ignores TERM": "import signal, "
    "time\ndef f():\n    signal.signal(signal.SIGTERM, "
    "signal.SIG_IGN)\n    time.sleep(60)",
    "divides by zero": "def f(): return 1 / 0",
    "raises what cannot be said": "class E(Exception):\n    def __str__(self): "
    "raise ValueError\ndef f(): raise E",
    "raises a base exception": "class E(BaseException): pass\ndef f(): raise E('x')",
    "interrupts itself": "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGINT)\n",
    "fails as it is loaded": "import no_such_module\ndef f(): pass",
    "does not parse": "def f(:",
    "has no such function": "def g(): pass",
    "reads stdin": "import sys\ndef f(): return sys.stdin.read()",
    "asks": "def f(): return input('?')",
    "changes where it is": "import os\ndef f(): os.chdir('/'); return os.getcwd()",
    "changes its environment": "import os\ndef f():\n    os.environ['A'] = 'b'; os.umask(0o777); "
    "return sorted(os.environ)",
    "is asked at its end": "import atexit\ndef f(): atexit.register(print, 'bye'); return 1",
    "fails at its end": "import atexit\ndef f(): atexit.register(lambda: 1 / 0); return 1",
    "forks": "import os\ndef f():\n    if os.fork() == 0: return 'child'\n    os.wait(); "
    "return 'parent'",
    "gives no JSON": "def f(): return {1: object()}",
    "gives NaN": "def f(): return float('nan')",
    "never stops calling": "def f(): return f()",
    "has little memory": "import resource as r\ndef f():\n    r.setrlimit(r.RLIMIT_AS, "
    "(1 << 29,) * 2); return len(bytes(1 << 30))",
    "handles signals": "import signal\ndef f(): return [str(signal.getsignal(n)) for n in (2, 13, "
    "15, 17, 25)]",
    "looks at itself": "import os, sys\ndef f(): return [sys.argv[1:], sys.flags[:], __name__, "
    "sys.path, os.getpgrp() == os.getpid()]",
    "looks at its descriptors": "import os\ndef f(): return sorted(map(int, "
    "os.listdir('/proc/self/fd')))[:4]",
    "starts processes of its own": "import multiprocessing\ndef f():\n    with "
    "multiprocessing.Pool(2) as pool: return pool.map(abs, [-1])",
    "runs a loop": "import asyncio\nasync def f(): await asyncio.sleep(0.01); return 1",
    "pickles its own": "import pickle\nclass A: pass\ndef f(): "
    "return type(pickle.loads(pickle.dumps(A()))).__name__",
    "kills its parent": "import os, time\ndef f(): os.kill(os.getppid(), 9); time.sleep(60)",
    "hangs its group up": "import os\ndef f(): os.killpg(0, 1)",
}
SHORT = {"never ends", "never ends and ignores TERM"}


class Bench:
    """A tool's directory, and calls of it one way or the other."""

    def __init__(self, directory: Path, workers: Workers) -> None:
        self.directory, self.workers = directory, workers

    def context(self, *, is_ready: bool, **fields: Any) -> Context:
        environment = process.child_environment({**os.environ, "LANG": "C.UTF-8"}, {})
        place = str(self.directory)
        whole: dict[str, Any] = {
            "project_root": place,
            "directory": place,
            "environment": environment,
            "timeout_s": PATIENCE_S,
        }
        return Context(**(whole | {"workers": self.workers if is_ready else None} | fields))

    def run(
        self, source: str, *, is_ready: bool = True, permissions: Any = None, **fields: Any
    ) -> Any:
        name = "main.py" if threading.current_thread() is threading.main_thread() else "other.py"
        (self.directory / name).write_text(dedent(source), encoding="utf-8")
        implementation = Implementation(type="python_script", path=name, entrypoint="f", args={})
        tool = Tool(
            uid="tool-x",
            name="x",
            description="",
            input_schema={},
            directory=str(self.directory),
            implementation=implementation,
        )
        context = self.context(is_ready=is_ready, **fields)
        if permissions is None:
            return PythonScript().execute(tool, {}, context)
        with sandboxing.confine(
            replace(tool, permissions=permissions), context, setting="require"
        ) as held:
            return PythonScript().execute(tool, {}, held)

    def shell(self, *argv: str, is_ready: bool = True) -> Any:
        implementation = Implementation(
            type="shell_command", entrypoint=argv[0], args={"argv": [*argv[1:]]}
        )
        tool = Tool(
            uid="tool-x",
            name="x",
            description="",
            input_schema={},
            directory=str(self.directory),
            implementation=implementation,
        )
        return ShellCommand().execute(tool, {}, self.context(is_ready=is_ready))

    def outcome(self, name: str, *, is_ready: bool) -> Any:
        """What became of a nasty call, without what differs from one process to the next."""
        try:
            done = self.run(
                NASTY[name], is_ready=is_ready, timeout_s=0.4 if name in SHORT else PATIENCE_S
            )
        except VespeError as error:
            return (
                type(error),
                error.message,
                error.hint,
                sorted(error.details),
                error.details.get("logs", "")[-200:],
            )
        return done.result, done.logs[-200:], done.notes

    def zygotes(self) -> list[int]:
        return [kept.process.pid for kept in self.workers._zygotes._kept]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Workers() as workers:
        yield Bench(tmp_path_factory.mktemp("tool"), workers)


@pytest.mark.parametrize("name", NASTY)
def test_a_fork_has_the_outcome_of_an_interpreter_of_its_own(bench: Bench, name: str) -> None:
    assert bench.outcome(name, is_ready=True) == bench.outcome(name, is_ready=False)


def test_each_call_begins_with_nothing_of_the_one_before(bench: Bench) -> None:
    source = """
        import os, sys
        seen = []
        def f():
            seen.append(1)
            os.environ["A"], sys.modules["left"], before = "1", sys, [len(seen), "A" in os.environ, "left" in sys.modules, os.getcwd()]
            os.chdir("/")
            return before
    """
    assert [bench.run(source).result for _ in range(3)] == [
        [1, False, False, str(bench.directory)]
    ] * 3


def test_programs_are_started_from_what_is_kept_too(bench: Bench) -> None:
    before = set(bench.zygotes())
    for is_ready in (True, False, True):
        assert (
            bench.shell("sh", "-c", "echo $0 $PWD; cat", is_ready=is_ready).result
            == f"sh {bench.directory}\n"
        )
        with pytest.raises(
            ToolExecutionError, match="there is no program called 'no-such-program' on PATH"
        ):
            bench.shell("no-such-program", is_ready=is_ready)
    assert len(set(bench.zygotes()) - before) <= 1


def test_a_secret_of_one_call_is_not_in_the_memory_of_the_next(bench: Bench) -> None:
    looks = """
        import os, re
        def f():
            found = 0
            for line in open("/proc/self/maps"):
                area, rights, *_ = line.split()
                if rights.startswith("rw"):
                    first, last = (int(end, 16) for end in area.split("-"))
                    found += len(re.findall(rb"hunte[r]-two-secret", os.pread(memory, last - first, first)))
            return found
        memory = os.open("/proc/self/mem", os.O_RDONLY)
    """
    assert bench.run("def f(): return 'hunter-two-secret'").result == "hunter-two-secret"
    assert (
        bench.run(looks).result == 0 and bench.run(looks + "        # hunter-two-secret").result > 0
    )


@pytest.mark.skipif(sandboxing.machine().level == "off", reason="this machine has no sandbox")
@pytest.mark.parametrize("is_ready", [True, False])
def test_a_fork_is_held_to_what_its_tool_states(bench: Bench, is_ready: bool) -> None:
    writes = """
        import os, tempfile
        def f():
            tempfile.NamedTemporaryFile().close()
            open("made", "w")
            return os.environ.get("TMPDIR", "-")
    """
    places = {
        bench.run(writes, is_ready=is_ready, permissions={"write": ["."]}).result for _ in range(2)
    }
    assert len(places) == 2
    with pytest.raises(ToolExecutionError, match="Error: "):
        bench.run(writes, is_ready=is_ready, permissions={"write": []})
    assert bench.run(writes, is_ready=is_ready).result


def test_a_killed_zygote_ends_no_call_and_the_next_has_another(bench: Bench) -> None:
    results: list[Any] = []
    waiting = threading.Thread(
        target=lambda: results.append(
            bench.run("import time\ndef f(): time.sleep(0.5); return 7").result
        )
    )
    bench.run("def f(): return 1")
    waiting.start()
    time.sleep(0.1)
    for pid in bench.zygotes():
        with contextlib.suppress(ProcessLookupError):  # one of a test before has ended already
            os.kill(pid, signal.SIGKILL)
    waiting.join()
    done = bench.run("def f(): return 2")
    assert (results, done.result, done.notes) == ([7], 2, ())


def test_a_killed_supervisor_ends_its_own_call_alone_with_all_that_it_started(bench: Bench) -> None:
    results: list[Any] = []
    other = threading.Thread(
        target=lambda: results.append(
            bench.run("import time\ndef f(): time.sleep(0.5); return 7").result
        )
    )
    other.start()
    killer = """
        import os, subprocess, sys, time
        def f():
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
            open("child", "w").write(str(child.pid))
            os.kill(os.getppid(), 9)
            time.sleep(60)
    """
    with pytest.raises(ToolExecutionError, match="ended together with the process that watched it"):
        bench.run(killer)
    with pytest.raises(ProcessLookupError):
        os.kill(int((bench.directory / "child").read_text(encoding="utf-8")), 0)
    other.join()
    assert results == [7] and bench.run("def f(): return 2").result == 2


def test_a_supervisor_that_was_stopped_goes_on_at_the_deadline(bench: Bench) -> None:
    with pytest.raises(VespeError, match="did not finish within"):
        bench.run(
            "import os, signal\ndef f(): os.kill(os.getppid(), signal.SIGSTOP)", timeout_s=0.4
        )
    assert bench.run("def f(): return 2").result == 2


def test_a_supervisor_serves_on_after_a_call_that_it_was_told_to_end(bench: Bench) -> None:
    parent = "import os\ndef f(): return os.getppid()"
    with Workers() as workers:
        alone = Bench(bench.directory, workers)
        before = alone.run(parent).result
        with pytest.raises(VespeError, match="did not finish within"):
            alone.run("import time\ndef f(): time.sleep(60)", timeout_s=0.4)
        assert alone.run(parent).result == before


def test_a_call_that_no_zygote_begins_has_a_process_of_its_own_and_a_note(bench: Bench) -> None:
    broken = Interpreter(argv=("/bin/false",), env={}, scripts=(__file__,))
    command = process.Command(
        argv=("echo", "hi"),
        cwd="/",
        env={},
        timeout_s=PATIENCE_S,
        interpreter=broken,
        workers=bench.workers,
    )
    done = process.run(command)
    assert done.stdout == b"hi\n" and done.notes == (
        "no process that is kept ready could be forked, so this call started one of its own",
    )


def test_what_is_kept_ends_with_its_owner(bench: Bench) -> None:
    with Workers() as workers:
        other = Bench(bench.directory, workers)
        other.run("def f(): return 1")
        (pid,) = other.zygotes()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_nobody_closed_ends_with_what_held_it_and_leaves_no_descriptor(bench: Bench) -> None:
    before = opened()
    other = Bench(bench.directory, Workers())
    other.run("def f(): return 1")
    (over,) = [kept.process.over for kept in other.workers._zygotes._kept]
    del other
    assert over.wait(PATIENCE_S) and not left_open(before)


def test_a_zygote_that_ends_by_itself_leaves_no_descriptor(bench: Bench) -> None:
    with Workers() as workers:
        before = opened()
        other = Bench(bench.directory, workers)
        other.run("def f(): return 1")
        (zygote,) = [kept.process for kept in workers._zygotes._kept]
        os.kill(zygote.pid, signal.SIGKILL)
        assert zygote.over.wait(PATIENCE_S)
        assert not left_open(before)


def test_many_calls_leave_no_process_and_no_descriptor(bench: Bench) -> None:
    bench.run("def f(): return 1")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        bench.run("def f(): return 1")
    below = [pid for zygote in bench.zygotes()[-1:] for pid in _tree(zygote)]
    assert len(os.listdir("/proc/self/fd")) <= before + 1 and "Z" not in [
        _state(pid) for pid in below
    ]


def _tree(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = [int(child) for child in file.read().split()]
    # the zygote's are supervisors, which live
    return children + [below for child in children for below in _tree(child)]


def _state(pid: int) -> str:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


def test_a_fork_of_vespe_begins_with_its_own(bench: Bench) -> None:
    bench.run("def f(): return 1")
    pid = os.fork()
    if pid == 0:
        os._exit(0 if bench.run("def f(): return 3").result == 3 else 1)
    assert os.waitpid(pid, 0)[1] == 0 and bench.run("def f(): return 1").result == 1
    assert sys.platform == "linux"


@pytest.mark.skipif(sandboxing.machine().level == "off", reason="this machine has no sandbox")
def test_a_fork_of_vespe_has_spares_of_its_own(bench: Bench) -> None:
    stated: dict[str, list[str]] = {"read": []}
    spares = bench.workers._spares
    for _ in range(2):
        bench.run("def f(): return 1", permissions=stated)
    theirs = [*spares._leases]
    for lease in theirs:
        lease.is_busy = True  # other threads are within calls, and one has the lock
    with spares._lock:
        if (pid := os.fork()) == 0:
            signal.alarm(int(PATIENCE_S))
            found = bench.run("def f(): return 3", permissions=stated).result
            os._exit(0 if found == 3 and not {*spares._leases} & {*theirs} else 1)
    for lease in theirs:
        lease.is_busy = False
    assert os.waitpid(pid, 0)[1] == 0 and theirs and spares._leases == theirs


def test_no_spare_is_made_where_other_calls_keep_the_processors_busy(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "_JUST_NOW_S", PATIENCE_S)
    bench.run("def f(): return 1")
    zygote = bench.workers._zygotes._kept[-1].process
    most = max(len(os.sched_getaffinity(0)) - 1, 1)
    with contextlib.ExitStack() as opened:
        leases = []
        for _ in range(most + 2):
            ours, theirs = socket.socketpair()
            opened.callback(theirs.close)
            leases.append(Lease(zygote, ours, apart=True))
            opened.callback(leases[-1].close)
        spares = _Spares()
        took = [spares.take(one) for one in leases]
        assert took == [True] * most + [False] * 2
        assert not spares.take(leases[-1]) and leases[-1] not in spares._leases
        for one in leases[:-1]:
            spares.end(one)
        assert spares.take(leases[-1]) and leases[-1] in spares._leases
        monkeypatch.setattr(workers_module, "_JUST_NOW_S", 0)  # what began long ago is no rival
        assert all(spares.take(one) for one in leases)


HOSTILE = {
    "limits of others": "for p in range(1, 40):\n    for n in range(16): attempt(resource.prlimit, p, n, (0, 0))",
    "own limits": "[attempt(resource.setrlimit, n, (1, 1)) for n in range(16)]",
    "priorities": "[attempt(os.setpriority, k, p, 19) for k in range(3) for p in range(40)]",
    "schedulers": "[attempt(os.sched_setscheduler, p, os.SCHED_IDLE, os.sched_param(0)) for p in range(40)]",
    "processors": "[attempt(os.sched_setaffinity, p, {0}) for p in range(40)]",
    "kill all": "os.kill(-1, 9); attempt(os.kill, 0, 9)",
    "kill the parent": "[attempt(os.kill, os.getppid(), n) for n in range(1, 32)]",
    "daemons": "[os.fork() or (os.setsid(), signal.signal(15, signal.SIG_IGN), time.sleep(60)) for _ in range(5)]",
    "descriptors": "os.closerange(0, 100)",
    "junk": "[attempt(os.write, n, b'E 0\\nS 1\\nF 1 x\\n42') for n in range(12)]",
    "surroundings": "os.environ['EVIL'] = '1'; os.umask(0); os.chdir('/'); json.dumps = lambda *_: 'evil'",
    "abort": "os.abort()",
}
STATE = """
    def f():
        status = open("/proc/self/status").read().split()
        return [
            [resource.getrlimit(n) for n in range(16)],
            os.getpriority(0, 0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0)),
            sorted(os.environ), os.getcwd(), status[status.index("Umask:") + 1],
            len([p for p in os.listdir("/proc") if p.isdigit()]), len(os.listdir("/proc/self/fd")),
            os.getppid(), json.dumps("x"), threading.active_count(),
        ]
"""
IMPORTS = """
    import json, os, resource, signal, threading, time
    def attempt(function, *arguments):
        try:
            function(*arguments)
        except OSError:
            pass
"""


@pytest.mark.skipif(
    sandboxing.machine().level != "namespaces" or sandboxing.machine().processes != 0,
    reason="this machine has no namespaces of processes",
)
def test_an_honest_call_after_hostile_ones_is_as_before_them(bench: Bench) -> None:
    honest = IMPORTS + STATE
    before = bench.run(honest, permissions={}).result
    zygotes = bench.zygotes()
    assert before[9] == 1  # the supervisor, and no process of the machine is seen
    for body in HOSTILE.values():
        source = (
            dedent(IMPORTS) + "def f():\n" + "\n".join(f"    {one}" for one in body.split("\n"))
        )
        for _ in range(3):
            with contextlib.suppress(VespeError):
                bench.run(source, permissions={}, timeout_s=5)
        assert bench.run(honest, permissions={}).result == before, body
    assert bench.zygotes() == zygotes
