"""Lists in pages."""

import json

import pytest

from vespe.features.mcp.server import pages
from vespe.features.mcp.server.messages import ProtocolError

NAMES = [f"n{number:05}" for number in range(1201)]


def walked(names: list[str]) -> list[str]:
    found, cursor = [], None
    while True:
        page = pages.page(names, cursor, key="tools", item=lambda name: {"name": name})
        found += [item["name"] for item in page["tools"]]
        if (cursor := page.get("nextCursor")) is None:
            return found


def test_pages_give_every_item_once() -> None:
    assert walked(NAMES) == NAMES


def test_a_list_that_changes_between_two_pages_is_neither_skipped_nor_repeated() -> None:
    first = pages.page(NAMES, None, key="tools", item=lambda name: {"name": name})
    second = pages.page(
        NAMES[3:], first["nextCursor"], key="tools", item=lambda name: {"name": name}
    )
    assert second["tools"][0]["name"] == NAMES[pages.PAGE]


@pytest.mark.parametrize("cursor", ["", "0", "after:", "after:../x", "AFTER:n00001"])
def test_a_cursor_that_was_never_given_is_refused(cursor: str) -> None:
    with pytest.raises(ProtocolError):
        pages.first(NAMES, cursor)


def test_an_item_that_is_nothing_is_left_out() -> None:
    assert pages.page(["a"], None, key="resources", item=lambda name: None) == {"resources": []}


def test_items_that_are_text_already_stand_in_their_list() -> None:
    ready = pages.joined({"a": '"tools":[', "tools": [], "n": 1}, "tools", ['{"x":[]}', "2"])
    assert ready.text == '{"a":"\\"tools\\":[","tools":[{"x":[]},2],"n":1}'
    assert dict(ready) == json.loads(ready.text) == ready.whole() and len(ready) == 3
