"""The list of recordings, and one conversation with its calls."""

from pathlib import Path

from tests.support.inspecting import Pages


def test_where_there_are_none_the_page_says_how_one_is_made(pages: Pages) -> None:
    if not (Path(pages.site._project.root) / "talk.json").exists():
        assert "No conversations here" in pages.get("conversations")


def test_a_conversation_is_shown_with_links_to_its_tools(talk: Path, pages: Pages) -> None:
    assert "talk.json" in pages.get("conversations")
    page = pages.get("conversations", of="talk.json")
    assert "How many?" in page
    assert "Two numbers." in page
    assert "/tool/project_tools/tool-read" in page
    assert pages.answer("conversations", of="../talk.json").status == 404
