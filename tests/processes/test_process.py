"""Real processes: what they are given, what is kept of what they write, and that nothing of them is
left.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.descriptors import left_open, opened
from tests.support.ondisk import PATIENCE_S, interruptible
from vespe import defaults
from vespe.errors import Interrupted, InvalidArguments, OutputTooLarge, TimedOut, ToolExecutionError
from vespe.processes import process
from vespe.processes.process import Command, Finished, run

ROOT = Path(process.__file__).parents[2]
PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
ECHO = (
    "import sys; sys.stdout.buffer.write(b'\\0'.join(a.encode('utf-8', "
    "'surrogateescape') for a in sys.argv[1:]))"
)
ESCAPES = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    time.sleep(60 if sys.argv[1] == "stay" else 0)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
time.sleep(60)
"""
"""Forks, leaves its session, forks again, ignores TERM and holds the pipes."""


def command(*argv: str, **fields: Any) -> Command:
    return Command(**{"argv": argv, "cwd": "/", "env": PATH, "timeout_s": 20.0, **fields})


def python(source: str, *argv: str, **fields: Any) -> Command:
    return command(sys.executable, "-I", "-S", "-c", source, *argv, **fields)


def shell(script: str, **fields: Any) -> Command:
    return command("/bin/sh", "-c", script, **fields)


