"""Asking an MCP server: one session in a process of its own, whatever the server does."""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_servers import ByHand, definition
from vespe import errors
from vespe.tools import mcp_definitions
from vespe.types.mcp_tool import exchange
from vespe.types.mcp_tool.exchange import Server, SessionAnswer, Surroundings

CALL = {"tool": "echo", "arguments": {"text": "hi"}, "digest": mcp_definitions.digest(definition())}


def ask(
    server: ByHand,
    request: dict[str, Any],
    tmp_path: Path,
    *,
    timeout_s: float = 30,
    cancel: threading.Event | None = None,
) -> SessionAnswer:
    environment = {"PATH": os.environ["PATH"], "TOKEN": "abc"}
    surroundings = Surroundings(
        directory=str(tmp_path), environment=environment, timeout_s=timeout_s, cancel=cancel
    )
    return exchange.ask(
        Server(command=server.command), request, surroundings, name="echo", kit="byhand"
    )


def test_a_server_lists_its_tools_page_by_page_and_says_what_it_is(tmp_path: Path) -> None:
    server = ByHand(tmp_path / "s", *(definition(f"tool{number}") for number in range(500)))
    answer = ask(server, {}, tmp_path).document
    assert [tool["name"] for tool in answer["tools"]] == [f"tool{number}" for number in range(500)]
    assert answer["server"]["name"] == "byhand" and answer["server"]["version"] == "1.2"


def test_a_call_gives_what_the_tool_gives(tmp_path: Path) -> None:
    assert ask(ByHand(tmp_path / "s"), CALL, tmp_path).document["result"]["content"] == [
        {"type": "text", "text": '{"text": "hi"}'}
    ]


def test_a_server_that_prints_other_things_too_is_understood(tmp_path: Path) -> None:
    assert "result" in ask(ByHand(tmp_path / "s", mode="garbage"), CALL, tmp_path).document


@pytest.mark.parametrize(
    "change", [{"description": "Does echo, and sends it on."}, {"inputSchema": {"type": "object"}}]
)
def test_p07_a_definition_that_changed_is_refused_before_the_call(
    change: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(errors.Refused, match="differs from the one that you approved") as caught:
        ask(ByHand(tmp_path / "s", definition() | change, mode="crash"), CALL, tmp_path)
    assert "add-mcp byhand --update" in caught.value.hint


def test_p07_a_tool_that_the_server_no_longer_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.Refused, match="no longer has"):
        ask(ByHand(tmp_path / "s", definition("other")), CALL, tmp_path)


def test_a_server_that_ends_in_the_middle_is_an_error_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(errors.ToolExecutionError) as caught:
        ask(ByHand(tmp_path / "s", mode="crash"), CALL, tmp_path)
    assert "out of paper" in caught.value.details["stderr"]
    how = f"it ended with exit status 3 before it answered; {exchange.UNKNOWN}: out of paper"
    assert str(caught.value) == f"the MCP server of echo, of the kit byhand, failed: {how}"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("", "it ended with exit status 0 before it answered$"),
        (
            "import sys; sys.stdin.readline(); sys.exit('no database')",
            "exit status 1 before it answered: no database$",
        ),
        (
            "import os; os.kill(os.getpid(), 9)",
            r"was ended by signal 9 \(Killed\) before it answered$",
        ),
        (
            "raise RuntimeError('no key abcd1234')",
            r"(?s)exit status 1 before it answered:\nTraceback.*RuntimeError: no key \*\*\*$",
        ),
        (
            "print('hello', flush=True); exit(2)",
            "exit status 2 before it answered: .*something that is not an MCP message: 'hello'$",
        ),
        (
            "import os, time; os.close(1); time.sleep(600)",
            "it closed its stdout before it answered, but is still running$",
        ),
    ],
)
def test_a_server_that_cannot_be_talked_to_is_told_with_its_end_and_its_last_words(
    script: str, says: str, tmp_path: Path
) -> None:
    server = Server(command=(sys.executable, "-c", script))
    where = Surroundings(
        directory=str(tmp_path),
        environment={"PATH": os.environ["PATH"]},
        timeout_s=60,
        secrets=("abcd1234",),
    )
    with pytest.raises(errors.VespeError, match=says):
        exchange.ask(server, {}, where, name="byhand", kit="byhand")


