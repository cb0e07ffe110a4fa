"""MCP over stdin and stdout, with the real server and clients that behave badly."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S, python_tool, vespe, write_tool
from tests.support.stdio_client import MODERN, LineClient, served, tool_processes

HOSTILE = json.loads(
    (Path(__file__).parents[3] / "cases/mcp/hostile_lines.json").read_text(encoding="utf-8")
)
ECHO = {"type": "object", "properties": {"text": {"type": "string"}}}


@pytest.fixture
def tools(project: Path) -> Path:
    """A project with a quick tool and one that sleeps in a process whose command line can be
    found.
    """
    python_tool(
        project / ".vespe/tools/tool-echo", "echo", "return inputs.get('text', '')", schema=ECHO
    )
    return project


def sleeper(project: Path, seconds: int = 1000) -> str:
    """A tool that ignores SIGTERM and sleeps in a program with an argument of its own; gives that
    argument.
    """
    marker = f"{seconds}.{os.getpid()}{time.monotonic_ns()}"
    implementation = {"type": "shell_command", "path": "nap.sh", "args": {"argv": [marker]}}
    directory = write_tool(
        project / ".vespe/tools/tool-nap",
        "nap",
        implementation=implementation,
        files={"nap.sh": '#!/bin/sh\ntrap "" TERM\nsleep "$1"\nsleep "$1"\n'},
    )
    (directory / "nap.sh").chmod(0o755)
    return marker


def starts(marker: str) -> None:
    """Wait until the tool's program runs."""
    until(lambda: bool(tool_processes(marker)))


def until(holds: Any) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


def hostile(case: dict[str, Any]) -> bytes:
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    text: str = case.get("before", "") + case["line"] * case.get("times", 1) + case.get("after", "")
    return text.encode()


def test_p42_every_hostile_line_gets_the_right_error_and_the_next_call_works(tools: Path) -> None:
    with served(tools) as client:
        for case in HOSTILE:
            client.write(hostile(case) + b"\n")
            for code, identifier in case["answers"]:
                answer = client.read()
                assert (answer["error"]["code"], answer["id"]) == (code, identifier), case["name"]
            assert client.answer("ping")["result"] == {}, case["name"]
        assert client.call("echo", text="still here")["content"] == [
            {"type": "text", "text": "still here"}
        ]
        assert client.close() == 0


def test_p42_a_flood_without_a_newline_is_held_in_bounded_memory(tools: Path) -> None:
    with served(tools) as client:
        client.ask("ping")
        before = resident(client)
        for _ in range(64):
            client.write(b"x" * (1 << 20))
        client.write(b"\n")
        assert client.read()["error"]["code"] == -32700
        assert client.ask("ping") == {} and resident(client) - before < 30 << 20


