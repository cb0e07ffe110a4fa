"""The one call path: every failure is an outcome, every output is checked, bounded and free of
secrets.
"""

import asyncio
import base64
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import urllib.parse
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import (
    PATIENCE_S,
    interruptible,
    python_tool,
    vespe,
    write_kit,
    write_tool,
)
from tests.support.pids import outside
from tests.support.systems import NO_LANDLOCK, refusing
from vespe.calls import log
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.errors import InvalidTool, NotTrusted, ToolNotFound, UsageError
from vespe.models import Call, Outcome
from vespe.projects import user_config
from vespe.projects.project import read_config
from vespe.projects.workspace import open_workspace
from vespe.trust import review

ECHO = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 1}},
}


def tools(project: Path) -> Path:
    return project / ".vespe/tools"


def call(project: Path, name: str, arguments: Any = None, **fields: Any) -> Outcome:
    path = CallPath(
        workspace=open_workspace(project), registry=fields.pop("registry", ToolRegistry())
    )
    return path.run(Call(tool=name, arguments={} if arguments is None else arguments, **fields))


def code_of(outcome: Outcome) -> str:
    assert outcome.error is not None, outcome.result
    return outcome.error.code


def test_p18_all_violations_are_told_at_once(project: Path) -> None:
    python_tool(tools(project) / "tool-e", "e", "return 1", schema=ECHO | {"required": ["text"]})
    error = call(project, "e", {"times": "x", "more": 1}).error
    assert error is not None and error.retryable
    assert all(word in error.message for word in ("text", "times", "more"))
    assert {v["pointer"] for v in error.details["violations"]} >= {"/times"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("raise ValueError('no')", "tool_error"),
        ("import sys\nsys.exit(3)", "tool_error"),
        ("import os\nos.kill(os.getpid(), 9)", "tool_error"),
        ("return float('nan')", "invalid_output"),
        ("return object()", "invalid_output"),
        ("print('x' * 50_000_000)\nreturn 'x' * 20_000_000", "output_too_large"),
        ("import time\ntime.sleep(60)", "timed_out"),
    ],
)
def test_p19_every_failure_of_a_tool_is_a_structured_result(
    project: Path, body: str, code: str
) -> None:
    python_tool(
        tools(project) / "tool-bad",
        "bad",
        body,
        limits={"timeout_s": 2 if code == "timed_out" else 60},
    )
    assert code_of(call(project, "bad")) == code


def test_a_tool_without_an_implementation_says_so(project: Path) -> None:
    write_tool(tools(project) / "tool-i", "i")
    with pytest.raises(LookupError, match="nothing implements"):
        call(project, "i")


def test_p33_a_tool_sees_the_allow_list_and_its_declared_secrets_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "OPENAI_API_KEY",
        "LD_PRELOAD_X",
        "PYTHONPATH",
        "GIT_DIR",
        "TOKEN",
        "LC_ALL",
        "BASH_FUNC_x%%",
    ):
        monkeypatch.setenv(name, "C" if name == "LC_ALL" else "set")
    implementation = {
        "type": "shell_command",
        "entrypoint": "env",
        "args": {"argv": [], "output": "lines"},
    }
    write_tool(tools(project) / "tool-env", "env", implementation=implementation, secrets=["TOKEN"])
    names = {line.partition("=")[0] for line in call(project, "env").result}
    assert (
        names
        <= {
            "PATH",
            "HOME",
            "LANG",
            "TERM",
            "USER",
            "TMPDIR",
            "TZ",
            "TOKEN",
            "LC_ALL",
            "LC_CTYPE",
            "VESPE_ASK_FD",
        }
        and {"TOKEN", "LC_ALL"} <= names
    )


def test_a_missing_secret_stops_the_call_before_it_starts(project: Path) -> None:
    marker = project / "ran"
    python_tool(
        tools(project) / "tool-k",
        "k",
        f"open({str(marker)!r}, 'w').close()",
        secrets=["NO_SUCH_KEY"],
    )
    outcome = call(project, "k")
    assert code_of(outcome) == "missing_secret" and not marker.exists()