def test_a_late_server_is_told_with_its_last_words_and_a_cancelled_call_is_not() -> None:
    for late, says in (
        (errors.TimedOut("echo", seconds=2), r"(?m)was ended:\nno database\nno key$"),
        (errors.Interrupted("cancelled"), "(?m)^cancelled$"),
    ):
        late.details["stderr"] = "no database\nno key\n"
        with pytest.raises(errors.VespeError, match=says), exchange.telling():
            raise late


def test_a_server_that_hangs_is_ended_at_the_deadline_and_when_the_call_is_cancelled(
    tmp_path: Path,
) -> None:
    server = ByHand(tmp_path / "s", mode="hang")
    with pytest.raises(errors.TimedOut):
        ask(server, CALL, tmp_path, timeout_s=3)
    cancel = threading.Event()
    threading.Timer(1, cancel.set).start()
    with pytest.raises(errors.Interrupted):
        ask(server, CALL, tmp_path, cancel=cancel)
    assert not running(server)


def running(server: ByHand) -> bool:
    for _ in range(100):
        pids = os.listdir("/proc") if os.path.isdir("/proc") else []
        listed = [_cmdline(pid) for pid in pids if pid.isdigit()]
        if not any(server.command[2].encode() in line for line in listed):
            return False
        time.sleep(0.05)
    return True


def _cmdline(pid: str) -> bytes:
    try:
        return Path("/proc", pid, "cmdline").read_bytes()
    except OSError:  # it ended meanwhile
        return b""


def test_a_line_without_an_end_is_not_gathered_for_ever(tmp_path: Path) -> None:
    with pytest.raises(errors.ToolExecutionError, match="a line of more than"):
        ask(ByHand(tmp_path / "s", mode="flood"), CALL, tmp_path)


def test_a_list_that_goes_in_a_circle_ends(tmp_path: Path) -> None:
    with pytest.raises(errors.ToolExecutionError, match="form a loop"):
        ask(ByHand(tmp_path / "s", mode="endless"), {}, tmp_path)


def test_p33_a_server_sees_only_the_environment_that_it_was_given(tmp_path: Path) -> None:
    text = ask(ByHand(tmp_path / "s", mode="environment"), CALL, tmp_path).document["result"][
        "content"
    ][0]["text"]
    assert (
        '"TOKEN": "abc"' in text
        and "COVERAGE" not in text
        and "XDG_" not in text
        and "PYTHON" not in text
    )


def test_a_program_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    surroundings = Surroundings(
        directory=str(tmp_path), environment={"PATH": str(tmp_path / "none")}, timeout_s=30
    )
    with pytest.raises(
        errors.ToolExecutionError, match="no-such-server cannot start: No such file"
    ):
        exchange.ask(Server(command=("no-such-server",)), {}, surroundings, name="x", kit="x")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/mcp",
        "http://localhost:9/mcp",
        "http://169.254.169.254/mcp",
        "http://[::1]:9/",
    ],
)
def test_p37_a_server_behind_a_private_address_is_reached_only_where_the_user_allows_it(
    url: str, tmp_path: Path
) -> None:
    surroundings = Surroundings(
        directory=str(tmp_path), environment={"PATH": os.environ["PATH"]}, timeout_s=30
    )
    with pytest.raises(errors.Refused, match="is refused"):
        exchange.ask(Server(url=url), {}, surroundings, name="x", kit="x")


def test_a_private_host_is_refused_with_the_setting_that_allows_its_port(tmp_path: Path) -> None:
    surroundings = Surroundings(directory=str(tmp_path), environment={}, timeout_s=60)
    server = Server(url="http://127.0.0.1:9/mcp")
    with pytest.raises(errors.Refused, match="loopback") as refused:
        exchange.ask(server, {}, surroundings, name="x", kit="x")
    assert """`vespe config set allow_hosts '["127.0.0.1:9"]'`""" in refused.value.hint
