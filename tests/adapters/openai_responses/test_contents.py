"""Parts of items and inner parts, each from the other."""

from typing import Any

import pytest

from vespe.adapters.openai_responses.contents import CONTENTS, to_content


@pytest.mark.parametrize(
    ("given", "part", "entry"),
    [
        (
            {"type": "input_text", "text": "a"},
            {"type": "text", "text": "a"},
            {"type": "input_text"},
        ),
        (
            {"type": "output_text", "text": "a", "annotations": [], "logprobs": []},
            {"type": "text", "text": "a"},
            {"type": "output_text", "annotations": [], "logprobs": []},
        ),
        (
            {"type": "refusal", "refusal": "no"},
            {"type": "refusal", "refusal": "no"},
            {"type": "refusal"},
        ),
        (
            {"type": "input_image", "image_url": "https://x.test/i", "detail": "high"},
            {"type": "image_url", "image_url": {"url": "https://x.test/i", "detail": "high"}},
            {"type": "input_image"},
        ),
        (
            {"type": "input_file", "file_id": "f", "filename": "a.pdf", "detail": "low"},
            {"type": "file", "file": {"file_id": "f", "filename": "a.pdf"}},
            {"type": "input_file", "detail": "low"},
        ),
        (
            {"type": "input_file", "file_url": "https://x.test/a.pdf"},
            {"type": "document_url", "document_url": {"url": "https://x.test/a.pdf"}},
            {"type": "input_file"},
        ),
    ],
)
def test_a_part_and_what_is_left_of_it_make_the_part_again(
    given: Any, part: Any, entry: Any
) -> None:
    assert CONTENTS.to_parts([given], 0) == ([part], [entry])
    assert CONTENTS.is_open(entry) and CONTENTS.filled([entry], iter([part]), 0) == [given]


def test_a_part_whose_words_are_gone_is_left_out_and_another_takes_its_place() -> None:
    entries = [{"type": "output_text", "annotations": []}, {"type": "refusal"}, 3]
    assert CONTENTS.filled(entries, iter([]), 0) == []
    assert CONTENTS.filled(entries, iter([{"type": "refusal", "refusal": "no"}]), 0) == [
        {"type": "refusal", "refusal": "no"}
    ]
    assert CONTENTS.filled(None, iter([]), 0) == []


def test_a_part_that_says_nothing_stands_for_none() -> None:
    assert CONTENTS.to_parts([{"type": "output_text"}], 0) == ([], [])
    assert CONTENTS.to_parts([{"type": "input_image", "file_id": "f"}], 0)[1] == [
        {"type": "input_image", "file_id": "f"}
    ]


def test_what_a_person_says_and_what_the_model_says_have_parts_of_their_own() -> None:
    text = {"type": "text", "text": "a"}
    refusal = {"type": "refusal", "refusal": "no"}
    assert [to_content(text, 0, spoken=s)["type"] for s in (True, False)] == [
        "output_text",
        "input_text",
    ]
    assert to_content(refusal, 0, spoken=False) == {"type": "input_text", "text": "no"}
    audio = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    assert to_content(audio, 0, spoken=False) == audio
