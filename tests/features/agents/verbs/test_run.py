"""`vespe agent run`."""

import gc
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import assert_consistent, call, results, turn_of
from tests.features.agents.providers.serving import HELLO, in_turn
from tests.features.agents.providers.serving import said as serving
from tests.support.loopback import Loopback
from tests.support.ondisk import PATIENCE_S, interruptible, python_tool, write_tool
from vespe.projects import user_config

Command = Callable[..., Any]
SLEEP = {"type": "shell_command", "entrypoint": "sleep", "args": {"argv": ["600"]}}


def script(project: Path, *turns: Any, name: str = "script.json") -> tuple[str, ...]:
    (project / name).write_text(
        json.dumps({"turns": [turn_of(turn) for turn in turns]}), encoding="utf-8"
    )
    return ("--provider", "simulated", "--script", str(project / name))


@pytest.fixture
def marking(project: Path) -> Path:
    """A tool that notes each of its runs in a file, which is given."""
    mark = project / "marks"
    python_tool(
        project / ".vespe/tools/tool-mark",
        "mark",
        f"open({str(mark)!r}, 'a').write('x')\nreturn 'marked'",
    )
    return mark


def test_the_answer_is_on_stdout_and_what_the_tools_do_on_stderr(
    command: Command, project: Path, marking: Path
) -> None:
    said = command(
        "agent", "run", "go", *script(project, [call("mark")], "The end."), "--approve", "all"
    )
    assert (said.code, said.out, marking.read_text(encoding="utf-8")) == (0, "The end.\n", "x")
    assert "-> mark {}" in said.err and "<- mark ok" in said.err and "marked" in said.err


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_json_is_the_run_and_nothing_else_is_on_stdout(
    command: Command, project: Path, marking: Path, stream: str
) -> None:
    said = command(
        "agent",
        "run",
        "go",
        *script(project, [call("mark")], "end"),
        "--approve",
        "all",
        "--json",
        stream,
    )
    assert {
        "stop_reason": "done",
        "text": "end",
        "iterations": 2,
        "open_calls": 0,
    }.items() <= said.document.items()
    assert (
        said.document["calls"][0]["content"] == "marked"
        and said.document["calls"][0]["timing"]["wait_ms"] >= 0
    )
    assert_consistent(said.document["messages"])


def test_p1_an_untrusted_project_is_6_before_anything_is_sent_read_or_written(
    command: Command, project: Path
) -> None:
    arguments = script(project, "hi")
    command("untrust")
    said = command(
        "agent", "run", "go", *arguments, "--record", "record.json", "--save", "kept.json", "--json"
    )
    assert (said.code, said.document["error"]["code"]) == (6, "not_trusted")
    assert not (project / "record.json").exists() and not (project / "kept.json").exists()


def test_without_a_terminal_ask_means_deny_and_the_model_is_told(
    command: Command, project: Path, marking: Path
) -> None:
    said = command(
        "agent",
        "run",
        "go",
        *script(
            project, [call("mark")], {"match": {"contains": "there is no one to ask"}, "text": "ok"}
        ),
    )
    assert (said.code, said.out, marking.exists()) == (0, "ok\n", False)


def test_p40c_a_model_that_calls_for_ever_ends_with_1_and_says_at_which_limit(
    command: Command, project: Path, marking: Path
) -> None:
    arguments = script(project, *[[call("mark")]] * 3, "So be it.")
    said = command(
        "agent",
        "run",
        "go",
        *arguments,
        "--approve",
        "all",
        "--max-iterations",
        "3",
        "--save",
        "kept.json",
    )
    assert (said.code, said.out, marking.read_text(encoding="utf-8")) == (
        1,
        "So be it.\n",
        "xxx",
    ) and "--max-iterations" in said.err


def test_a_provider_that_fails_is_1_and_the_conversation_is_kept(
    command: Command, project: Path
) -> None:
    said = command(
        "agent",
        "run",
        "go",
        *script(project, {"fail": {"status": 400}}),
        "--save",
        "kept.json",
        "--json",
    )
    assert (said.code, said.document["error"]["code"]) == (1, "provider_error")
    assert json.loads((project / "kept.json").read_text(encoding="utf-8"))["messages"] == [
        {"role": "user", "content": "go"}
    ]


def test_an_answer_that_is_not_whole_is_said_to_be_so(command: Command, project: Path) -> None:
    said = command(
        "agent", "run", "go", *script(project, {"text": "half", "finish_reason": "length"})
    )
    assert (said.code, said.out) == (0, "half\n") and "incomplete" in said.err


