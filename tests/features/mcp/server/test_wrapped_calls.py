"""What passes between a client and a wrapped server, as the log tells it."""

import json
from pathlib import Path
from typing import Any

import pytest

from vespe.calls import log
from vespe.calls.log import CallLog
from vespe.features.mcp.server.wrapped_calls import WrappedCalls
from vespe.processes.sandbox.held import Policy


@pytest.fixture
def calls(home: Path) -> WrappedCalls:
    return WrappedCalls(
        CallLog("/p", keep_arguments=True),
        name="server",
        sandbox=Policy(level="landlock"),
        secrets=("hunter2",),
    )


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0"} | message).encode()


def ask(calls: WrappedCalls, identifier: Any, name: str = "t", **arguments: Any) -> None:
    calls.asked(
        line(id=identifier, method="tools/call", params={"name": name, "arguments": arguments})
    )


def logged() -> list[tuple[Any, ...]]:
    return [(one["tool"], one["outcome"], one.get("error")) for one in log.read("/p")]


def test_each_answer_is_logged_once_as_what_it_says(calls: WrappedCalls) -> None:
    for identifier in (1, "1", 2):
        ask(calls, identifier, f"t{identifier!r}")
    calls.answered(
        line(
            id="1", result={"content": [{"type": "text", "text": "no such city"}], "isError": True}
        )
    )
    calls.answered(line(id=1, method="sampling/createMessage", params={}))
    calls.answered(line(id=1, result={"content": []}))
    calls.answered(line(id=1, result={"content": []}))
    calls.answered(line(id=2, error={"code": -32602, "message": "Unknown tool"}))
    assert logged() == [
        ("t'1'", "tool_error", "no such city"),
        ("t1", "ok", None),
        ("t2", "tool_error", "Unknown tool"),
    ]


def test_secrets_are_redacted_and_the_server_and_its_sandbox_are_named(calls: WrappedCalls) -> None:
    ask(calls, 1, "t", key="hunter2", other="x")
    calls.answered(line(id=1, error={"code": 0, "message": "hunter2 is wrong"}))
    (one,) = log.read("/p")
    assert one["arguments"] == {"key": "***", "other": "x"} and one["error"] == "*** is wrong"
    assert (one["scope"], one["uid"], one["sandbox"]) == ("server", "server/t", "landlock") and one[
        "duration_ms"
    ] >= 0


def test_a_host_that_was_refused_during_a_call_stands_with_it(home: Path) -> None:
    held = Policy(level="namespaces", refusals=[("network", "before:1")])
    calls = WrappedCalls(CallLog("/p"), name="server", sandbox=held)
    ask(calls, 1)
    held.refusals.append(("network", "example.com:443"))
    calls.answered(line(id=1, result={}))
    assert log.read("/p")[0]["refused"] == ["the sandbox did not let it reach example.com:443"]


def test_what_is_cancelled_and_what_is_never_answered_is_logged_too(calls: WrappedCalls) -> None:
    ask(calls, 1, "cancelled")
    ask(calls, 2, "lost")
    calls.asked(line(method="notifications/cancelled", params={"requestId": 1}))
    calls.close()
    assert [(tool, outcome) for tool, outcome, _ in logged()] == [
        ("cancelled", "interrupted"),
        ("lost", "session_ended"),
    ]


def test_batches_are_read_and_what_is_no_call_is_passed_over(calls: WrappedCalls) -> None:
    calls.asked(b"[" + line(id=1, method="tools/call", params={"name": "a"}) + b', 3, "x"]')
    for other in (
        b"",
        b"{",
        b"7",
        b"[" * 5000,
        line(id=2, method="tools/call"),
        line(id=3, method="tools/call", params={"name": 4}),
    ):
        calls.asked(other)
        calls.answered(other)
    calls.answered(b"[" + line(id=1, result={}) + b"]")
    assert logged() == [("a", "ok", None)]


def test_calls_that_nobody_answers_are_forgotten_at_last(calls: WrappedCalls) -> None:
    for identifier in range(1001):
        ask(calls, identifier)
    calls.answered(line(id=0, result={}))
    assert logged() == []
    calls.answered(line(id=1, result={}))
    assert logged() == [("t", "ok", None)]
