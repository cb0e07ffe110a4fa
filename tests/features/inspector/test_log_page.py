"""The log, with plots of durations."""

from tests.support.inspecting import Pages
from vespe.calls import log
from vespe.models import Failure, Outcome


def test_calls_are_listed_the_newest_first_with_their_durations(pages: Pages) -> None:
    assert "No calls yet" in pages.get("log")
    tool = pages.site._project.path.tool("look")
    for number in range(3):
        error = Failure(code="tool_error", message="it broke") if number == 2 else None
        outcome = Outcome(tool="look", uid=tool.uid, duration_ms=10.0**number, error=error)
        log.append(
            pages.site._project.root,
            tool=tool,
            arguments={"n": number},
            outcome=outcome,
            keep_arguments=True,
        )
    page = pages.get("log")
    assert page.index("it broke") < page.index("{&#34;n&#34;:1}") < page.index("{&#34;n&#34;:0}")
    assert page.count('<circle class="ok"') == 4  # two calls, wide and narrow
    assert page.count('<path class="bad"') == 2
    assert "1.0 ms" in page
    assert "it broke" not in pages.get("log", outcome="ok").partition("Calls, newest")[2]
    assert "No such calls" in pages.get("log", tool="nobody")