def test_a_missing_secret_is_named_with_what_it_is_for(project: Path) -> None:
    item = {
        "name": "NO_SUCH_KEY",
        "description": "a token with repo scope",
        "docs_url": "https://github.com/settings/tokens",
    }
    python_tool(tools(project) / "tool-k", "k", "return 1", secrets=[item])
    error = call(project, "k").error
    assert error is not None and error.hint is not None
    assert "NO_SUCH_KEY (a token with repo scope)" in error.message
    assert error.hint.startswith(
        "make one at https://github.com/settings/tokens; "
        "then store it with `vespe secret set NO_SUCH_KEY`, or "
    )


def test_p36_secrets_never_appear_in_results_logs_errors_or_the_log(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cr3t/value+1"
    monkeypatch.setenv("TOKEN", secret)
    body = (
        "import os, base64, urllib.parse\ns = os.environ['TOKEN']\nprint('printed', s)\n"
        "if inputs.get('fail'):\n    raise ValueError('bad ' + s)\n"
        "return [s, base64.b64encode(s.encode()).decode(), urllib.parse.quote(s, safe=''), "
        "s.encode().hex(), {s: 1}]"
    )
    schema = {"type": "object", "additionalProperties": True}
    python_tool(tools(project) / "tool-t", "t", body, secrets=["TOKEN"], schema=schema)
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry(), keep_arguments=True)
    seen = [
        path.run(Call(tool="t", arguments={"fail": fail, "text": secret})).to_dict()
        for fail in (False, True)
    ]
    written = "".join(
        p.read_text(encoding="utf-8", errors="replace")
        for p in (home / "state").rglob("*")
        if p.is_file()
    )
    text = json.dumps(seen) + written
    for form in (
        secret,
        base64.b64encode(secret.encode()).decode(),
        urllib.parse.quote(secret, safe=""),
        secret.encode().hex(),
    ):
        assert form not in text
    assert "***" in json.dumps(seen[0]["result"]) and "***" in seen[1]["error"]["message"]


def test_a_secret_may_come_from_the_users_own_configuration(project: Path) -> None:
    user_config.set_value("secrets.TOKEN", "abcdefgh")
    python_tool(
        tools(project) / "tool-t",
        "t",
        "import os\nreturn len(os.environ['TOKEN'])",
        secrets=["TOKEN"],
    )
    assert call(project, "t").result == 8


def test_p80_a_fetched_secret_reaches_the_tool_and_nothing_that_is_written(
    project: Path, home: Path
) -> None:
    secret = "fetched-s3cr3t"
    user_config.set_value("secrets.TOKEN", {"command": ["printf", secret]})
    body = "import os\nprint(os.environ['TOKEN'])\nif inputs.get('fail'):\n    raise ValueError(os.environ['TOKEN'])\nreturn os.environ['TOKEN']"
    schema = {"type": "object", "additionalProperties": True}
    python_tool(tools(project) / "tool-t", "t", body, secrets=["TOKEN"], schema=schema)
    python_tool(tools(project) / "tool-u", "u", "import os\nreturn sorted(os.environ.items())")
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry(), keep_arguments=True)
    seen = [
        path.run(Call(tool=name, arguments={"fail": fail, "text": secret} if name == "t" else {}))
        for name, fail in (("t", False), ("t", True), ("u", False))
    ]
    assert [outcome.ok for outcome in seen] == [True, False, True]
    assert "***" in json.dumps(seen[0].to_dict()) and "***" in str(seen[1].error)
    written = "".join(
        p.read_text(encoding="utf-8", errors="replace")
        for directory in (home, project)
        for p in directory.rglob("*")
        if p.is_file() and p.name != "config.json"
    )
    assert secret not in json.dumps([outcome.to_dict() for outcome in seen]) + written


