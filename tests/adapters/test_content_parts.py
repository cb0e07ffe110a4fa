"""One part and one block, each from the other."""

import pytest

from tests.adapters.conversations import PNG
from tests.adapters.judges import accepts
from vespe.adapters.content_parts import data_url, to_block, to_part
from vespe.errors import InvalidDocument

PAIRS = [
    ({"type": "text", "text": "a"}, {"type": "text", "text": "a"}),
    (
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    ),
    (
        {
            "type": "image_url",
            "image_url": {"url": "https://e.com/a.png"},
            "cache_control": {"type": "ephemeral"},
        },
        {
            "type": "image",
            "source": {"type": "url", "url": "https://e.com/a.png"},
            "cache_control": {"type": "ephemeral"},
        },
    ),
    (
        {
            "type": "file",
            "file": {"file_data": "data:application/pdf;base64,JVBE", "filename": "a.pdf"},
        },
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
            "title": "a.pdf",
        },
    ),
    (
        {"type": "file", "file": {"file_data": "data:text/plain;base64,aMOk"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hä"}},
    ),
    (
        {
            "type": "file",
            "file": {"file_id": "f1"},
            "anthropic": {"context": "c", "citations": {"enabled": True}},
        },
        {
            "type": "document",
            "source": {"type": "file", "file_id": "f1"},
            "context": "c",
            "citations": {"enabled": True},
        },
    ),
]


@pytest.mark.parametrize(("part", "block"), PAIRS)
def test_a_part_and_its_block_are_each_others(
    part: dict[str, object], block: dict[str, object]
) -> None:
    assert to_block(part, 0) == block
    assert to_part(block, 0) == part
    assert accepts("anthropic message", {"role": "user", "content": [block]})


@pytest.mark.parametrize(
    "block",
    [
        {"type": "document", "source": {"type": "url", "url": "https://e.com/a.pdf"}},
        {"type": "document", "source": {"type": "content", "content": "a"}},
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "AA"}},
        {"type": "image"},
        {"type": "document"},
        {"type": "search_result", "content": [], "source": "s", "title": "t"},
        {"type": "text", "text": 3},
        {"type": "new_kind"},
    ],
)
def test_a_block_that_openai_cannot_say_has_no_part(block: dict[str, object]) -> None:
    assert to_part(block, 0) is None


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            {"type": "image_url", "image_url": "https://e.com/a"},
            {"type": "image", "source": {"type": "url", "url": "https://e.com/a"}},
        ),
        (
            {
                "type": "image_url",
                "image_url": {"url": "data:image/jpg;base64,AA", "detail": "low"},
            },
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/jpeg", "data": "AA"},
            },
        ),
        ({"type": "refusal", "refusal": "no"}, {"type": "text", "text": "no"}),
        (
            {"type": "file", "file": {"file_data": "JVBE"}},
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
            },
        ),
        (
            {"type": "document_url", "document_url": "https://e.com/a"},
            {"type": "document", "source": {"type": "url", "url": "https://e.com/a"}},
        ),
    ],
)
def test_other_ways_to_say_a_part_are_understood(
    part: dict[str, object], block: dict[str, object]
) -> None:
    assert to_block(part, 0) == block


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
        {"type": "image_url"},
        {"type": "image_url", "image_url": {"url": "ftp://e.com/a"}},
        {"type": "image_url", "image_url": {"url": "data:image/tiff;base64,AA"}},
        {"type": "image_url", "image_url": {"url": "data:image/png,raw"}},
        {"type": "file"},
        {"type": "file", "file": {}},
        {"type": "file", "file": {"file_data": "data:text/plain;base64,!!"}},
        {"type": "file", "file": {"file_data": "data:application/zip;base64,AA"}},
        {"type": "document_url"},
        {"type": "text", "text": 3},
        {},
    ],
)
def test_what_anthropic_cannot_take_is_refused_by_the_messages_index(
    part: dict[str, object],
) -> None:
    with pytest.raises(InvalidDocument, match=r"messages\[4\]: "):
        to_block(part, 4)


def test_only_base64_data_urls_are_read() -> None:
    assert data_url("DATA:Image/PNG;charset=utf-8;Base64,AA") == ("image/png", "AA")
    assert data_url("data:text/plain,hello") is None and data_url("https://e.com") is None