def alive(marker: str) -> list[str]:
    """The processes that have the marker among their arguments."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=", "-o", "args="],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        errors="replace",
    )
    return [line for line in listed.stdout.splitlines() if marker in line]


def gone(marker: str) -> bool:
    """Whether processes that were seen alive end, within the time that a slow machine may need."""
    deadline = time.monotonic() + PATIENCE_S
    while alive(marker):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def seen(marker: str, *, at_least: int = 1) -> None:
    """Wait until so many processes have the marker: a process has its arguments only a while after
    it was begun.
    """
    deadline = time.monotonic() + PATIENCE_S
    while len(alive(marker)) < at_least:
        assert time.monotonic() < deadline, f"{alive(marker)} are all that began"
        time.sleep(0.02)


@pytest.fixture
def _of_tests_before() -> None:
    _beside.clear()
    _beside.update(zombies())


_beside: set[str] = set()
"""What a process that outlives its command leaves where a test starts it in this process."""


def zombies() -> list[str]:
    """The ended children of this process that nobody has waited for, but for those of tests
    before.
    """
    listed = subprocess.run(
        ["ps", "-A", "-o", "stat=", "-o", "pid=", "-o", "ppid="],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    return [
        line
        for line in listed.stdout.splitlines()
        if line.startswith("Z") and line.split()[-1] == str(os.getpid()) and line not in _beside
    ]


def test_a_process_gives_its_status_and_both_streams() -> None:
    finished = run(shell("echo out; echo err >&2; exit 3"))
    assert (finished.returncode, finished.signal, finished.stdout, finished.stderr) == (
        3,
        None,
        b"out\n",
        b"err\n",
    )
    assert (finished.result, finished.stderr_bytes) == (None, 4)


def test_a_process_that_a_signal_kills_has_no_status() -> None:
    finished = run(shell("kill -9 $$"))
    assert (finished.returncode, finished.signal) == (None, signal.SIGKILL)


def test_programs_run_one_after_the_other_until_one_fails() -> None:
    told = ("/bin/sh", "-c", "cat; echo two")
    done = run(
        shell(
            "echo one",
            then=(told, ("/bin/sh", "-c", "echo three; exit 3"), ("/bin/echo", "never")),
            stdin=b"x",
        )
    )
    assert (done.returncode, done.stdout) == (3, b"one\nxtwo\nthree\n")
    assert run(shell("echo one; exit 1", then=(told,))).stdout == b"one\n"
    assert run(shell("kill -9 $$", then=(told,))).signal == 9
    assert run(shell("echo one", then=(told,))).returncode == 0


def test_p14_what_comes_after_is_held_to_the_same_rules() -> None:
    with pytest.raises(InvalidArguments, match="NUL"):
        run(shell("echo one", then=(("/bin/echo", "a\0b"),)))
    with pytest.raises(ToolExecutionError):
        run(shell("echo one", then=(("/no/such/program",),)))


def test_p27_of_programs_that_run_one_after_the_other_none_outlives_the_deadline() -> None:
    marker = f"marker-{time.monotonic_ns()}"
    with pytest.raises(TimedOut):
        run(
            shell(
                "exit 0",
                then=(
                    ("/bin/sh", "-c", f"trap '' TERM; sleep 60; : {marker}"),
                    ("/bin/echo", marker),
                ),
                timeout_s=0.5,
            )
        )
    assert gone(marker)


def test_the_result_comes_over_a_descriptor_that_the_last_argument_names() -> None:
    finished = run(
        python(
            "import os, sys; os.write(int(sys.argv[-1]), b'result'); print('noise')", result_fd=True
        )
    )
    assert (finished.result, finished.stdout) == (b"result", b"noise\n")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), max_size=20))
def test_p14_arguments_arrive_element_for_element(texts: list[str]) -> None:
    finished = run(python(ECHO, *texts))
    assert finished.stdout == "\0".join(texts).encode()


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\udc80", "x" * 2_100_000])
def test_p14_what_no_process_can_be_given_is_refused_as_arguments(text: str) -> None:
    with pytest.raises(InvalidArguments, match="argument"):
        run(command("/bin/echo", text))


def test_p14_a_program_or_variable_with_nul_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="the program holds a NUL"):
        run(command("/bin/e\0cho"))
    with pytest.raises(InvalidArguments, match="the variable A"):
        run(command("/bin/echo", env={"A": "\ud800"}))


def test_p33_a_child_has_exactly_the_environment_that_it_is_given() -> None:
    hostile = {
        "LD_PRELOAD": "/x.so",
        "PYTHONPATH": "/x",
        "GIT_DIR": "/x",
        "BASH_FUNC_ls%%": "() { :; }",
        "OPENAI_API_KEY": "k",
    }
    base = {"PATH": "/usr/bin:/bin", "LC_TIME": "C", "TZ": "UTC", "HOME": "/h", **hostile}
    env = process.child_environment(base, {"TOKEN": "t"})
    finished = run(command("env", env=env))
    assert sorted(finished.stdout.decode().splitlines()) == [
        "HOME=/h",
        "LC_TIME=C",
        "PATH=/usr/bin:/bin",
        "TOKEN=t",
        "TZ=UTC",
    ]


def test_p30_a_process_never_reads_our_standard_input() -> None:
    assert run(command("cat")).stdout == b""
    assert run(command("cat", stdin=b"given")).stdout == b"given"


def test_much_input_and_much_output_do_not_wait_for_each_other() -> None:
    data = os.urandom(3_000_000)
    assert run(command("cat", stdin=data)).stdout == data


def test_input_that_nobody_reads_holds_nothing_up() -> None:
    assert run(command("true", stdin=b"x" * 3_000_000)).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_child_has_no_descriptor_but_its_own() -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    finished = run(
        python(
            "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))", result_fd=True
        )
    )
    os.close(reader)
    os.close(writer)
    assert finished.stdout == b"[0, 1, 2, 3, 4]\n"  # 4 is the listing's own


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_child_starts_with_default_signals_in_a_session_of_its_own() -> None:
    source = (
        "import os\nprint(os.getsid(0) == os.getpid())\nprint(open('/proc/self/status').read())"
    )
    finished = run(command(sys.executable, "-I", "-S", "-c", source, env=PATH))
    ignored = next(
        line
        for line in run(command("cat", "/proc/self/status")).stdout.decode().splitlines()
        if line.startswith("SigIgn")
    )
    assert finished.stdout.startswith(b"True\n")
    assert not int(ignored.split()[1], 16) & (
        1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGINT - 1) | 1 << (signal.SIGTERM - 1)
    )


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("no-such-program",), "there is no program called 'no-such-program' on PATH"),
        (("/no/such/program",), "cannot start: No such file"),
        (("/etc",), "/etc is not executable"),
        ((__file__,), "test_process.py is not executable"),
    ],
)
def test_a_program_that_does_not_start_is_a_sentence(argv: tuple[str, ...], said: str) -> None:
    with pytest.raises(ToolExecutionError, match=said):
        run(command(*argv))


def test_a_program_that_was_named_with_its_arguments_is_told_apart() -> None:
    with pytest.raises(ToolExecutionError, match="no program called 'wc -l'") as refused:
        run(command("wc -l"))
    assert "pass the program's arguments apart from its name" in refused.value.hint


def test_a_script_without_a_first_line_or_with_a_missing_interpreter_is_a_sentence(
    tmp_path: Path,
) -> None:
    for text, said in (
        ("echo hi\n", "is not a program"),
        ("#!/no/such/interpreter\n", "its first line names an interpreter"),
    ):
        script = tmp_path / "script"
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
        with pytest.raises(ToolExecutionError, match=said):
            run(command(str(script)))


def test_a_missing_working_directory_is_a_sentence() -> None:
    with pytest.raises(
        ToolExecutionError, match="cannot start in the directory /no/such/place: No such file"
    ):
        run(command("true", cwd="/no/such/place"))


def test_a_program_is_never_found_through_a_relative_entry_of_path(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\necho ran\n", encoding="utf-8")
    (tmp_path / "tool").chmod(0o755)
    with pytest.raises(ToolExecutionError, match="no program called 'tool'"):
        run(command("tool", cwd=str(tmp_path), env={"PATH": ".::/usr/bin"}))


def test_running_out_of_descriptors_is_a_sentence() -> None:
    source = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nimport resource\nfrom "
        "vespe.processes.process import Command, run\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))\n"
        "try: run(Command(argv=['true'], cwd='/', env={}, timeout_s=5))\nexcept Exception as "
        "error: print(type(error).__name__, error)"
    )
    said = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    assert said == "StorageError cannot start a process for true: Too many open files\n"


def test_p29_a_flood_on_stdout_is_ended_at_the_cap() -> None:
    with pytest.raises(
        OutputTooLarge, match="yes wrote more than 1000000 bytes to its standard output"
    ) as caught:
        run(command("yes", cap_bytes=1_000_000))
    assert caught.value.kept == b"y\n" * 500_000
    assert caught.value.details["bytes"] > 1_000_000


def test_p29_a_flood_on_the_result_is_ended_at_the_cap() -> None:
    with pytest.raises(OutputTooLarge, match="as its result"):
        run(
            python(
                "import os\nwhile True: os.write(3, b'x' * 65536)",
                result_fd=True,
                cap_bytes=100_000,
            )
        )


def test_p29_stderr_is_read_without_end_and_its_tail_is_kept() -> None:
    finished = run(
        python(
            "import os\nfor i in range(800): os.write(2, b'x' * 65536)\nos.write(2, "
            "b'\\xff\\xfeend')"
        )
    )
    assert finished.stderr_bytes == 800 * 65536 + 5
    assert len(finished.stderr) == defaults.LOG_TAIL_BYTES
    assert finished.stderr.endswith(b"x\xff\xfeend")


def test_p29_output_exactly_at_the_cap_is_whole() -> None:
    finished = run(python("import os; os.write(1, bytes(range(256)) * 4)", cap_bytes=1024))
    assert finished.stdout == bytes(range(256)) * 4


def test_p27_at_the_deadline_the_process_is_asked_to_end_before_it_is_killed(
    tmp_path: Path,
) -> None:
    with pytest.raises(TimedOut, match=r"within 0\.3 s") as caught:
        run(
            shell(
                "trap 'echo asked > asked; exit' TERM; echo working >&2; sleep 60 & wait",
                cwd=str(tmp_path),
                timeout_s=0.3,
            )
        )
    assert (tmp_path / "asked").read_text(encoding="utf-8") == "asked\n"
    assert caught.value.details["stderr"] == "working\n"


def _times_out(marker: str) -> float:
    began = time.monotonic()
    with pytest.raises(TimedOut):
        run(python(ESCAPES, "stay", marker, timeout_s=0.5))
    return time.monotonic() - began


@pytest.mark.usefixtures("_of_tests_before")
def test_p27_daemons_that_left_the_session_and_ignore_term_end_at_the_deadline() -> None:
    before, markers = opened(), [f"marker-{uuid4()}" for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        assert len(list(pool.map(_times_out, markers))) == 20
    assert not [line for marker in markers for line in alive(marker)]
    assert zombies() == [] and not left_open(before)


def test_p27_daemons_that_outlive_their_process_are_ended_and_do_not_hold_the_call() -> None:
    marker = f"marker-{uuid4()}"
    for _ in range(5):
        assert run(python(ESCAPES, "leave", marker)).returncode == 0
        assert alive(marker) == []


def test_p27_a_stopped_process_ends_too() -> None:
    marker = f"marker-{uuid4()}"
    with pytest.raises(TimedOut):
        run(shell(f"kill -STOP $$; : {marker}", timeout_s=0.3))
    assert alive(marker) == []


@pytest.mark.usefixtures("_of_tests_before")
def test_p27_calls_at_the_same_time_never_end_one_another() -> None:
    before = opened()
    with ThreadPoolExecutor(32) as pool:
        short = [pool.submit(run, shell("sleep 60", timeout_s=0.5)) for _ in range(16)]
        long = [pool.submit(run, shell(f"sleep 2; echo {n}", timeout_s=60)) for n in range(16)]
        assert [call.result().stdout for call in long] == [b"%d\n" % n for n in range(16)]
        assert {type(call.exception()) for call in short} == {TimedOut}
    assert zombies() == [] and not left_open(before)


CALLER = """
import sys
sys.path.insert(0, {root!r})
from vespe.processes.process import Command, run
print("calling", flush=True)
try:
    run(Command(argv=[sys.executable, "-I", "-S", "-c", {escapes!r}, "stay", {marker!r}], cwd="/", env={{}}, timeout_s=60))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def _caller(marker: str) -> "subprocess.Popen[str]":
    """A process that runs a command which stays, and is seen to have started its daemon."""
    source = CALLER.format(root=str(ROOT), escapes=ESCAPES, marker=marker)
    caller = subprocess.Popen(
        [sys.executable, "-c", source],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=interruptible(),
    )
    assert caller.stdout is not None and caller.stdout.readline() == "calling\n"
    seen(marker, at_least=3)  # the caller's own source has the marker too
    return caller


