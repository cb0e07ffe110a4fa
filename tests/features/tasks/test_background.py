"""`vespe tool run --background`: a call that outlives its command."""

import json
import time
from pathlib import Path
from typing import Any

from tests.support.ondisk import PATIENCE_S, python_tool, vespe
from vespe.calls.path import open_path
from vespe.features.tasks import background
from vespe.processes import detached
from vespe.projects.workspace import open_workspace

SLOW = "import time, pathlib\npathlib.Path(inputs['mark']).write_text('begun')\ntime.sleep(inputs['s'])\nreturn inputs['mark']"


def slow(project: Path) -> Path:
    directory = python_tool(project / ".vespe/tools/tool-slow", "slow", SLOW)
    config = directory / "config.json"
    document = json.loads(config.read_text(encoding="utf-8"))
    properties = {"mark": {"type": "string"}, "s": {"type": "number"}}
    document["schema"] = {"input": {"type": "object", "properties": properties}}
    config.write_text(json.dumps(document), encoding="utf-8")
    return project


def start(project: Path, **inputs: Any) -> str:
    done = vespe(
        *("tool", "run", "slow", "--background", "--json", "--args", json.dumps(inputs)),
        cwd=project,
    )
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["task"])


def test_it_prints_an_id_at_once_and_the_result_is_there_later(project: Path) -> None:
    task = start(slow(project), mark=str(project / "mark"), s=1)
    assert task in vespe("task", "list", cwd=project).stdout
    shown = vespe("task", "show", task, "--wait", "--json", cwd=project)
    document = json.loads(shown.stdout)
    assert shown.returncode == 0 and document["status"] == "completed"
    assert document["outcome"]["result"] == str(project / "mark")
    logged = json.loads(vespe("log", "--json", cwd=project).stdout)["calls"]
    assert [call["tool"] for call in logged] == ["slow"]


def test_a_task_that_is_cancelled_leaves_no_process(project: Path) -> None:
    mark = project / "mark"
    task = start(slow(project), mark=str(mark), s=600)
    until = time.monotonic() + PATIENCE_S
    while not mark.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    done = vespe("task", "cancel", task, cwd=project)
    assert done.returncode == 0 and "cancelled" in done.stdout + done.stderr
    again = vespe("task", "cancel", task, cwd=project)
    assert again.returncode == 0 and "cancelled" in again.stdout + again.stderr
    assert vespe("task", "show", task, cwd=project).returncode == 1


def test_p83_a_call_that_was_not_allowed_to_begin_is_not_told_as_interrupted(project: Path) -> None:
    slow(project)
    tool = open_path(open_workspace(str(project))).tool("slow")
    assert vespe("untrust", cwd=project).returncode == 0
    done = vespe("tool", "run", "slow", "--background", "s=0", cwd=project)
    assert done.returncode == 6 and "is not trusted, so nothing in it runs" in done.stderr
    assert json.loads(vespe("task", "list", "--json", cwd=project).stdout)["tasks"] == []
    # Another process withdraws the approval just after it was looked at.
    options = {"timeout_s": None, "log_arguments": False}
    inputs = {"mark": str(project / "mark"), "s": 0}
    task = background.start(tool, inputs, project=str(project), trusted=False, options=options)
    shown = vespe("task", "show", task, "--wait", "--json", cwd=project)
    document = json.loads(shown.stdout)
    assert document["status"] == "completed" and not (project / "mark").exists()
    assert document["outcome"]["error"]["code"] == "not_trusted"
    for runner in detached._STARTED:  # it was started in this process, which waits for it
        runner.wait(PATIENCE_S)


def test_what_cannot_run_is_told_at_once_and_leaves_no_task(project: Path, tmp_path: Path) -> None:
    slow(project)
    for words, code in (
        (("slow", "s=x"), 5),
        (("nope",), 3),
        (("slow", "--save-example"), 2),
    ):
        assert vespe("tool", "run", *words, "--background", cwd=project).returncode == code
    listed = json.loads(vespe("task", "list", "--json", cwd=project).stdout)
    assert listed == {"tasks": [], "has_more": False}
    task = start(project, mark=str(project / "mark"), s=0)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert vespe("init", cwd=elsewhere).returncode == 0
    foreign = vespe("task", "show", task, cwd=elsewhere)
    assert foreign.returncode == 3 and "there is no task" in foreign.stderr
