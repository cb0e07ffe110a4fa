"""What a supervisor is given, and what is kept of what comes through its pipes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ondisk
from vespe.calls import sandboxing
from vespe.errors import InvalidArguments
from vespe.processes.supervised_tree import Output, payload


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"argv": ["x", "a\0b"]}, "argument 1 of the process holds a NUL character"),
        ({"argv": ["x", "\ud800"]}, "argument 1 of the process contains a lone surrogate"),
        ({"cwd": "/a\0b"}, "the working directory holds a NUL character"),
        ({"env": {"A": "b\0c"}}, "the variable A holds a NUL character"),
    ],
)
def test_what_no_process_can_be_given_is_refused_before_anything_starts(
    fields: dict[str, object], said: str
) -> None:
    given: dict[str, object] = {"argv": ["x"], "cwd": "/", "env": {}, "result": False, **fields}
    with pytest.raises(InvalidArguments, match=said):
        payload([given.pop("argv")], **given)  # type: ignore[arg-type,list-item]  # the table holds all of them as objects


def piped(*pieces: bytes, cap: int = 1000, keep_tail: bool = False) -> list[Output]:
    """The state of an Output after each piece."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    output = Output(reader, cap, keep_tail=keep_tail)
    for piece in pieces:
        os.write(writer, piece)
        output.read()
    os.close(writer)
    os.close(reader)
    return [output]


def test_lines_are_given_whole_and_the_rest_is_kept() -> None:
    (output,) = piped(b"one\ntw")
    assert output.lines() == [b"one"] and bytes(output.data) == b"tw"
    (output,) = piped(b"no", b" end")
    assert output.lines() == [] and bytes(output.data) == b"no end"


def test_what_came_since_a_mark_is_told_from_what_came_before() -> None:
    (output,) = piped(b"before", b"after", keep_tail=True)
    assert output.kept_since(6) == b"after" and output.kept_since(11) == b""
    (output,) = piped(b"a" * 900, b"b" * 900, cap=100, keep_tail=True)
    assert output.kept_since(0) == b"b" * 100 and output.kept_since(1790) == b"b" * 10


PEEK = """
import os
found, pid = [], os.getppid()
while pid > 1:
    status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status").read().splitlines())
    try:
        found.append("sk-of-the-user" in open(f"/proc/{pid}/environ").read())
    except PermissionError:
        found.append("denied")
    if inputs["vespe"] == pid:
        break
    pid = int(status["PPid"])
return found
"""
WITHOUT_CAPABILITIES = """
import ctypes, os, sys
for capability in range(64):  # those that let root read what its other processes hide among them
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


SHELL_PEEK = """pid=$PPID
while :; do
  if (: < /proc/$pid/environ) 2> /dev/null; then echo read; else echo denied; fi
  tr '\\0' ' ' < /proc/$pid/cmdline; echo
  [ "$pid" = "$0" ] && break
  pid=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$pid/status)
done"""


def _run(tool: str, at: Path) -> str:
    """Return what a command says whose process has a key in its environment, and no rights of
    root's.
    """
    argv = [
        sys.executable,
        "-c",
        WITHOUT_CAPABILITIES,
        "-m",
        "vespe",
        "tool",
        "run",
        tool,
        "--args",
        "-",
    ]
    with subprocess.Popen(
        argv, cwd=at, env={**os.environ, "KEY": "sk-of-the-user"}, stdin=-1, stdout=-1
    ) as process:
        said, _ = process.communicate(b'{"vespe": %d}' % process.pid, timeout=ondisk.PATIENCE_S)
    return said.decode()


def _start(project: Path) -> None:
    """Make a project whose tools see the other processes: the sandbox would hide them."""
    assert ondisk.vespe("init", str(project)).returncode == 0
    assert ondisk.vespe("config", "set", "sandbox", "off", cwd=project).returncode == 0


SCHEMA = {"type": "object", "properties": {"vespe": {"type": "integer"}}}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_p33_a_tool_cannot_read_the_environment_of_vespe_nor_of_its_supervisor(
    home: Path, tmp_path: Path
) -> None:
    _start(tmp_path)
    ondisk.python_tool(tmp_path / ".vespe/tools/tool-peek", "peek", PEEK.strip(), schema=SCHEMA)
    assert json.loads(_run("peek", tmp_path)) == ["denied"] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_p33_nor_can_a_program_whose_supervisor_is_a_fork_of_vespe(
    home: Path, tmp_path: Path
) -> None:
    _start(tmp_path)
    program = {
        "type": "shell_command",
        "entrypoint": "sh",
        "args": {"argv": ["-c", SHELL_PEEK, "{vespe}"]},
    }
    ondisk.write_tool(
        tmp_path / ".vespe/tools/tool-peek", "peek", implementation=program, schema=SCHEMA
    )
    lines = _run("peek", tmp_path).split("\n")
    assert lines[::2][:3] == ["denied"] * 3 and all(
        " -m vespe tool run " in line for line in lines[1:6:2]
    )


FORKS = """
import os, sys
fork, threads = os.fork, []
def counted():
    threads.append(len(os.listdir("/proc/self/task")))
    return fork()
os.fork = counted
from vespe.cli import main
print(main(["tool", "run", sys.argv[1]]), threads)
"""


@pytest.mark.skipif(
    sandboxing.machine().level != "namespaces",
    reason="only there has a program that states hosts a proxy",
)
@pytest.mark.parametrize(("name", "threads"), [("free", [1]), ("stated", [])])
def test_a_supervisor_is_a_fork_only_while_there_is_one_thread(
    home: Path, tmp_path: Path, name: str, threads: list[int]
) -> None:
    assert ondisk.vespe("init", str(tmp_path)).returncode == 0
    program = {"type": "shell_command", "entrypoint": "true", "args": {"argv": []}}
    stated = {"network": ["a.example"]} if name == "stated" else {}
    ondisk.write_tool(
        tmp_path / f".vespe/tools/tool-{name}", name, implementation=program, permissions=stated
    )
    # what the machine offers is known now
    assert ondisk.vespe("tool", "run", name, cwd=tmp_path).returncode == 0
    done = subprocess.run(
        [sys.executable, "-c", FORKS, name],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout.splitlines()[-1] == f"0 {threads}"