def test_p28_when_vespe_is_killed_its_processes_end_too() -> None:
    marker = f"marker-{uuid4()}"
    with _caller(marker) as caller:
        caller.kill()
    assert gone(marker)


def test_p31_ctrl_c_ends_the_tree_and_then_the_caller() -> None:
    marker = f"marker-{uuid4()}"
    with _caller(marker) as caller:
        caller.send_signal(signal.SIGINT)
        assert caller.communicate(timeout=PATIENCE_S)[0] == "interrupted\n"
    assert alive(marker) == []


OWN_HANDLER = """
import os, signal, sys
sys.path.insert(0, {root!r})
from vespe.processes.process import Command, run
def own(*_):
    sys.exit(3)
signal.signal(signal.SIGTERM, own)
deaf = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(int('{{}}'), signal.SIGTERM); time.sleep(600)"
try:
    run(Command(argv=[sys.executable, "-c", deaf.format(os.getpid()), {marker!r}], cwd="/", env={{}}, timeout_s=60))
finally:
    sys.stdout.write("ended")
    sys.stdout.flush()
    sys.stdin.read()
"""


def test_p31_whatever_a_handler_of_the_program_raises_the_tree_has_ended_then() -> None:
    marker = f"marker-{uuid4()}"
    arguments = [sys.executable, "-c", OWN_HANDLER.format(root=str(ROOT), marker=marker)]
    with subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=interruptible(),
    ) as caller:
        assert caller.stdout is not None and caller.stdout.read(5) == "ended"
        assert len(alive(marker)) == 1  # the caller's own source has the marker too
        caller.communicate("")
    assert caller.returncode == 3