def test_time_that_is_over_is_124(command: Command, project: Path) -> None:
    said = command(
        "agent", "run", "go", *script(project, {"fail": {"stall": True}}), "--max-seconds", "0.3"
    )
    assert said.code == 124 and "--max-seconds" in said.err


def test_a_kept_conversation_is_private_in_openais_format_and_resumed_where_it_stopped(
    command: Command, project: Path, marking: Path
) -> None:
    first = command(
        "agent",
        "run",
        "go",
        *script(project, [call("mark")] * 2),
        "--approve",
        "all",
        "--max-calls",
        "1",
        "--save",
        "kept.json",
    )
    assert (
        first.code == 1
        and "--resume kept.json" in first.err
        and (project / "kept.json").stat().st_mode & 0o777 == 0o600
    )
    second = command(
        "agent", "run", *script(project, "end"), "--approve", "all", "--resume", "kept.json"
    )
    assert (second.code, second.out, marking.read_text(encoding="utf-8")) == (0, "end\n", "xx")
    kept = json.loads((project / "kept.json").read_text(encoding="utf-8"))
    assert kept["model"] == "simulated" and [message["role"] for message in kept["messages"]] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    third = command("agent", "run", "more", *script(project, "again"), "--resume", "kept.json")
    assert (
        third.out == "again\n"
        and len(json.loads((project / "kept.json").read_text(encoding="utf-8"))["messages"]) == 7
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("go",),
        ("go", "--provider", "openai", "--script", "x.json"),
        ("go", "--provider", "simulated"),
        ("--provider", "ollama", "--model", "m"),
        (" ", "--provider", "ollama", "--model", "m"),
        ("go", "--provider", "ollama"),
        ("go", "--provider", "ollama", "--model", "m", "--tools", "a", "--no-tools"),
        ("go", "--provider", "ollama", "--model", "m", "--max-iterations", "0"),
        ("go", "--provider", "ollama", "--model", "m", "--run-tools"),
        ("go", "--provider", "ollama", "--model", "m", "--replay", "r.json"),
        ("go", "--provider", "ollama", "--model", "m", "--save", "there.json"),
        (
            "go",
            "--provider",
            "ollama",
            "--model",
            "m",
            "--save",
            "new.json",
            "--resume",
            "there.json",
        ),
    ],
)
def test_what_cannot_be_meant_is_2_and_nothing_is_sent(
    command: Command, project: Path, arguments: tuple[str, ...]
) -> None:
    (project / "there.json").write_text("[]", encoding="utf-8")
    said = command("agent", "run", *arguments, "--json")
    assert (said.code, said.document["error"]["code"]) == (2, "usage"), said.err
    assert (project / "there.json").read_text(encoding="utf-8") == "[]"


@pytest.mark.parametrize(
    ("limit", "prompt"), [(("--max-calls", "1"), False), (("--max-iterations", "1"), True)]
)
def test_the_hint_of_a_run_that_was_stopped_is_a_command_that_goes_on(
    command: Command, project: Path, marking: Path, limit: tuple[str, str], prompt: bool
) -> None:
    turns = [[call("mark")] * 2, "stopped"] if prompt else [[call("mark")] * 2]
    first = command(
        "agent",
        "run",
        "go",
        *script(project, *turns),
        "--approve",
        "all",
        "--save",
        "it is kept.json",
        *limit,
    )
    hint = shlex.split(first.err.partition("hint: `")[2].partition("`")[0])
    assert (
        first.code == 1
        and hint[:3] == ["vespe", "agent", "run"]
        and "it is kept.json" in hint
        and ("go on" in hint) is prompt
    )
    script(project, "end")
    second = command(*hint[1:])
    assert (second.code, second.out) == (0, "end\n"), second.err


def test_a_conversation_goes_on_with_the_provider_and_the_model_that_it_was_had_with(
    command: Command, project: Path
) -> None:
    with Loopback(serving(HELLO)) as server:
        user_config.set_value("providers.mine", {"api": "openai", "base_url": server.url("/v1")})
        user_config.set_value("agent", {"provider": "mine", "model": "small"})
        assert command("agent", "run", "go", "--no-stream", "--save", "kept.json").out == "Hello\n"
        user_config.set_value("agent", {"provider": "openai", "model": "big"})
        assert (
            command("agent", "run", "more", "--no-stream", "--resume", "kept.json").out == "Hello\n"
        )
        assert (
            command(
                "agent", "run", "more", "--no-stream", "--resume", "kept.json", "--model", "other"
            ).out
            == "Hello\n"
        )
    assert [
        json.loads(request.partition(b"\r\n\r\n")[2])["model"] for request in server.requests
    ] == ["small", "small", "other"]


