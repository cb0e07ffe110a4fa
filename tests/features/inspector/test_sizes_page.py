"""Sizes of definitions, as a treemap and a table."""

import pytest

from tests.support.inspecting import Pages
from vespe.features.inspector import sizes_page


def test_every_available_tool_is_in_the_map_and_in_the_table(pages: Pages) -> None:
    page = pages.get("sizes")
    assert page.count("<title>say: ") == 2  # the wide map and the narrow one
    assert "tool-bad" not in page
    assert pages.get("sizes", **{"as": "anthropic"}) != page


def test_the_smallest_of_many_share_one_rectangle(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes_page, "MOST", 1)
    page = pages.get("sizes")
    assert "3 more: " in page
    assert "3 smaller tools are not in the table" in page