EVERY_STEP = """
import contextlib, os, signal, sys
sys.path.insert(0, {root!r})
from vespe.processes import process, signals, supervised_tree as supervising
FILES = {{process.__file__, supervising.__file__}}
command = process.Command(argv=["sh", "-c", "sleep 600; : {marker}"], cwd="/", env={{"PATH": "/usr/bin:/bin"}}, timeout_s=0.3)
left = 0
def step(frame, event, _):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGINT)
    return step
def run(steps):
    global left
    left, before = steps, len(os.listdir("/dev/fd"))
    sys.settrace(lambda frame, event, _: step if frame.f_code.co_filename in FILES else None)
    try:
        with {handled}():
            process.run(command)
    except KeyboardInterrupt:
        return len(os.listdir("/dev/fd")) - before
    finally:
        sys.settrace(None)
# Once without, so that what is imported late is there; then at every step, until the call is over before it.
try:
    run(-1)
except process.TimedOut:
    pass
interrupted, steps = [], 1
try:
    while True:
        interrupted.append(run(steps))
        steps += 13
except process.TimedOut:
    print(len(interrupted), {{leaked for leaked in interrupted}}, flush=True)
"""


@pytest.mark.parametrize(
    ("handled", "leaked"), [("signals.raise_on_signals", " {0}\n"), ("contextlib.nullcontext", "")]
)
def test_p31_ctrl_c_at_any_step_ends_the_call_and_leaves_no_process_and_vespe_no_descriptor(
    handled: str, leaked: str
) -> None:
    marker = f"marker-{uuid4()}"
    source = EVERY_STEP.format(root=str(ROOT), marker=marker, handled=handled)
    done = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        check=False,
        env=interruptible(),
        encoding="utf-8",
    )
    assert done.stderr == "" and done.stdout.endswith(leaked) and int(done.stdout.split()[0]) > 20
    assert gone(marker)