def test_a_conversation_with_responses_is_kept_with_its_items_and_goes_on_with_them(
    command: Command, project: Path, marking: Path
) -> None:
    call = {"type": "function_call", "id": "fc", "call_id": "c1", "name": "mark", "arguments": "{}"}
    thought = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gAAA"}
    text = {"type": "output_text", "text": "Done.", "annotations": []}
    told = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "content": [text],
        "status": "completed",
    }
    first, last = ({"status": "completed", "output": out} for out in ([thought, call], [told]))
    with Loopback(in_turn(serving(first), serving(last), serving(last))) as server:
        user_config.set_value(
            "providers.mine",
            {"api": "openresponses", "base_url": server.url("/v1"), "model": "small"},
        )
        asked = ("--no-stream", "--provider", "mine", "--approve", "all")
        made = command("agent", "run", "go", *asked, "--save", "kept.json")
        assert (made.code, made.out, marking.read_text(encoding="utf-8")) == (0, "Done.\n", "x")
        assert command("agent", "run", "more", *asked, "--resume", "kept.json").out == "Done.\n"
    requests = [json.loads(one.partition(b"\r\n\r\n")[2]) for one in server.requests]
    said = requests[2]["input"]
    assert [thought, call, told] == [said[1], said[2], said[4]]
    assert (said[3]["call_id"], said[5]["content"]) == ("c1", "more")
    assert requests[0]["tools"][0]["strict"] is False and requests[0]["store"] is False


@pytest.mark.parametrize("setting", [{"provider": 3}, {"model": []}])
def test_a_default_provider_that_is_no_name_is_refused(
    command: Command, project: Path, setting: Any
) -> None:
    assert command("config", "set", "agent", json.dumps(setting)).code == 2
    assert (
        command("config", "set", "agent.provider", "ollama").code == 0
        and command("config", "get", "agent.provider").out == "ollama\n"
    )


def test_a_conversation_is_had_with_the_garbage_collector_on(
    command: Command, project: Path
) -> None:
    gc.disable()
    try:
        assert command("agent", "run", "go", *script(project, "end")).code == 0 and gc.isenabled()
    finally:
        gc.enable()


def test_a_recording_is_replayed_without_running_a_tool_and_a_difference_is_told(
    command: Command, project: Path, marking: Path
) -> None:
    arguments = script(project, [call("mark")], "end")
    assert (
        command("agent", "run", "go", *arguments, "--approve", "all", "--record", "r.json").code
        == 0
    )
    assert (
        command("agent", "run", "go", "--replay", "r.json").out,
        marking.read_text(encoding="utf-8"),
    ) == ("end\n", "x")
    assert (
        command("agent", "run", "go", "--replay", "r.json", "--run-tools", "--approve", "all").out,
        marking.read_text(encoding="utf-8"),
    ) == (
        "end\n",
        "xx",
    )
    said = command("agent", "run", "stop", "--replay", "r.json", "--json")
    assert (said.code, said.document["error"]["code"]) == (
        1,
        "diverged",
    ) and "/messages/0/content" in said.document["error"]["message"]


def test_a_recording_of_a_run_that_ended_with_calls_waiting_is_replayed_to_the_same_end(
    command: Command, project: Path, marking: Path
) -> None:
    arguments = script(project, [call("mark"), call("mark")], "end")
    recorded = command(
        "agent",
        "run",
        "go",
        *arguments,
        "--approve",
        "all",
        "--max-calls",
        "1",
        "--record",
        "r.json",
        "--json",
    )
    for given in ((), ("--max-calls", "1")):
        replayed = command("agent", "run", "go", "--replay", "r.json", "--json", *given)
        assert (
            replayed.code,
            replayed.document["stop_reason"],
            replayed.document["open_calls"],
        ) == (1, "max_calls", 1)
        assert (
            replayed.document["messages"] == recorded.document["messages"]
            and marking.read_text(encoding="utf-8") == "x"
        )


