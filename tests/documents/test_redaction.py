"""Granted secrets leave no trace in results, in any form that programs write them in. P36."""

import base64
import json
import re
import urllib.parse
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.documents.redaction import MASK, redact

TOKEN = "s3cr+t/Tök€n \"quoted\" & 'more' ~-_."

FORMS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "urlsafe base64": lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
    "base64 without padding": lambda s: base64.b64encode(s.encode()).decode().rstrip("="),
    "quote": urllib.parse.quote,
    "quote with nothing safe": lambda s: urllib.parse.quote(s, safe=""),
    "quote_plus": urllib.parse.quote_plus,
    "lower-case percent": lambda s: re.sub("%..", lambda m: m[0].lower(), urllib.parse.quote(s)),
    "encodeURIComponent": lambda s: urllib.parse.quote(s, safe="!'()*"),
    "percent for every byte": lambda s: "".join(f"%{byte:02X}" for byte in s.encode()),
    "json in json": lambda s: json.dumps(json.dumps(s)[1:-1])[1:-1],
    "upper-case unicode escapes": lambda s: "".join(
        f"\\u{ord(c):04X}" if ord(c) < 0x10000 else c for c in s
    ),
    "base64 in a query": lambda s: urllib.parse.quote_plus(base64.b64encode(s.encode())),
    "base64 in json with escaped slashes": lambda s: (
        base64.b64encode(s.encode()).decode().replace("/", "\\/")
    ),
    "json": lambda s: json.dumps(s)[1:-1],
    "json without ascii escapes": lambda s: json.dumps(s, ensure_ascii=False)[1:-1],
    "json with escaped slashes": lambda s: json.dumps(s)[1:-1].replace("/", "\\/"),
    "python": lambda s: repr(s)[1:-1],
    "hex": lambda s: s.encode().hex(),
    "upper-case hex": lambda s: s.encode().hex().upper(),
}


@pytest.mark.parametrize("form", FORMS, ids=lambda name: name.replace(" ", "-"))
@pytest.mark.parametrize(
    "secret",
    [TOKEN, "sk-ant-0123456789abcdef", "pässword", "a/b+c=d?", "back\\slash\nline", "four"],
)
def test_p36_a_secret_is_redacted_in_every_form(form: str, secret: str) -> None:
    written = FORMS[form](secret)
    shown = redact(f"before <{written}> after", [secret])
    assert written not in shown and secret not in shown
    assert shown.startswith(f"before <{MASK}") and shown.endswith("> after")


@pytest.mark.parametrize("before", range(6))
@pytest.mark.parametrize("after", range(4))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_p36_base64_of_a_longer_text_gives_the_secret_away_at_no_alignment(
    before: int, after: int, encode: Callable[[bytes], bytes]
) -> None:
    for secret in ("tok>en?0123456789", "tok>en?012345678", "tok>en?01234567"):
        text = encode(b"x" * before + secret.encode() + b"y" * after).decode()
        for written in (text, text.rstrip("=")):
            shown = redact({"header": f"Basic {written}, realm=x"}, [secret])["header"]
            assert shown == f"Basic {without(written, before, len(secret), after)}, realm=x"


