"""How far a call is."""

from typing import Any

from vespe.features.mcp.server.progress import Progress


def test_each_step_counts_more_than_the_last() -> None:
    sent: list[Any] = []
    progress = Progress("t", sent.append)
    progress("first")
    progress("second")
    assert [message["params"] for message in sent] == [
        {"progressToken": "t", "progress": 1.0, "message": "first"},
        {"progressToken": "t", "progress": 2.0, "message": "second"},
    ]


def test_what_a_tool_says_itself_is_told_as_it_says_it_and_never_backwards() -> None:
    sent: list[Any] = []
    progress = Progress(0, sent.append)
    progress.tell(0, total=100)
    progress.tell(50, total=100)
    progress.tell(40, total=100)
    assert [(message["params"]["progress"], message["params"]["total"]) for message in sent] == [
        (0, 100),
        (50, 100),
    ]


def test_a_beat_comes_at_most_once_a_second() -> None:
    sent: list[Any] = []
    Progress("t", sent.append).beat()
    assert sent == []