def test_a_set_event_cancels_the_call() -> None:
    cancel, marker = threading.Event(), f"marker-{uuid4()}"
    threading.Timer(0.3, cancel.set).start()
    with pytest.raises(Interrupted, match="was cancelled"):
        run(python(ESCAPES, "stay", marker), cancel=cancel)
    assert alive(marker) == []


def test_a_call_that_is_cancelled_before_it_starts_runs_nothing_for_long() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Interrupted):
        run(
            command("sleep", "60", env={**PATH, "BIG": "x" * 100_000, "MORE": "x" * 100_000}),
            cancel=cancel,
        )


def test_a_process_that_kills_its_supervisor_is_ended_with_it() -> None:
    marker = f"marker-{uuid4()}"
    with pytest.raises(ToolExecutionError, match="ended together with the process that watched it"):
        run(shell(f"kill -9 $PPID; sleep 60; : {marker}"))
    assert gone(marker)


MISCHIEF = """
import os, signal, sys, time
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.write(writer, b"detached")
    time.sleep(60)
    os._exit(0)
os.read(reader, 8)
parent = os.getppid()
with open(f"/proc/{parent}/stat") as file:
    grandparent = int(file.read().rpartition(")")[2].split()[1])
"""
"""Detaches a daemon, then finds the processes that watch over it."""


def mischief(source: str, marker: str, **fields: Any) -> Command:
    return python(MISCHIEF + source, marker, **{"timeout_s": 0.7, **fields})


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_p27_a_tool_that_kills_its_parent_leaves_no_daemon() -> None:
    marker = f"marker-{uuid4()}"
    with pytest.raises(ToolExecutionError, match="ended together with the process that watched it"):
        run(mischief("os.kill(parent, signal.SIGKILL); time.sleep(60)", marker, timeout_s=20.0))
    assert alive(marker) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
