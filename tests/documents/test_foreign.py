"""Documents of strangers: what they mean is taken, within bounds."""

import time

import pytest

from vespe.documents.foreign import parse_foreign
from vespe.errors import InvalidDocument


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": NaN, "b": 1e999}', {"a": None, "b": None}),
        ("\ufeff{}", {}),
        ("{a: [1, b]}", {"a": [1, "b"]}),
        (
            "country: no\nwhen: 2020-01-01\n200: ok\nv: 1.0\nx: 0x1F\nt: 12:30:45",
            {
                "country": "no",
                "when": "2020-01-01",
                "200": "ok",
                "v": 1.0,
                "x": "0x1F",
                "t": "12:30:45",
            },
        ),
        (
            "a: &x {p: 1}\nb: *x\nc: {<<: *x, q: 2}\nd: {p: 3, <<: [*x]}",
            {"a": {"p": 1}, "b": {"p": 1}, "c": {"p": 1, "q": 2}, "d": {"p": 3}},
        ),
        ("a: '1'\nb: !!str 2\nc: ~\nd:", {"a": "1", "b": "2", "c": None, "d": None}),
        ("a: |\n  x\n---\nb: 2", {"a": "x\n"}),
        ("", None),
    ],
)
def test_what_is_meant_is_taken(text: str, value: object) -> None:
    assert parse_foreign(text.encode()) == value


def test_utf_16_is_read_by_its_mark() -> None:
    assert parse_foreign('{"a": "ü"}'.encode("utf-16")) == {"a": "ü"}


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)
)
MERGES = "a: &a {k: 1}\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} {{<<: [*{chr(97 + i)}, *{chr(97 + i)}]}}\n" for i in range(24)
)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (BOMB.encode(), "aliases"),
        (MERGES.encode(), "aliases"),
        (b"a: &a [*a]", "before its anchor"),
        (b"[" * 100_000, "nested"),
        (b"- " * 100_000, "nested"),
        (b"{" * 400 + b"}" * 400, "JSON|YAML|nested"),
        (b"a: b: c", "is not YAML"),
        (b'{"a": 1,,}', "is not JSON"),
        (b"\x00\x01", "is not YAML"),
        (b"\xff\xfe\xff", "is not text"),
        (b"caf\xe9: 1", "is not text in UTF-8"),
    ],
)
def test_what_cannot_be_read_ends_in_a_sentence_and_soon(data: bytes, said: str) -> None:
    began = time.process_time()
    with pytest.raises(InvalidDocument, match=said):
        parse_foreign(data, path="api.yaml")
    assert time.process_time() - began < 2