def resident(client: LineClient) -> int:
    status = Path(f"/proc/{client.process.pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def test_a_last_line_without_an_end_is_answered_too(tools: Path) -> None:
    with served(tools) as client:
        client.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        assert client.close() == 0 and client.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_answers_come_as_calls_finish_and_are_never_mixed(tools: Path) -> None:
    slow = {"type": "object", "properties": {"n": {"type": "integer"}}}
    python_tool(
        tools / ".vespe/tools/tool-wide",
        "wide",
        "return str(inputs['n']) * 200_000",
        schema=slow,
        limits={"model_tokens": "whole"},
    )
    with served(tools) as client:
        for number in range(8):
            client.send("tools/call", {"name": "wide", "arguments": {"n": number}}, id=number)
        texts = {
            answer["id"]: answer["result"]["content"][0]["text"]
            for answer in (client.read() for _ in range(8))
        }
        assert texts == {number: str(number) * 200_000 for number in range(8)}


def test_p44_a_cancelled_call_ends_its_process_tree_and_is_never_answered(tools: Path) -> None:
    marker = sleeper(tools)
    with served(tools) as client:
        client.send("tools/call", {"name": "nap"}, id="nap")
        starts(marker)
        client.send("notifications/cancelled", {"requestId": "nap", "reason": "enough"})
        until(lambda: not tool_processes(marker))
        client.send("ping", id="after")
        assert client.read() == {"jsonrpc": "2.0", "id": "after", "result": {}}
        client.send("tools/call", {"name": "echo", "arguments": {"text": "again"}}, id="nap")
        assert client.read()["result"]["content"][0]["text"] == "again"


def test_p44_calls_that_hang_leave_others_their_turn_and_a_bounded_queue_says_when_it_is_full(
    tools: Path,
) -> None:
    marker = sleeper(tools)
    with served(tools, "--max-calls", "2") as client:
        client.send("tools/call", {"name": "nap"}, id="nap")
        starts(marker)
        assert client.call("echo", text="through")["content"][0]["text"] == "through"
        client.send("tools/call", {"name": "nap"}, id="other")
        for number in range(1001):
            client.send("tools/call", {"name": "echo", "arguments": {}}, id=number)
        client.send("ping", id="ping")
        answers = [client.read(), client.read()]
        while all(answer["id"] != "ping" for answer in answers):
            answers.append(client.read())
        # Of 1,002 calls one or two are too many, as `other` was taken out of the queue already or
        # not; lines may overtake each other.
        codes = [answer["error"]["code"] for answer in answers if answer["id"] != "ping"]
        assert codes in ([-32000], [-32000, -32000])


def test_an_id_that_is_in_flight_is_refused_and_its_call_goes_on(tools: Path) -> None:
    marker = sleeper(tools)
    with served(tools) as client:
        client.send("tools/call", {"name": "nap"}, id=1)
        starts(marker)
        client.send("tools/call", {"name": "echo"}, id=1)
        refused = client.read()
        assert (refused["id"], refused["error"]["code"]) == (None, -32600) and tool_processes(
            marker
        )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_p31_a_signal_ends_it_with_no_process_left(tools: Path, number: int, code: int) -> None:
    marker = sleeper(tools)
    with served(tools, signalled=True) as client:
        client.send("tools/call", {"name": "nap"}, id=1)
        starts(marker)
        client.process.send_signal(number)
        assert client.process.wait(PATIENCE_S) == code and not tool_processes(marker)


@pytest.mark.parametrize("number", [0, signal.SIGINT, signal.SIGTERM])
def test_p31_at_its_end_no_temporary_file_of_its_tools_is_left(
    tools: Path, tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    python_tool(
        tools / ".vespe/tools/tool-kept", "kept", "return 1", limits={"worker": "persistent"}
    )
    marker = sleeper(tools)
    with served(tools, signalled=True) as client:
        client.ask("tools/call", {"name": "kept"})
        client.send("tools/call", {"name": "nap"}, id=1)
        starts(marker)
        if number:
            client.process.send_signal(number)
            client.process.wait(PATIENCE_S)
        client.close()
    assert os.listdir(tmp_path / "temporary") == []


def test_p31_ctrl_c_ends_it_while_it_is_idle_too(tools: Path) -> None:
    with served(tools, signalled=True) as client:
        client.ask("ping")
        client.process.send_signal(signal.SIGINT)
        assert client.process.wait(PATIENCE_S) == 130


def test_p27_the_end_of_input_ends_it_with_no_process_left(tools: Path) -> None:
    marker = sleeper(tools)
    with served(tools) as client:
        client.send("tools/call", {"name": "nap"}, id=1)
        starts(marker)
        assert client.close() == 0 and not tool_processes(marker)


def test_p28_killed_outright_it_takes_its_tools_along(tools: Path) -> None:
    marker = sleeper(tools)
    with served(tools) as client:
        client.send("tools/call", {"name": "nap"}, id=1)
        starts(marker)
        client.process.kill()
        until(lambda: not tool_processes(marker))


def test_a_client_that_no_longer_reads_ends_it_though_stdin_stays_open(tools: Path) -> None:
    with served(tools) as client:
        client.ask("ping")
        assert client.process.stdout is not None
        client.process.stdout.close()
        assert client.process.wait(PATIENCE_S) == 0


def test_a_client_that_stops_reading_and_closes_stdin_ends_it_though_the_pipe_is_full(
    tools: Path,
) -> None:
    with served(tools) as client:
        for number in range(500):
            client.send("tools/list", id=number)
        assert client.close() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_p31_a_signal_ends_it_though_the_pipe_is_full(tools: Path, number: int) -> None:
    with served(tools, signalled=True) as client:
        client.ask("ping")
        for index in range(400):
            client.send("tools/list", id=index)
        time.sleep(0.2)
        client.process.send_signal(number)
        assert client.process.wait(PATIENCE_S) == 128 + number


def test_p30_a_tool_gets_neither_stdin_nor_stdout_of_the_protocol(tools: Path) -> None:
    forged = '{"jsonrpc":"2.0","id":1,"result":{"forged":true}}'
    python_tool(
        tools / ".vespe/tools/tool-forge",
        "forge",
        f"import sys\nprint({forged!r}, flush=True)\nreturn sys.stdin.read()",
    )
    write_tool(
        tools / ".vespe/tools/tool-cat",
        "cat",
        implementation={"type": "shell_command", "entrypoint": "cat", "args": {"argv": []}},
    )
    with served(tools) as client:
        client.send("tools/call", {"name": "forge"}, id=1)
        assert client.read()["result"] == {
            "content": [{"type": "text", "text": ""}],
            "isError": False,
        }
        assert client.call("cat")["isError"] is False and client.ask("ping") == {}


def test_p30_code_of_the_same_process_prints_to_stderr_and_reads_nothing(tools: Path) -> None:
    write_tool(tools / ".vespe/tools/tool-loud", "loud")
    code = (
        "import os, sys, vespe\n"
        "def loud():\n    print('noise', flush=True)\n    os.system('echo more')\n    return "
        "sys.stdin.read() + os.read(0, 9).decode()\n"
        "registry = vespe.ToolRegistry()\nregistry.register(loud)\n"
        "vespe.serve_stdio(registry=registry)\nprint('stdout is back')\n"
    )
    with served(tools, code=code, stderr=subprocess.PIPE) as client:
        assert client.call("loud")["content"] == [{"type": "text", "text": ""}]
        assert client.close() == 0
        assert client.process.stdout is not None and client.process.stderr is not None
        assert (
            client.process.stdout.read() == b"stdout is back\n"
            and b"noise\nmore\n" in client.process.stderr.read()
        )


def test_code_of_the_same_process_that_leaves_or_sleeps_takes_nothing_along(tools: Path) -> None:
    for name in ("leave", "rest", "quick"):
        write_tool(tools / f".vespe/tools/tool-{name}", name)
    code = (
        "import sys, time, vespe\nregistry = vespe.ToolRegistry()\n"
        "registry.register(lambda: sys.exit(3), name='leave')\nregistry.register(lambda: "
        "time.sleep(1000), name='rest')\n"
        "registry.register(lambda: 'here', name='quick')\nvespe.serve_stdio(registry=registry)\n"
    )
    with served(tools, code=code) as client:
        client.send("tools/call", {"name": "rest"}, id="rest")
        assert client.call("leave")["isError"]
        for _ in range(5):
            client.send("tools/call", {"name": "rest"}, id=f"rest-{_}")
        assert client.call("quick")["content"][0]["text"] == "here"


def test_list_changed_is_told_once_the_tools_have_settled_to_each_client_in_its_own_way(
    tools: Path,
) -> None:
    with served(tools) as old, served(tools) as new:
        old.hello()
        new.send(
            "subscriptions/listen",
            {"_meta": MODERN, "notifications": {"toolsListChanged": True}},
            id="s",
        )
        assert new.read()["method"] == "notifications/subscriptions/acknowledged"
        python_tool(tools / ".vespe/tools/tool-more", "more", "return 1")
        assert old.read()["method"] == "notifications/tools/list_changed"
        told = new.read()
        assert told["method"] == "notifications/tools/list_changed"
        assert told["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "s"}
        assert "more" in old.names()


def test_progress_and_the_prints_of_a_tool_reach_a_client_that_asked(tools: Path) -> None:
    python_tool(
        tools / ".vespe/tools/tool-long",
        "long",
        "import time\nprint('working')\ntime.sleep(2.2)\nreturn 1",
    )
    with served(tools) as client:
        client.hello()
        client.ask("logging/setLevel", {"level": "info"})
        client.send("tools/call", {"name": "long", "_meta": {"progressToken": "t"}}, id=1)
        beat, said, answer = client.read(), client.read(), client.read()
        assert beat["method"] == "notifications/progress" and beat["params"]["progressToken"] == "t"
        while said["method"] == "notifications/progress":
            said, answer = answer, client.read()
        assert (
            said["params"] == {"level": "info", "logger": "long", "data": "working\n"}
            and answer["id"] == 1
        )


def with_closed(closed: str, tools: Path) -> subprocess.CompletedProcess[bytes]:
    argv = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "vespe", "mcp", "serve"]
    return subprocess.run(
        argv,
        cwd=tools,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )


def test_a_closed_stdout_is_an_error_in_words(tools: Path) -> None:
    done = with_closed(">&-", tools)
    assert done.returncode == 1 and b"cannot speak MCP over stdin and stdout" in done.stderr


def test_a_closed_stdin_has_ended(tools: Path) -> None:
    done = with_closed("<&-", tools)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_open_subscription_is_answered_when_the_server_ends(project: Path) -> None:
    with served(project) as client:
        client.send(
            "subscriptions/listen",
            {"_meta": MODERN, "notifications": {"toolsListChanged": True}},
            id="s",
        )
        assert client.read()["method"] == "notifications/subscriptions/acknowledged"
        assert client.close() == 0
        closing = client.read()
        assert (
            closing["id"] == "s"
            and closing["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "s"
        )


def test_what_was_asked_before_the_end_of_stdin_is_answered_however_long_it_takes(
    project: Path,
) -> None:
    for number in range(400):
        write_tool(
            project / f".vespe/tools/tool-t{number}",
            f"t{number}",
            implementation={"type": "shell_command", "entrypoint": "true"},
        )
    client = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    asked: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": client},
        {"id": 1, "method": "tools/list"},
    ]
    served = vespe(
        "mcp",
        "serve",
        cwd=project,
        stdin="".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked),
    )
    answers = [json.loads(line) for line in served.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1] and answers[1]["result"]["tools"], (
        served.stderr
    )