@pytest.mark.parametrize("stopped", ["parent", "grandparent"])
def test_p27_a_tool_that_stops_what_watches_it_leaves_no_daemon_at_the_deadline(
    stopped: str,
) -> None:
    marker = f"marker-{uuid4()}"
    with pytest.raises(TimedOut):
        run(mischief(f"os.kill({stopped}, signal.SIGSTOP); time.sleep(60)", marker))
    assert alive(marker) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_p27_a_daemon_that_stops_its_supervisor_again_and_again_is_ended_from_outside() -> None:
    marker = f"marker-{uuid4()}"
    stopping = (
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    while True:\n        "
        "os.kill(grandparent, signal.SIGSTOP)\n"
    )
    with pytest.raises(TimedOut):
        run(mischief(f"if os.fork() == 0:\n    os.setsid()\n{stopping}time.sleep(60)", marker))
    assert gone(marker)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_p27_a_tool_that_stops_what_watches_it_and_ends_leaves_no_daemon() -> None:
    marker = f"marker-{uuid4()}"
    assert (
        run(mischief("os.kill(grandparent, signal.SIGSTOP)", marker, timeout_s=20.0)).returncode
        == 0
    )
    with pytest.raises(TimedOut):
        run(mischief("os.kill(parent, signal.SIGSTOP)", marker))
    assert alive(marker) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
@pytest.mark.parametrize(
    "first", ["pass", "os.kill(parent, signal.SIGSTOP)", "os.kill(grandparent, signal.SIGSTOP)"]
)
def test_p28_a_tool_that_kills_vespe_leaves_no_daemon(first: str) -> None:
    marker = f"marker-{uuid4()}"
    source = MISCHIEF + f"{first}; os.kill(int(sys.argv[2]), signal.SIGKILL); os._exit(0)"
    caller = (
        "import os, sys; sys.path.insert(0, "
        f"{str(ROOT)!r})\nfrom vespe.processes.process import Command, run\n"
        f"argv = [sys.executable, '-I', '-S', '-c', {source!r}, {marker!r}, str(os.getpid())]\n"
        "run(Command(argv=argv, cwd='/', env={}, timeout_s=60))"
    )
    assert subprocess.run([sys.executable, "-c", caller], check=False).returncode == -signal.SIGKILL
    assert gone(marker)


def test_errors_call_the_command_by_its_name() -> None:
    with pytest.raises(TimedOut, match=r"^slow did not finish"):
        run(command("sleep", "60", timeout_s=0.1, name="slow"))


def test_a_call_works_where_the_caller_ignores_the_ends_of_its_children() -> None:
    source = (
        f"import sys, signal; sys.path.insert(0, {str(ROOT)!r})\nfrom vespe.processes.process "
        "import Command, run\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nprint(run(Command(argv=['echo', 'hi'], "
        "cwd='/', env={}, timeout_s=5)).stdout)"
    )
    assert (
        subprocess.run([sys.executable, "-c", source], capture_output=True, check=True).stdout
        == b"b'hi\\n'\n"
    )


def test_a_call_works_where_the_caller_has_closed_its_own_streams() -> None:
    source = (
        "import sys, os; sys.path.insert(0, "
        f"{str(ROOT)!r})\nfrom vespe.processes.process import Command, run\n"
        "saved = os.dup(1); os.closerange(0, 3)\nfinished = run(Command(argv=['cat'], cwd='/', "
        "env={}, stdin=b'hi', timeout_s=5))\n"
        "os.write(saved, finished.stdout)"
    )
    assert (
        subprocess.run([sys.executable, "-c", source], capture_output=True, check=True).stdout
        == b"hi"
    )


def test_the_duration_is_that_of_the_call() -> None:
    finished: Finished = run(command("sleep", "0.2"))
    assert finished.duration_s >= 0.2


@pytest.mark.parametrize(
    "junk", [r"zz\n", r"\n", r"E\n", r"E 99999999999999999999\n", r"F 1\n", r"F x y\n"]
)
def test_p27_junk_on_the_status_pipe_which_root_can_write_is_no_word_of_the_supervisor(
    junk: str,
) -> None:
    said = run(
        shell(
            f"for fd in /proc/$PPID/fd/*; do case $(readlink $fd) in pipe:*) printf '{junk}' "
            ">$fd;; esac; done 2>/dev/null; exit 3"
        )
    )
    assert said.returncode == 3
