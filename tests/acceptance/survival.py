"""What a server that lives makes of tools that try to end, starve or contaminate it.

Each program of `tests/cases/hostile_programs.json` is a tool that is called again and again, over
stdio and over HTTP. After each call two honest tools are called, one of Python and one of a shell:
they answer what they answered before, which is the state of a process that nobody has touched. At
the end the judge looks from outside: the server is the process that it was, with the limits, the
priority and the descriptors that it had; so is a process beside it; nothing that a program started
is left, and no file of Vespe has changed.
"""

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.http_serving import serving
from tests.support.ondisk import python_tool, vespe, write_tool
from tests.support.stdio_client import served, tool_processes
from vespe.calls.sandboxing import machine
from vespe.features.mcp.server import revisions

PROGRAMS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "cases/hostile_programs.json").read_text(encoding="utf-8")
)
MARK = f"7{os.getpid()}"
"""Stands in the command line of what a program leaves."""
_BEGIN = """
import json, os, resource, signal, sys, threading, time
def attempt(function, *arguments):
    try:
        function(*arguments)
    except OSError:
        pass
"""
_STATE = """
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines())
return json.dumps({
    "limits": [resource.getrlimit(n) for n in range(16)],
    "priority": [os.getpriority(0, 0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0))],
    "signals": [status[name] for name in ("SigPnd", "ShdPnd", "SigBlk", "SigIgn", "Umask", "Threads")],
    "timers": [signal.getitimer(n) for n in range(3)],
    "environment": {name: value for name, value in sorted(os.environ.items()) if name != "TMPDIR"},
    "files": [os.getcwd(), os.listdir(os.environ["TMPDIR"]), [n for n in os.listdir("/tmp") if not n.startswith(".vespe-")], os.listdir("/dev/shm")],
    "descriptors": len(os.listdir("/proc/self/fd")), "processes": len([p for p in os.listdir("/proc") if p.isdigit()]),
    "killed first": open("/proc/self/oom_score_adj").read(),
    "python": [len("four"), sys.path, sorted(m for m in sys.modules if "EVIL" in m)],
})
"""
_ENDS_S = 10.0
_MOST_CALLS = 200
"""What a server has to survive, and what takes minutes at each door."""
_XDG = ("CONFIG", "DATA", "STATE", "CACHE")


@dataclass
class Found:
    """What was tried, and what was not as it was before it."""

    programs: int = 0
    calls: int = 0
    honest: int = 0
    faults: list[str] = field(default_factory=list)
    user: int = field(default_factory=os.getuid)


Ask = Callable[[str], Any]
"""Calls a tool of a server; gives the result of MCP, or an error."""


def stocked(project: Path, programs: list[dict[str, Any]]) -> None:
    """Put the programs into a project as tools, and the honest two."""
    for one in programs:
        directory = project / ".vespe/tools" / f"tool-{one['name']}"
        more = {key: one[key] for key in ("limits", "permissions") if key in one}
        if "python" in one:
            body = "\n".join(one["python"]).replace("MARK", MARK)
            written = python_tool(directory, one["name"], body, **more)
            script = written / "main.py"
            script.write_text(_BEGIN + script.read_text("utf-8"), encoding="utf-8")
            continue
        argv = ["-c", one["shell"].replace("MARK", MARK)]
        shell = {"type": "shell_command", "entrypoint": "sh", "args": {"argv": argv}}
        write_tool(directory, one["name"], implementation=shell, **more)
    script = python_tool(project / ".vespe/tools/tool-honest", "honest", _STATE) / "main.py"
    script.write_text(_BEGIN + script.read_text("utf-8"), encoding="utf-8")
    count = "cat kept; umask; ulimit -a; nice; env | sort | grep -v TMPDIR; ls $TMPDIR"
    shell = {"type": "shell_command", "entrypoint": "sh", "args": {"argv": ["-c", count]}}
    write_tool(project / ".vespe/tools/tool-counts", "counts", implementation=shell)
    (project / "kept").write_text("what the project has\n", encoding="utf-8")


_KEPT_FILES = 3