def test_a_reference_that_leads_nowhere_stops_the_call_and_only_when_it_is_come_to(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_config.set_value("secrets.TOKEN", {"ref": "file:/not/there"})
    python_tool(tools(project) / "tool-t", "t", "return 1", secrets=["TOKEN"])
    assert code_of(call(project, "t")) == "secret_unavailable"
    assert code_of(call(project, "t", {"wrong": 1})) == "invalid_arguments"
    monkeypatch.setenv("TOKEN", "the environment comes first")
    assert call(project, "t").result == 1


def test_the_loop_of_an_async_caller_goes_on_while_a_secret_is_fetched(project: Path) -> None:
    began = project / "began"
    script = f"touch {began}; exec sleep 60"
    user_config.set_value("secrets.TOKEN", {"command": ["sh", "-c", script]})
    write_tool(tools(project) / "tool-t", "t", secrets=["TOKEN"])
    registry = ToolRegistry()

    async def answer() -> int:
        return 1

    registry.register(answer, name="t")
    path = CallPath(workspace=open_workspace(project), registry=registry)

    async def cancelled() -> bool:
        task = asyncio.ensure_future(path.acall(Call(tool="t", arguments={})))
        while not began.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancelled())


def test_a_sandbox_that_the_user_requires_is_never_silently_left_out(project: Path) -> None:
    python_tool(tools(project) / "tool-t", "t", "return 1")
    run = refusing(NO_LANDLOCK, sys.executable, "-m", "vespe", "tool", "run", "t", "--json")

    def outcome(setting: str) -> Any:
        user_config.set_value("sandbox", setting)
        return json.loads(
            subprocess.run(run, cwd=project, stdout=subprocess.PIPE, check=False).stdout
        )

    assert outcome("require")["error"]["code"] == "refused"
    assert outcome("auto")["sandbox"]["level"] == "off"


def cloned(project: Path, tmp_path: Path) -> Path:
    shutil.copytree(project, tmp_path / "clone", symlinks=True)
    return tmp_path / "clone"


