"""Stores of secrets and what goes wrong with them: whatever happens, the secret stands in nothing
that a call gives back or writes, and no tool has it that does not declare it.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.keyrings import use_a_keyring
from tests.support.ondisk import python_tool
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.features.secrets import keyrings
from vespe.models import Call, Outcome
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace

SECRET = "hunter2-in-every-store"
ECHO = """
import os, sys
print(os.environ["TOKEN"])
print(os.environ["TOKEN"], file=sys.stderr)
if inputs["fail"]:
    raise ValueError(os.environ["TOKEN"])
return {os.environ["TOKEN"]: [os.environ["TOKEN"]]}
"""
SPY = """
found = []
for name in ("self", str(__import__("os").getppid())):
    for file in ("environ", "cmdline"):
        try:
            with open(f"/proc/{name}/{file}", "rb") as opened:
                found.append(opened.read().decode("utf-8", "replace"))
        except OSError:
            pass
return found
"""


@pytest.fixture
def path(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> CallPath:
    use_a_keyring(home, monkeypatch)
    monkeypatch.setattr(keyrings, "TIMEOUT_S", 3.0)
    schema = {"type": "object", "properties": {"fail": {}, "said": {}}}
    tools = project / ".vespe/tools"
    python_tool(tools / "tool-e", "echo", ECHO, secrets=["TOKEN"], schema=schema)
    python_tool(tools / "tool-s", "spy", SPY)
    return CallPath(workspace=open_workspace(project), registry=ToolRegistry(), keep_arguments=True)


def store(name: str, fault: str, home: Path) -> Any:
    """Make a store that has the secret, with one fault, and return what refers to it."""
    file = home / f"kept-{name}-{fault}"
    huge = SECRET * 10_000
    if name == "file":
        if fault != "missing":
            file.touch(0o600)
            file.write_text(huge if fault == "huge" else SECRET, encoding="utf-8")
            file.chmod(0o644 if fault == "wrong mode" else 0o600)
        return {"ref": f"file:{file}"}
    if name == "keyring":
        # An entry for each fault: this process keeps what it has fetched.
        entry = f"vespe/{fault}"
        entries: dict[str, str] = {} if fault == "missing" else {entry: SECRET}
        entries |= {entry: huge} if fault == "huge" else {}
        entries |= {"fault": fault} if fault in ("locked", "slow", "killed") else {}
        (home / "keyring/entries.json").write_text(json.dumps(entries), encoding="utf-8")
        return {"ref": f"keyring:{entry}"}
    wrong = {
        "missing": "exit 1",
        "locked": f"echo {SECRET}; echo 'Password for {SECRET}:' >&2; read answer && exit; exit 2",
        "slow": f"echo {SECRET}; exec sleep 60",
        "huge": f"for i in $(seq 4000); do echo {SECRET}; done",
        "killed": f"echo {SECRET}; kill -9 $$",
        "there": f"echo {SECRET}",
    }
    return {"command": ["sh", "-c", wrong[fault]], "timeout_s": 3}


CASES = [
    *(("file", fault) for fault in ("there", "missing", "huge", "wrong mode")),
    *(
        (name, fault)
        for name in ("keyring", "command")
        for fault in ("there", "missing", "locked", "slow", "huge", "killed")
    ),
]


@pytest.mark.parametrize(("name", "fault"), CASES)
def test_p80_a_secret_stands_in_nothing_that_a_call_gives_back_or_writes(
    path: CallPath, project: Path, home: Path, name: str, fault: str
) -> None:
    user_config.set_value("secrets.TOKEN", store(name, fault, home))
    kept = {str(file) for file in home.rglob("*") if file.is_file()}
    outcomes: list[Outcome] = [
        path.run(Call(tool="echo", arguments={"fail": fail, "said": "x"}))
        for fail in ((False, True) if fault == "there" else (False,))
    ]
    outcomes.append(path.run(Call(tool="spy", arguments={})))
    codes = [outcome.error.code if outcome.error else "ok" for outcome in outcomes]
    expected = ["ok", "tool_error"] if fault == "there" else ["secret_unavailable"]
    assert codes == [*expected, "ok"]
    written = b"".join(
        file.read_bytes()
        for directory in (home, project)
        for file in directory.rglob("*")
        if file.is_file() and str(file) not in kept
    )
    assert b"secret_unavailable" in written or fault == "there"
    text = json.dumps([outcome.to_dict() for outcome in outcomes])
    assert SECRET not in text and SECRET.encode() not in written
    assert SECRET not in " ".join(os.environ.values())