def tried(ask: Ask, pid: int, programs: list[dict[str, Any]], rounds: int, found: Found) -> None:
    """Call each program so many times, `_MOST_CALLS` in all; `pid` is the server's."""
    before = {name: ask(name) for name in ("honest", "counts")}
    ask("honest")
    outside, files = _process(pid), _open_files(pid)
    found.faults += [
        f"{name} failed before anything was tried: {said}"
        for name, said in before.items()
        if said.get("isError", True)
    ]
    for number in range(min(rounds * len(programs), _MOST_CALLS)):
        one = programs[number % len(programs)]
        if "a bug in Vespe" in json.dumps(ask(one["name"])):
            found.faults.append(f"{one['name']} is told as a bug in Vespe")
        found.calls += 1
        for name, expected in before.items():
            found.honest += 1
            if (said := ask(name)) != expected:
                found.faults.append(f"{name} after {one['name']}: {_differs(expected, said)}")
    until = time.monotonic() + _ENDS_S
    while (left := tool_processes(MARK)) and time.monotonic() < until:
        time.sleep(0.05)
    found.faults += [f"a process was left: {pid}" for pid in left]
    if (now := _process(pid)) != outside:
        found.faults.append(f"the server is not as it was: {outside} {now}")
    # of each tool, some are kept for its next call; however often it is called, they are no more
    if (more := _open_files(pid) - files) > _KEPT_FILES * (len(programs) + len(before)):
        found.faults.append(f"the server has {more} open files more")


def _process(pid: int) -> list[str]:
    """What a process is, seen from outside: its start, limits, priority and processors."""
    place = Path("/proc") / str(pid)
    try:
        fields = place.joinpath("stat").read_text("utf-8").rpartition(")")[2].split()
        limits = place.joinpath("limits").read_text("utf-8")
        score = place.joinpath("oom_score_adj").read_text("utf-8")
    except OSError:
        return ["gone"]
    told = [fields[19], fields[16], str(sorted(os.sched_getaffinity(pid))), limits, score]
    return [*told, "stopped" if fields[0] in "TZ" else "runs"]


def _open_files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _differs(expected: Any, said: Any) -> str:
    texts = [json.dumps(one, sort_keys=True) for one in (expected, said)]
    at = next((n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), 0)
    return " / ".join(text[max(0, at - 60) : at + 140] for text in texts)


@contextlib.contextmanager
def over_stdio(project: Path) -> Iterator[tuple[Ask, int]]:
    """Serve a project to one client."""
    with served(project, signalled=True) as client:
        client.hello()

        def ask(name: str) -> Any:
            answer = client.answer("tools/call", {"name": name, "arguments": {}})
            return answer.get("result", {"isError": True, **answer})

        yield ask, client.process.pid