def test_p1_an_untrusted_project_runs_neither_its_own_tools_nor_a_kits(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "out/ran"
    marker.parent.mkdir()
    kit = write_kit(tmp_path / "kits", "alpha")
    for directory in (tools(project) / "tool-own", kit / "tool-kit"):
        python_tool(
            directory,
            directory.name[5:],
            f"open({str(marker)!r}, 'w').close()",
            permissions={"write": [str(marker.parent)]},
        )
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    (project / ".vespe/config.json").write_text(
        json.dumps({"active_kits": ["alpha"]}), encoding="utf-8"
    )
    clone = cloned(project, tmp_path)
    for name in ("own", "kit"):
        with pytest.raises(NotTrusted):
            call(clone, name)
        assert not marker.exists()
        assert call(project, name).ok and marker.exists()
        marker.unlink()


@pytest.mark.parametrize(
    "argv", [["{}/run.sh"], ["./{}/run.sh"], ["{}//run.sh"], ["-c", ". {}/run.sh"], [["{}/run.sh"]]]
)
def test_p4_a_program_that_is_given_a_file_of_the_tool_is_given_the_approved_one(
    project: Path, tmp_path: Path, argv: list[Any]
) -> None:
    filled = json.loads(json.dumps(argv).replace("{}", ".vespe/tools/tool-own"))
    implementation = {
        "type": "shell_command",
        "entrypoint": "sh",
        "args": {"argv": filled, "output": "lines"},
    }
    script = 'echo "approved by $0"\n'
    write_tool(
        tools(project) / "tool-own", "own", implementation=implementation, files={"run.sh": script}
    )
    clone = cloned(project, tmp_path)
    review.approve(review.review(read_config(clone)))
    (clone / "data").write_text("of the project\n", encoding="utf-8")
    (line,) = call(clone, "own").result
    assert (
        line.startswith("approved by ")
        and str(clone) not in line
        and (argv[0] == "-c" or not line.startswith("approved by .vespe"))
    )


def test_p4_the_approved_bytes_run_even_while_the_files_change(
    project: Path, tmp_path: Path
) -> None:
    tool = python_tool(tools(project) / "tool-own", "own", "return 'approved'")
    clone = cloned(project, tmp_path)
    review.approve(review.review(read_config(clone)))
    script, stop = clone / ".vespe/tools/tool-own/main.py", threading.Event()
    approved, evil = (tool / "main.py").read_bytes(), b"def own(**inputs): return 'evil'\n"

    def swap() -> None:
        while not stop.is_set():
            for content in (evil, approved):
                aside = script.with_suffix(".aside")
                aside.write_bytes(content)
                os.replace(aside, script)

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(30):
            try:
                seen.add(call(clone, "own").result)
            except NotTrusted:
                seen.add("refused")
    finally:
        stop.set()
        thread.join()
    assert "evil" not in seen and seen <= {"approved", "refused"}


def test_p4_the_config_that_runs_is_the_approved_one(project: Path, tmp_path: Path) -> None:
    python_tool(tools(project) / "tool-own", "own", "return 'approved'")
    clone = cloned(project, tmp_path)
    review.approve(review.review(read_config(clone)))
    path = CallPath(workspace=open_workspace(clone), registry=ToolRegistry())
    tool = path.workspace.tool("own")
    config = clone / ".vespe/tools/tool-own/config.json"
    config.write_text(
        config.read_text(encoding="utf-8").replace('"own"', '"evil"', 1), encoding="utf-8"
    )
    with pytest.raises(NotTrusted, match=r"config\.json"):
        path.run_tool(tool, Call(tool="own"))


def test_p4_a_tool_that_was_decided_on_by_other_bytes_than_the_approved_ones_does_not_run(
    project: Path, tmp_path: Path
) -> None:
    python_tool(tools(project) / "tool-own", "own", "return 'approved'")
    clone = cloned(project, tmp_path)
    review.approve(review.review(read_config(clone)))
    path = CallPath(workspace=open_workspace(clone), registry=ToolRegistry())
    true, config = path.workspace.tool("own"), clone / ".vespe/tools/tool-own/config.json"
    approved = config.read_bytes()
    config.write_bytes(
        json.dumps(json.loads(approved) | {"annotations": {"readOnlyHint": True}}).encode()
    )
    forged = path.workspace.tool("own")
    config.write_bytes(approved)
    with pytest.raises(NotTrusted, match="changed after the call was approved"):
        path.run_tool(forged, Call(tool="own"))
    assert path.run_tool(true, Call(tool="own")).result == "approved"


def test_where_there_is_no_call_to_make_it_is_raised(project: Path) -> None:
    with pytest.raises(ToolNotFound):
        call(project, "nothing")
    (tools(project) / "tool-broken").mkdir()
    (tools(project) / "tool-broken/config.json").write_text('{"name": "broken"}', encoding="utf-8")
    with pytest.raises(InvalidTool):
        call(project, "broken")


def test_a_plan_shows_argv_and_runs_nothing(project: Path) -> None:
    implementation = {
        "type": "shell_command",
        "entrypoint": "touch",
        "args": {"argv": ["--", "{text}"]},
    }
    write_tool(tools(project) / "tool-t", "t", implementation=implementation, schema=ECHO)
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    plan = path.plan(path.workspace.tool("t"), Call(tool="t", arguments={"text": "made"}))
    assert plan["argv"] == ["touch", "--", "made"] and not (project / "made").exists()
    write_tool(tools(project) / "tool-i", "i")
    assert path.plan(path.workspace.tool("i"), Call(tool="i"))["type"] == "in_process"


def test_p47_a_disk_that_keeps_no_log_loses_the_line_and_not_the_answer(
    project: Path, home: Path
) -> None:
    python_tool(tools(project) / "tool-t", "t", "return 1")
    (home / "state/vespe/log").mkdir(parents=True, exist_ok=True)
    shutil.rmtree(home / "state/vespe/log")
    (home / "state/vespe/log").write_text("", encoding="utf-8")
    outcome = call(project, "t")
    assert outcome.result == 1 and outcome.notes


def test_p31_ctrl_c_ends_the_tool_and_its_children_and_is_130(project: Path) -> None:
    body = (
        "import os, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "said = [f'{pid} {os.readlink(\"/proc/self/ns/pid\")}' for pid in (os.getpid(), child.pid)]\n"
        f"open({str(project / 'pids')!r}, 'w').write('\\n'.join(said) + '\\n')\n"
        "time.sleep(60)"
    )
    python_tool(tools(project) / "tool-w", "w", body)
    running = subprocess.Popen(
        [sys.executable, "-m", "vespe", "tool", "run", "w", "--json"],
        cwd=project,
        stdout=subprocess.PIPE,
        env=interruptible(),
    )
    written = project / "pids"
    while not written.exists() or written.read_text(encoding="utf-8").count("\n") < 2:
        assert running.poll() is None
    pids = [outside(line) for line in written.read_text(encoding="utf-8").splitlines()]
    assert min(pids) > 1
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, out) == (130, b"")
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_p46_concurrent_activations_lose_none(project: Path, tmp_path: Path) -> None:
    kits = [f"kit{n}" for n in range(8)]
    for kit_id in kits:
        write_kit(tmp_path / "kits", kit_id)
    env = {"VESPE_KITS_PATH": str(tmp_path / "kits")}
    threads = [
        threading.Thread(
            target=vespe, args=("kit", "activate", kit_id), kwargs={"cwd": project, "env": env}
        )
        for kit_id in kits
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (
        sorted(
            json.loads((project / ".vespe/config.json").read_text(encoding="utf-8"))["active_kits"]
        )
        == kits
    )


def test_one_path_serves_calls_from_several_threads(project: Path) -> None:
    python_tool(
        tools(project) / "tool-d",
        "d",
        "return 2 * inputs['n']",
        schema={"type": "object", "properties": {"n": {"type": "integer"}}},
    )
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    results: dict[int, Any] = {}
    threads = [
        threading.Thread(
            target=lambda n=n: results.update(
                {n: path.run(Call(tool="d", arguments={"n": n})).result}
            )
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: 2 * n for n in range(8)}


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 0, -1, 1e10])
def test_what_is_no_deadline_is_a_usage_error(project: Path, seconds: float) -> None:
    python_tool(tools(project) / "tool-t", "t", "return 1")
    with pytest.raises(UsageError, match="the time limit must be"):
        call(project, "t", timeout_s=seconds)


