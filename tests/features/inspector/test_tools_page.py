"""The list of tools: statuses with their reasons, searched, and one window at a time."""

from tests.features.inspector.conftest import XSS
from tests.support.inspecting import Pages
from vespe.features.inspector import tools_page
from vespe.models import Entry, Row


def test_every_tool_is_listed_with_its_status_and_what_is_wrong_with_it(pages: Pages) -> None:
    page = pages.get()
    assert 'class="pill bad">broken' in page
    assert 'class="why broken">' in page
    assert 'class="pill ok">available' in page
    assert XSS not in page


def test_a_search_finds_names_descriptions_and_scopes_and_says_where_nothing_fits(
    pages: Pages,
) -> None:
    assert "tool-nap" in pages.get(q="NAP tool")
    assert "tool-read" not in pages.get(q="NAP tool")
    assert "No such tool" in pages.get(q="nothing like it")
    assert "tool-nap" not in pages.get(status="broken")
    assert "tool-nap" in pages.get(scope="project_tools", status="nonsense")


def test_a_window_of_many_tools_says_where_it_stands(pages: Pages) -> None:
    page = pages.get(page="99999999")
    assert "Before" not in page  # there is one page, and this is it
    assert "of 4" not in page


def entry(**changes: object) -> Entry:
    known = {
        "uid": "tool-a",
        "name": "a",
        "scope": "k",
        "kit_id": "k",
        "type": None,
        "description": None,
        "path": "/nowhere",
    }
    return Entry(**{**known, **changes})  # type: ignore[arg-type]  # the test says what it wants


def test_reasons_are_sentences() -> None:
    assert tools_page.reason(Row(entry=entry(problem="no schema"), status="broken")) == "no schema"
    assert "tool-b has the same name" in tools_page.reason(
        Row(entry=entry(), status="shadowed", shadowed_by="tool-b")
    )
    assert "not active" in tools_page.reason(Row(entry=entry(), status="inactive"))
    assert tools_page.reason(Row(entry=entry(), status="available")) == ""