def _body(answer: bytes) -> bytes:
    """The body of an answer, which may have come in chunks."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return rest
    body = b""
    while size := int((line := rest.partition(b"\r\n"))[0] or b"0", 16):
        body, rest = body + line[2][:size], line[2][size + 2 :]
    return body


@contextlib.contextmanager
def over_http(project: Path) -> Iterator[tuple[Ask, int]]:
    """Serve a project on a port, and ask each time anew."""
    meta = {revisions.REVISION_KEY: revisions.NEWEST, revisions.CAPABILITIES_KEY: {}}
    with serving(project) as server:

        def ask(name: str) -> Any:
            params = {"name": name, "arguments": {}, "_meta": meta}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            headers = {"Mcp_Method": "tools/call", "Mcp_Name": name}
            headers["MCP_Protocol_Version"] = revisions.NEWEST
            status, answer = server.post(json.dumps(body), **headers)
            told = _body(answer)
            if b"content-type: text/event-stream" in answer.partition(b"\r\n\r\n")[0].lower():
                told = told.rpartition(b"data: ")[2].partition(b"\n")[0]
            said = json.loads(told or b"{}")
            return said.get("result", {"isError": True, "status": status, **said})

        yield ask, server.process.pid


DOORS = {"stdio": over_stdio, "http": over_http}


def measured(project: Path, programs: list[dict[str, Any]], rounds: int, door: str) -> Found:
    """Try the programs on a server of a project that has nothing else."""
    found = Found(programs=len(programs))
    stocked(project, programs)
    before = _digests(project / ".vespe")
    with subprocess.Popen(["sleep", "3600"]) as beside:
        try:
            victim = _process(beside.pid), _open_files(beside.pid)
            with DOORS[door](project) as (ask, pid):
                tried(ask, pid, programs, rounds, found)
            if (now := (_process(beside.pid), _open_files(beside.pid))) != victim:
                found.faults.append(f"a process beside the server is not as it was: {now}")
        finally:
            beside.kill()
    if _digests(project / ".vespe") != before:
        found.faults.append("a file of the project's .vespe has changed")
    return found


def _digests(directory: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def is_safe_here() -> bool:
    """Whether this machine keeps a tool's processes apart: without that, a program that kills all
    would end what it was started from.
    """
    found = machine()
    return found.level == "namespaces" and found.processes == 0


def _python_for(user: list[str], place: Path) -> str:
    """Return a Python that the user can run: this one, else the system's own of the same version,
    with this one's packages.
    """
    own = sys.executable
    if not subprocess.run(
        [*user, own, "-c", ""], check=False, stderr=subprocess.DEVNULL
    ).returncode:
        return own
    version = f"python3.{sys.version_info.minor}"
    made = place / "python"
    system = [*user, f"/usr/bin/{version}", "-m", "venv", "--without-pip", str(made)]
    subprocess.run(system, check=False)
    ours = (str(Path(__file__).parents[2]), *(path for path in sys.path if "site-packages" in path))
    packages = made / "lib" / version / "site-packages"
    packages.joinpath("vespe.pth").write_text("\n".join(ours) + "\n", encoding="utf-8")
    return str(made / "bin/python")


@contextlib.contextmanager
def _as_another(rounds: int, doors: tuple[str, ...]) -> Iterator[Callable[[], Any]]:
    """Try the same as an ordinary user, whom root becomes; gives what tells what that found."""
    # What setpriv itself starts is still found with the rights of root.
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    user += ["sh", "-c", 'exec "$@"', "sh"]
    words = ["-m", "tests.acceptance.survival", "--json", "--rounds", str(rounds)]
    words += ["--door", *doors] if len(doors) == 1 else []
    with tempfile.TemporaryDirectory(prefix="vespe-survival-") as place:
        os.chown(place, 65534, 65534)
        user.append(_python_for(user, Path(place)))
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        with subprocess.Popen(
            [*user, *words],
            env=kept | {"HOME": place, "TMPDIR": place},
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as child:
            yield lambda: _said_by(child)


def _said_by(child: "subprocess.Popen[str]") -> Any:
    told = child.communicate()[0]
    try:
        return json.loads(told)
    except ValueError:
        return f"it ended with {child.returncode} and said nothing"


def main() -> int:
    """Try all programs over all doors, as this user and, where it is root, as an ordinary one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=4, help="calls of each program at each door")
    parser.add_argument("--door", choices=DOORS, help="one door alone")
    asked = parser.parse_args()
    doors = (asked.door,) if asked.door else tuple(DOORS)
    if not is_safe_here():
        sys.stderr.write("this machine does not keep the processes of tools apart: not tried\n")
        return 1
    if os.getuid() == 0 and shutil.which("setpriv"):
        with _as_another(asked.rounds, doors) as another:
            said = {"root": _over(doors, asked.rounds), "an ordinary user": another()}
    else:
        said = {"this user": _over(doors, asked.rounds)}
    sys.stdout.write(json.dumps(said) + "\n" if asked.json else f"{said}\n")
    return int(not all(isinstance(one, dict) and _is_clean(one) for one in said.values()))


def _is_clean(said: dict[str, Any]) -> bool:
    """Whether nothing was found, by this user or by the one beside."""
    if "faults" in said:
        return not said["faults"]
    return bool(said) and all(isinstance(one, dict) and _is_clean(one) for one in said.values())


def _over(doors: tuple[str, ...], rounds: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for door in doors:
        with tempfile.TemporaryDirectory(prefix="vespe-survival-") as place:
            os.environ |= {"HOME": place, **{f"XDG_{n}_HOME": f"{place}/{n}" for n in _XDG}}
            project = Path(place).resolve() / "project"
            project.mkdir()
            vespe("init", cwd=project)
            found[door] = vars(measured(project, PROGRAMS, rounds, door))
    return found


if __name__ == "__main__":
    sys.exit(main())