def test_a_recording_that_says_no_end_ends_as_interrupted_where_calls_wait(
    command: Command, project: Path, marking: Path
) -> None:
    arguments = script(project, [call("mark"), call("mark")], "end")
    command(
        "agent",
        "run",
        "go",
        *arguments,
        "--approve",
        "all",
        "--max-calls",
        "1",
        "--record",
        "r.json",
    )
    document = json.loads((project / "r.json").read_bytes())
    assert document.pop("stop_reason") == "max_calls"
    (project / "r.json").write_text(json.dumps(document), encoding="utf-8")
    said = command("agent", "run", "go", "--replay", "r.json")
    assert said.code == 1 and "it was interrupted" in said.err and "1 call waits" in said.err


def test_a_recording_without_the_result_of_a_call_before_its_last_turn_is_not_whole(
    command: Command, project: Path, marking: Path
) -> None:
    command(
        "agent",
        "run",
        "go",
        *script(project, [call("mark")], "end"),
        "--approve",
        "all",
        "--record",
        "r.json",
    )
    document = json.loads((project / "r.json").read_bytes())
    (project / "r.json").write_text(json.dumps(document | {"outcomes": []}), encoding="utf-8")
    said = command("agent", "run", "go", "--replay", "r.json")
    assert said.code == 1 and "has no result of the call" in said.err


