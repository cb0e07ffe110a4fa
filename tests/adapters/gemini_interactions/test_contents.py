"""Contents of steps and inner parts, each from the other."""

from typing import Any

import pytest

from vespe.adapters.gemini_interactions.contents import CONTENTS, to_content
from vespe.errors import InvalidDocument


@pytest.mark.parametrize(
    ("given", "part", "entry"),
    [
        (
            {"type": "text", "text": "a", "annotations": []},
            {"type": "text", "text": "a"},
            {"type": "text", "annotations": []},
        ),
        (
            {"type": "image", "data": "AAAA", "mime_type": "image/png"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "image"},
        ),
        (
            {"type": "document", "uri": "https://x.test/a.pdf"},
            {"type": "document_url", "document_url": {"url": "https://x.test/a.pdf"}},
            {"type": "document"},
        ),
        (
            {"type": "document", "data": "AAAA", "mime_type": "application/pdf"},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA"}},
            {"type": "document"},
        ),
        (
            {"type": "audio", "data": "AAAA", "mime_type": "audio/mp3"},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
            {"type": "audio"},
        ),
    ],
)
def test_a_part_and_what_is_left_of_it_make_the_content_again(
    given: Any, part: Any, entry: Any
) -> None:
    assert CONTENTS.to_parts([given], 0) == ([part], [entry])
    assert CONTENTS.is_open(entry) and CONTENTS.filled([entry], iter([part]), 0) == [given]


@pytest.mark.parametrize(
    "given",
    [
        {"type": "audio", "data": "AAAA", "mime_type": "audio/ogg"},
        {"type": "image", "data": 7},
        {"type": "image", "uri": "u", "mime_type": "image/png"},
        {"type": "video", "uri": "u"},
        {"type": "text", "text": ""},
    ],
)
def test_what_no_part_can_say_is_kept_whole(given: Any) -> None:
    assert CONTENTS.to_parts([given, "b"], 0) == (
        [{"type": "text", "text": "b"}],
        [given, {"type": "text"}],
    )
    assert CONTENTS.filled([given], iter([]), 0) == [given]


def test_a_content_whose_words_are_gone_is_left_out_and_another_takes_its_place() -> None:
    assert CONTENTS.filled([{"type": "text"}, 3], iter([]), 0) == []
    picture = {"type": "image_url", "image_url": "https://x.test/a.png"}
    assert CONTENTS.filled([{"type": "text"}], iter([picture]), 0) == [
        {"type": "image", "uri": "https://x.test/a.png"}
    ]
    assert CONTENTS.to_parts([{"type": "text"}], 0) == ([], [])


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ({"type": "text", "text": 3}, "a text part must hold a string, not int"),
        ({"type": "image_url", "image_url": {}}, "an `image_url` part needs a `url`"),
        ({"type": "image_url", "image_url": "data:,x"}, "a data URL must be base64"),
        ({"type": "file", "file": {"file_id": "f"}}, "a `file` part needs `file_data`"),
        ({"type": "input_audio"}, "an `input_audio` part needs `data`"),
        ({"type": 3}, "a part of `content` needs a `type`, a string, not int"),
    ],
)
def test_what_gemini_cannot_take_is_refused(part: Any, sentence: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        to_content(part, 4)
    assert str(caught.value).startswith(f"messages[4]: {sentence}")


def test_a_part_that_is_newer_goes_as_it_came_and_bare_base64_is_a_pdf() -> None:
    assert to_content({"type": "hologram", "depth": 3}, 0) == {"type": "hologram", "depth": 3}
    assert to_content({"type": "file", "file": {"file_data": "AAAA"}}, 0) == {
        "type": "document",
        "data": "AAAA",
        "mime_type": "application/pdf",
    }
