"""Text from elsewhere is inert: what steers a terminal or hides from a reader stands as an escape.
P49.
"""

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.documents.escaping import inert, inert_json, inert_line

DANGEROUS = [
    *range(0x09),
    *range(0x0B, 0x20),
    *range(0x7F, 0xA0),
    0x061C,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    0x2060,
    *range(0x2066, 0x206A),
    0xFEFF,
    0xD800,
    0xDBFF,
    0xDC00,
    0xDFFF,
    *range(0xE0000, 0xE0080),
    0x00A0,
    0x00AD,
    0x034F,
    0x115F,
    0x1160,
    0x17B4,
    0x180B,
    0x180E,
    0x2003,
    0x2800,
    0x3000,
    0x3164,
    0xE000,
    0xFE00,
    0xFE0F,
    0xFFA0,
    0x0378,
    0x1BCA0,
    0x1D173,
    0xE0100,
    0xE01EF,
    0xE0200,
    0xF0000,
    0x10FFFF,
]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        (
            "\x1b]8;;https://evil.example\x07click\x1b]8;;\x07",
            "\\x1b]8;;https://evil.example\\x07click\\x1b]8;;\\x07",
        ),
        ("a\rb", "a\\x0db"),
        ("\x9b2J", "\\x9b2J"),
        ("user\u202ecod.exe", "user\\u202ecod.exe"),
        ("pay\u200bpal", "pay\\u200bpal"),
        ("hi\U000e0041\U000e0042", "hi\\U000e0041\\U000e0042"),
        ("\ud800", "\\ud800"),
        ("line\ttab\nnext", "line\ttab\nnext"),
        ("é ü 日本語 🙂 \u0301 \u3042", "é ü 日本語 🙂 \u0301 \u3042"),
        ("🙂\U000e0148\U000e0149", "🙂\\U000e0148\\U000e0149"),
        ("none\u00a0\u3000", "none\\xa0\\u3000"),
    ],
)
def test_p49_dangerous_characters_are_shown_and_all_others_stay(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_p49_a_line_stays_one_line() -> None:
    assert inert_line("a\nb\r\tc\u2028d\x1b") == "a\\nb\\r\\tc\\u2028d\\x1b"


@pytest.mark.parametrize("code", DANGEROUS, ids=hex)
def test_p49_no_dangerous_character_is_left(code: int) -> None:
    for made in (
        inert(f"a{chr(code)}b"),
        inert_line(f"a{chr(code)}b"),
        inert_json(json.dumps(f"a{chr(code)}b", ensure_ascii=False)),
    ):
        assert chr(code) not in made
        assert "a\\" in made


@pytest.mark.parametrize("code", DANGEROUS, ids=hex)
def test_inert_json_is_the_same_json(code: int) -> None:
    value = {f"k{chr(code)}": [f"\\{chr(code)}", 1]}
    assert json.loads(inert_json(json.dumps(value, ensure_ascii=False, indent=2))) == value


def test_inert_json_leaves_white_space_between_tokens() -> None:
    assert inert_json('{\r\n\t"a":\n1}') == '{\r\n\t"a":\n1}'


def test_an_astral_character_becomes_a_surrogate_pair_in_json() -> None:
    assert inert_json('"\U000e0041"') == '"\\udb40\\udc41"'


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_p49_what_is_shown_can_be_written_and_steers_nothing(text: str) -> None:
    line = inert_line(text)
    line.encode("utf-8")
    assert not any(
        unicodedata.category(c) == "Cc"
        or unicodedata.bidirectional(c) in ("RLO", "LRO", "RLI", "LRI", "FSI")
        for c in line
    )
    assert inert(inert(text)) == inert(text)
    assert json.loads(inert_json(json.dumps(text, ensure_ascii=False))) == text
