"""A tool's result as text."""

from vespe.adapters import result_texts


def test_results_are_text_as_they_are_or_json() -> None:
    assert [result_texts.text_of(value) for value in ("a\ud800", {"a": [1]}, None, True)] == [
        "a\ufffd",
        '{"a":[1]}',
        "null",
        "true",
    ]
