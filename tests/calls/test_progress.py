"""How in-process code says how far it is."""

from typing import Any

from vespe import report_message, report_progress
from vespe.calls.progress import ProgressListener, listen


def test_whoever_listens_hears_of_it_and_nobody_else_does() -> None:
    heard: list[Any] = []
    listener = ProgressListener(
        progress=lambda *step: heard.append(step),
        message=lambda level, data: heard.append((level, data)),
    )
    report_progress(1)
    with listen(listener):
        report_progress(50, 100, message="half")
        report_message("info", {"a": 1})
    report_message("info", "unheard")
    assert heard == [(50, 100, "half"), ("info", {"a": 1})]