def test_the_model_is_shown_the_tools_that_are_named(
    command: Command, project: Path, marking: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-other", "other", "return 1")
    for given, shown in (
        (("--tools", "other"), ["other", "read_result"]),
        (("--kit", "project_tools"), ["mark", "other", "read_result"]),
        (("--no-tools",), []),
    ):
        said = command("agent", "run", "go", *script(project, "x"), "--record", "r.json", *given)
        assert said.code == 0
        request = json.loads((project / "r.json").read_text(encoding="utf-8"))["turns"][0][
            "request"
        ]
        assert [tool["function"]["name"] for tool in request.get("tools", [])] == shown
        (project / "r.json").unlink()


def test_words_and_results_cannot_steer_the_terminal(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-evil", "evil", "return 'x\\x1b[2Jy\\nfake line'")
    said = command(
        "agent",
        "run",
        "go",
        *script(project, [call("evil"), call("a\x1b[2Jb")], "end"),
        "--approve",
        "all",
    )
    assert "\x1b" not in said.err and "\\x1b[2Jy\\nfake line" in said.err


@pytest.mark.parametrize("together", [False, True])
def test_p31_sigint_while_a_tool_runs_is_130_with_nothing_left_running_and_a_conversation_to_resume(
    project: Path, together: bool
) -> None:
    annotations = {"readOnlyHint": True} if together else {}
    write_tool(
        project / ".vespe/tools/tool-sleep", "sleep", implementation=SLEEP, annotations=annotations
    )
    arguments = script(project, [call("sleep"), call("sleep")])
    argv = [
        sys.executable,
        "-m",
        "vespe",
        "agent",
        "run",
        "go",
        *arguments,
        "--approve",
        "all",
        "--save",
        "kept.json",
    ]
    with subprocess.Popen(
        argv, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=interruptible()
    ) as process:
        assert process.stderr is not None and b"-> sleep" in process.stderr.readline()
        sleeping = _sleeping(process.pid, 2 if together else 1)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 130
    assert not any(os.path.exists(f"/proc/{pid}") for pid in sleeping)
    messages = json.loads((project / "kept.json").read_text(encoding="utf-8"))["messages"]
    assert_consistent(messages)
    assert [text.partition(":")[0] for _, text in results(messages)] == ["interrupted"] * (
        2 if together else 1
    )


def _sleeping(ancestor: int, count: int) -> list[int]:
    """Wait until so many `sleep 600` run beneath a process, and give their pids."""
    for _ in range(400):
        parents = {int(p.name): p for p in Path("/proc").iterdir() if p.name.isdigit()}
        found = [
            pid
            for pid in parents
            if _command(pid).startswith("sleep\x00600") and ancestor in _ancestors(pid)
        ]
        if len(found) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError("the tool did not begin")


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _ancestors(pid: int) -> list[int]:
    found: list[int] = []
    while pid > 1:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return found
        pid = int(stat.rpartition(")")[2].split()[1])
        found.append(pid)
    return found


def test_a_session_that_was_killed_while_a_tool_ran_is_resumed_without_running_it_again(
    command: Command, project: Path, marking: Path
) -> None:
    write_tool(project / ".vespe/tools/tool-sleep", "sleep", implementation=SLEEP)
    arguments = script(project, [call("sleep"), call("mark")])
    argv = [
        sys.executable,
        "-m",
        "vespe",
        "agent",
        "run",
        "go",
        *arguments,
        "--approve",
        "all",
        "--save",
        "kept.json",
    ]
    with subprocess.Popen(
        argv, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=interruptible()
    ) as process:
        assert process.stderr is not None and b"-> sleep" in process.stderr.readline()
        process.kill()
    said = command(
        "agent",
        "run",
        *script(project, "end"),
        "--resume",
        "kept.json",
        "--approve",
        "all",
        "--json",
    ).document
    told = [text for _, text in results(said["messages"])]
    assert (
        "earlier session" in told[0]
        and told[1] == "marked"
        and marking.read_text(encoding="utf-8") == "x"
    )


def test_an_empty_name_of_a_file_is_no_way_to_keep_nothing(command: Command, project: Path) -> None:
    for option in ("--save", "--resume"):
        assert (
            command("agent", "run", "go", *script(project, "hi"), option, "", "--json").document[
                "error"
            ]["code"]
            == "usage"
        )


def test_p40c_calls_of_one_tool_can_be_bounded(
    command: Command, project: Path, marking: Path
) -> None:
    arguments = (
        *script(project, [call("mark"), call("mark")], "end"),
        "--approve",
        "all",
        "--max-calls-per-tool",
        "1",
    )
    assert (
        command("agent", "run", "go", *arguments).code == 0
        and marking.read_text(encoding="utf-8") == "x"
    )


@pytest.mark.parametrize("option", ["--save", "--resume", "--script"])
def test_one_file_is_not_two_things(command: Command, project: Path, option: str) -> None:
    (project / "kept.json").write_text("[]", encoding="utf-8")
    given = (
        "--record",
        "kept.json",
        option,
        str(project / "kept.json"),
        "--provider",
        "simulated",
        "--json",
    )
    said = command("agent", "run", "go", *given)
    assert (said.code, "same file" in said.document["error"]["message"]) == (2, True) and (
        project / "kept.json"
    ).read_text(encoding="utf-8") == "[]"


def test_the_tokens_that_a_run_used_are_told_behind_its_answer(
    command: Command, project: Path
) -> None:
    used = {
        "prompt_tokens": 1000,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 600},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    turns = [{"text": "end", "usage": used}]
    said = command("agent", "run", "go", *script(project, *turns))
    assert said.out == "end\n"
    assert "tokens: 1,000 in (600 cached), 20 out (5 reasoning)" in said.err
    told = command("agent", "run", "go", *script(project, *turns), "--json")
    assert told.document["usage"] == {
        "prompt_tokens": 1000,
        "completion_tokens": 20,
        "total_tokens": 1020,
        "cached_tokens": 600,
        "reasoning_tokens": 5,
    }
    assert "tokens:" not in told.err
    assert "tokens:" not in command("agent", "run", "go", *script(project, "end")).err


def test_a_person_is_told_what_denies_a_tool_that_the_model_calls(
    command: Command, project: Path, marking: Path
) -> None:
    config = project / ".vespe/config.json"
    document = json.loads(config.read_text(encoding="utf-8"))
    rules = {"approvals": {"deny": ["mark"]}}
    config.write_text(json.dumps({**document, **rules}), encoding="utf-8")
    words = ("agent", "run", "go", *script(project, [call("mark"), call("nope")], "The end."))
    said = command(*words, "--approve", "all")
    assert "<- mark tool_not_found" in said.err and not marking.exists()
    assert "mark is denied by `approvals.deny` in .vespe/config.json" in said.err
    assert said.err.count("is denied by") == 1
    config.write_text(json.dumps(document), encoding="utf-8")
    user_config.set_value("approvals.deny", ["project_tools/*"])
    own = user_config.load_user_config().path
    said = command(*words, "--approve", "all", "--json")
    assert f"mark is denied by `approvals.deny` in {own}" in said.err.replace("\n  ", " ")
    messages = json.dumps(said.document["messages"])
    assert "approvals" not in messages and "denied" not in messages


def test_the_default_model_of_another_provider_is_named(command: Command, project: Path) -> None:
    user_config.set_value("agent.provider", "ollama")
    user_config.set_value("agent.model", "qwen3")
    said = command("agent", "run", "go", "--provider", "gemini")
    assert said.code == 2 and "no model is selected" in said.err
    told = " ".join(said.err.split())
    assert "`agent.model` applies only to `agent.provider` (ollama)" in told