def test_p36_a_message_that_quotes_the_arguments_quotes_no_secret(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", 'hunter"22')
    python_tool(tools(project) / "tool-t", "t", "return 1", secrets=["TOKEN"])
    outcome = call(project, "t", '{"a": "hunter"22"}')
    assert code_of(outcome) == "invalid_json" and 'hunter"22' not in json.dumps(
        outcome.to_dict(), ensure_ascii=False
    ).replace('\\"', '"')


def test_p36_a_flood_keeps_no_beginning_of_a_secret(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3cr3t-value")
    implementation = {
        "type": "shell_command",
        "entrypoint": "yes",
        "args": {"argv": ["${env:TOKEN}"]},
    }
    write_tool(tools(project) / "tool-y", "y", implementation=implementation, secrets=["TOKEN"])
    kept = call(project, "y").output_file
    assert kept is not None and b"s3c" not in Path(kept).read_bytes()


def test_p2_a_script_swapped_for_a_link_is_a_change_of_what_was_approved(
    project: Path, tmp_path: Path
) -> None:
    python_tool(tools(project) / "tool-own", "own", "return 1")
    clone = cloned(project, tmp_path)
    review.approve(review.review(read_config(clone)))
    script = clone / ".vespe/tools/tool-own/main.py"
    script.unlink()
    script.symlink_to(project / ".vespe/tools/tool-own/main.py")
    with pytest.raises(NotTrusted, match=r"main\.py"):
        call(clone, "own")


def test_an_output_that_is_refused_is_not_blamed_on_the_arguments(project: Path) -> None:
    tool = python_tool(tools(project) / "tool-o", "o", "return 'x'")
    config = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    config["schema"]["output"] = {"type": "integer"}
    (tool / "config.json").write_text(json.dumps(config), encoding="utf-8")
    error = call(project, "o").error
    assert error is not None and "the result" in error.message and "arguments" not in error.message


def test_an_interrupted_call_is_logged_with_its_duration(project: Path) -> None:
    python_tool(tools(project) / "tool-w", "w", "import time\ntime.sleep(60)")
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    assert path.run(Call(tool="w"), cancel=cancel).duration_ms > 100


async def answers() -> str:
    await asyncio.sleep(0)
    return "here"


def acall(path: CallPath, name: str) -> Outcome:
    return asyncio.run(path.acall(Call(tool=name, arguments={})))


@pytest.mark.parametrize("function", [answers, lambda: "here"])
def test_an_async_program_calls_in_process_tools_and_the_call_is_logged(
    project: Path, function: Any
) -> None:
    write_tool(tools(project) / "tool-i", "i")
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    path.registry.register(function, name="i")
    assert acall(path, "i").result == "here"
    assert [line["outcome"] for line in log.read(str(path.workspace.root))] == ["ok"]


def test_an_async_program_calls_tools_of_other_processes_and_refusals_are_as_they_are(
    project: Path,
) -> None:
    python_tool(tools(project) / "tool-t", "t", "return inputs", schema=ECHO)
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    assert acall(path, "t").result == {"times": 1}
    with pytest.raises(ToolNotFound):
        acall(path, "no-such")


def test_a_task_that_is_cancelled_ends_the_process_of_its_call(project: Path) -> None:
    marker = project / "begun"
    python_tool(
        tools(project) / "tool-s",
        "s",
        f"import time\nopen({str(marker)!r}, 'w').close()\ntime.sleep(600)",
    )
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())

    async def caller() -> None:
        running = asyncio.create_task(path.acall(Call(tool="s", arguments={}, timeout_s=600)))
        while not marker.exists():
            await asyncio.sleep(0.01)
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(caller())
    assert [line["outcome"] for line in log.read(str(path.workspace.root))] == ["interrupted"]


def test_a_cancelled_task_of_an_in_process_tool_is_logged_as_interrupted(project: Path) -> None:
    write_tool(tools(project) / "tool-i", "i")
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    path.registry.register(lambda: asyncio.sleep(600), name="i")

    async def caller() -> None:
        async with asyncio.timeout(0.1):
            await path.acall(Call(tool="i", arguments={}))

    with pytest.raises(TimeoutError):
        asyncio.run(caller())
    assert [line["outcome"] for line in log.read(str(path.workspace.root))] == ["interrupted"]


def test_a_coroutine_that_comes_after_its_task_was_cancelled_is_closed(project: Path) -> None:
    write_tool(tools(project) / "tool-i", "i")
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    made, go = [asyncio.sleep(600)], threading.Event()
    path.registry.register(lambda: made[0] if go.wait(PATIENCE_S) else None, name="i")

    async def caller() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await path.acall(Call(tool="i", arguments={}))
        go.set()
        async with asyncio.timeout(PATIENCE_S):
            while inspect.getcoroutinestate(made[0]) != inspect.CORO_CLOSED:
                await asyncio.sleep(0.01)

    asyncio.run(caller())


def test_cancel_ends_an_in_process_call_at_once(project: Path) -> None:
    write_tool(tools(project) / "tool-i", "i")
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    cancel, go = threading.Event(), threading.Event()

    def tool() -> bool:
        cancel.set()
        return go.wait(PATIENCE_S)

    path.registry.register(tool, name="i")
    assert code_of(path.run(Call(tool="i", arguments={}), cancel=cancel)) == "interrupted"
    go.set()


@pytest.mark.parametrize("asked", ["call", "tool"])
def test_a_stated_deadline_ends_an_in_process_call(project: Path, asked: str) -> None:
    write_tool(tools(project) / "tool-i", "i", limits={"timeout_s": 0.1} if asked == "tool" else {})
    registry, go = ToolRegistry(), threading.Event()
    registry.register(lambda: go.wait(PATIENCE_S), name="i")
    assert (
        code_of(call(project, "i", registry=registry, timeout_s=0.1 if asked == "call" else None))
        == "timed_out"
    )
    go.set()


def test_a_call_path_is_not_changed_but_replaced(project: Path) -> None:
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    with pytest.raises(FrozenInstanceError):
        path.trusted = True  # type: ignore[misc]  # that it cannot be set is the point
    assert replace(path, trusted=True).trusted and not path.trusted
