"""One call from its request to its answer."""

import threading
from collections.abc import Callable
from typing import Any

from vespe import errors, report_message, report_progress
from vespe.features.mcp.server import tool_call
from vespe.features.mcp.server.call_client import CallClient, OnTheWay
from vespe.features.mcp.server.protocol import PendingCall
from vespe.features.mcp.server.tool_results import Called
from vespe.models import Outcome


class Calls:
    """Runs `work`, whatever is called."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work

    def in_process(self, name: str) -> bool:
        return True

    def call(
        self,
        name: str,
        arguments: Any,
        *,
        cancel: threading.Event | None,
        progress: Callable[[str], None] | None,
        by: CallClient | None = None,
    ) -> Any:
        return Called(Outcome(tool=name, uid="tool-x", result=self.work(), logs="printed\n"))


def run(work: Callable[[], Any], **more: Any) -> tuple[Any, list[Any]]:
    sent: list[Any] = []
    pending = PendingCall(id=1, name="x", arguments={}, revision="2025-11-25", **more)
    return tool_call.run(pending, Calls(work), OnTheWay(notify=sent.append)), sent


def raising(error: Exception) -> Callable[[], Any]:
    def work() -> None:
        raise error

    return work


def test_a_tool_that_is_not_there_or_not_trusted_is_an_error_of_the_protocol() -> None:
    for error in (
        errors.ToolNotFound("x"),
        errors.NotTrusted("/p"),
        errors.InvalidTool("tool-x", ["is broken"]),
    ):
        answer, _ = run(raising(error))
        assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (-32602, error.code)


def test_what_else_goes_wrong_before_the_call_is_an_internal_error_in_words() -> None:
    answer, _ = run(raising(errors.StorageError("read", "/x", OSError(5, "no luck"))))
    assert answer["error"]["code"] == -32603 and "no luck" in answer["error"]["message"]


def test_what_a_tool_says_on_its_way_reaches_a_client_that_asked() -> None:
    def work() -> str:
        report_progress(1, 2, message="half")
        report_message("debug", "too fine")
        report_message("warning", {"a": 1})
        return "done"

    _, sent = run(work, progress_token="t", log_level="info")
    assert [message["params"] for message in sent] == [
        {"progressToken": "t", "progress": 1, "total": 2, "message": "half"},
        {"level": "warning", "logger": "x", "data": {"a": 1}},
        {"level": "info", "logger": "x", "data": "printed\n"},
    ]


def test_a_client_that_asked_for_nothing_hears_the_answer_alone() -> None:
    answer, sent = run(lambda: report_progress(1))
    assert answer["result"]["isError"] is False and sent == []
