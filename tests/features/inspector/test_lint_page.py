"""What lint finds, the gravest first."""

import pytest

from tests.support.inspecting import Pages
from vespe.features.inspector import lint_page


def test_findings_have_their_place_and_their_reason(pages: Pages) -> None:
    page = pages.get("lint")
    assert page.index('class="pill bad">error') < page.index('class="pill warn">warning')
    assert ".vespe/tools/tool-bad/config.json" in page
    assert "Why:" in page


def test_findings_are_chosen_by_severity_and_rule(pages: Pages) -> None:
    assert 'class="pill warn">warning' not in pages.get("lint", severity="error")
    assert (
        "description-argument-missing"
        not in pages.get("lint", rule="layout-type", severity="error").partition(
            'class="findings"'
        )[2]
    )
    assert "No problems found" in pages.get("lint", tool="nobody")


def test_many_tools_are_judged_when_a_person_asks_for_it(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint_page, "_AT_ONCE", 1)
    assert "Check them now" in pages.get("lint")
    assert "Check them now" not in pages.get("lint", go="1")