def without(encoded: str, before: int, length: int, after: int) -> str:
    """Give a base64 text with a mask for every character that holds a bit of the secret, its
    padding with it.
    """
    return (
        encoded[: before * 8 // 6]
        + MASK
        + (encoded[((before + length) * 8 + 5) // 6 :] if after else "")
    )


@settings(max_examples=300, deadline=None)
@given(
    st.text(st.characters(max_codepoint=127), min_size=4, max_size=40).filter(
        lambda secret: len(secret.strip()) >= 4
    ),
    st.lists(st.integers(128, 255), max_size=9).map(bytes),
    st.lists(st.integers(128, 255), max_size=9).map(bytes),
    st.sampled_from([base64.b64encode, base64.urlsafe_b64encode]),
    st.booleans(),
)
def test_p36_no_bit_of_a_secret_is_left_in_base64(
    secret: str, before: bytes, after: bytes, encode: Callable[[bytes], bytes], padded: bool
) -> None:
    encoded = encode(before + secret.encode() + after).decode()
    text = encoded if padded else encoded.rstrip("=")
    left = redact(text, [secret]).split(MASK)
    allowed = without(text, len(before), len(secret), len(after)).split(MASK)
    assert len(left) >= 2 and allowed[0].startswith(left[0]) and allowed[1].endswith(left[-1])


@pytest.mark.parametrize("width", range(1, 30))
@pytest.mark.parametrize("before", range(3))
def test_p36_no_bit_of_a_secret_is_left_in_base64_of_wrapped_lines(width: int, before: int) -> None:
    encoded = base64.b64encode(b"x" * before + b"tok>en?01234567" + b"y" * 4).decode()
    wrapped = "\n".join(encoded[i : i + width] for i in range(0, len(encoded), width))
    shown = redact(wrapped, ["tok>en?01234567"]).replace("\n", "")
    assert shown == without(encoded, before, 15, 4)


def test_where_the_encoded_secret_begins_the_text_nothing_before_it_is_taken() -> None:
    secret = "\x00" * 9
    assert redact("A" * 12, [secret]) == MASK
    assert redact("b" + "A" * 12, [secret]) == f"b{MASK}"


@pytest.mark.parametrize("text", ["x=dG9rZW4tMDEyMzQ1==", "dG9rZW4tMDEyMzQ1=dG9rZW4tMDEyMzQ1&y=1"])
def test_what_is_no_padding_of_the_encoded_secret_stays(text: str) -> None:
    assert redact(text, ["token-012345"]) == text.replace("dG9rZW4tMDEyMzQ1", MASK)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_p36_base64_and_hex_wrapped_into_lines_are_found(newline: str) -> None:
    secret = "github_pat_" + "0123456789ABCDEFGHIJ" * 6
    encoded = base64.b64encode(b"user:" + secret.encode()).decode()
    for whole in (encoded, secret.encode().hex()):
        wrapped = newline.join(whole[i : i + 76] for i in range(0, len(whole), 76))
        shown = redact(f"first{newline}{wrapped}{newline}last", [secret])
        assert shown.count(MASK) == 1 and len(shown) < 40
        assert shown.startswith(f"first{newline}") and shown.endswith(f"{newline}last")


def test_p36_every_string_of_a_value_is_redacted_keys_included() -> None:
    value = {
        "a": [f"x{TOKEN}", {TOKEN: {"deep": (TOKEN,)}}],
        "n": 1,
        "t": True,
        "z": None,
        "f": 0.5,
    }
    assert redact(value, [TOKEN]) == {
        "a": [f"x{MASK}", {MASK: {"deep": [MASK]}}],
        "n": 1,
        "t": True,
        "z": None,
        "f": 0.5,
    }


def test_the_value_that_was_given_is_not_changed() -> None:
    value = {"a": [TOKEN]}
    redact(value, [TOKEN])
    assert value == {"a": [TOKEN]}


def test_keys_that_become_the_same_keep_apart() -> None:
    shown = redact(
        {"one-secret": 1, "two-secret": 2, MASK: 3, f"{MASK}1": 4}, ["one-secret", "two-secret"]
    )
    assert sorted(shown.values()) == [1, 2, 3, 4] and all(key.startswith(MASK) for key in shown)


def test_p36_a_number_that_is_a_secret_is_redacted() -> None:
    assert redact([True, False], ["True", "False"]) == [True, False]
    assert redact({"pin": 83749265, "other": 837492650, "yes": True}, ["83749265"]) == {
        "pin": MASK,
        "other": 837492650,
        "yes": True,
    }


def test_p36_of_overlapping_secrets_nothing_is_left() -> None:
    assert redact("abcdefgh", ["abcde", "defgh"]) == MASK
    assert redact("token-123", ["token", "token-123"]) == MASK
    assert redact("tokentoken", ["token"]) == MASK * 2


def test_p36_each_line_of_a_secret_of_several_lines_is_redacted() -> None:
    key = (
        "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nw0BAQEFAASCBKcwggSj\nshort\n-----END KEY-----\n"
    )
    assert redact(key.splitlines(), [key]) == [MASK, MASK, MASK, "short", MASK]
    assert redact(f"key: {key.strip()}.", [key]) == f"key: {MASK}."
    assert redact(key.replace("\n", "\r\n"), [key]).count("MII") == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pin 42 ok", f"pin {MASK} ok"),
        ("1424", "1424"),
        ("42", MASK),
        ("x42", "x42"),
        ("(42)", f"({MASK})"),
        ("NDI=", "NDI="),
        ("3432", "3432"),
    ],
)
def test_a_short_secret_is_found_as_a_whole_word_only(text: str, shown: str) -> None:
    assert redact(text, ["42"]) == shown


def test_a_short_secret_of_marks_is_found_too() -> None:
    assert redact("a .* b", [".*"]) == f"a {MASK} b"


@pytest.mark.parametrize("secrets", [[], [""], ["   ", "\n\n\n\n\n"]])
def test_blank_secrets_are_not_looked_for(secrets: list[str]) -> None:
    value: Any = {"a": "b     c\n\n\n\n\n\n"}
    assert redact(value, secrets) == value


def test_p36_a_secret_of_odd_bytes_is_found_as_given_and_as_repaired() -> None:
    data = b"odd\xff\xfebytes"
    secret = data.decode("utf-8", "surrogateescape")
    assert redact(
        [data.decode("utf-8", "replace"), data.hex(), base64.b64encode(data).decode()], [secret]
    )[:2] == [MASK, MASK]
    assert redact("a \ud800-secret", ["\ud800-secret"]) == f"a {MASK}"


@settings(max_examples=200, deadline=None)
@given(
    st.text(min_size=4, max_size=40).filter(str.strip),
    st.text(max_size=30),
    st.text(max_size=30),
    st.sampled_from(sorted(FORMS)),
)
def test_p36_no_secret_survives_in_any_surroundings(
    secret: str, before: str, after: str, form: str
) -> None:
    written = FORMS[form](secret)
    assert MASK in redact(f"{before}\n{written}\n{after}", [secret])
    assert len(written) <= 8 or written not in redact(f"<{written}>", [secret])


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet="abc", max_size=60),
    st.lists(st.text(alphabet="abc", min_size=4, max_size=8), max_size=3),
)
def test_text_without_a_secret_is_given_back_as_it_was(text: str, secrets: list[str]) -> None:
    shown = redact(text, secrets)
    assert (shown == text) == all(secret not in text for secret in secrets)
    assert all(secret not in shown for secret in secrets)


def test_large_texts_full_of_near_matches_and_matches_are_read_in_passes() -> None:
    secret = "a" * 2000
    assert redact("a" * 400_000, [secret]) == MASK * 200
    assert redact(("a" * 1999 + "b\n") * 200, [secret]) == ("a" * 1999 + "b\n") * 200
    assert redact(
        {f"{secret}{n}": n for n in range(300)} | {secret: 1, f"{secret}{secret}": 2}, [secret]
    ).keys() >= {MASK}
