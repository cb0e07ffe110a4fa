"""Content blocks as clients take them."""

from typing import Any

import pytest

from vespe.features.mcp.server import content_blocks

LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}


@pytest.mark.parametrize(
    "more",
    [
        {"annotations": {"audience": "user"}},
        {"annotations": {"audience": ["model"]}},
        {"annotations": {"priority": 7}},
        {"annotations": {"priority": True}},
        {"annotations": {"lastModified": 5}},
        {"annotations": {"lastModified": "yesterday"}},
        {"size": True},
        {"icons": [5]},
        {"icons": [{"src": 5}]},
        {"icons": [{"src": "a", "sizes": "any"}]},
        {"icons": [{"src": "a", "theme": "red"}]},
        {"_meta": 5},
        {"title": None},
    ],
)
def test_a_block_with_one_thing_that_clients_refuse_is_none(more: dict[str, Any]) -> None:
    assert content_blocks.is_block(LINK) and not content_blocks.is_block(LINK | more)


@pytest.mark.parametrize("data", ["no base64!", "\u00e9", "%%%", "a", 5])
def test_what_is_no_base64_is_no_image_and_no_blob(data: Any) -> None:
    assert not content_blocks.is_block({"type": "image", "data": data, "mimeType": "image/png"})
    assert not content_blocks.is_block(
        {"type": "resource", "resource": {"uri": "file:///a", "blob": data}}
    )


def test_a_block_with_all_that_may_be_said_is_one() -> None:
    said = {
        "audience": ["user", "assistant"],
        "priority": 0.5,
        "lastModified": "2025-01-12T15:00:58Z",
    }
    icon = {"src": "data:,", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
    assert content_blocks.is_block(
        {**LINK, "size": 3, "title": "A", "icons": [icon], "annotations": said, "_meta": {}}
    )
    assert content_blocks.is_block(
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "eA=="}}
    )
