"""Take granted secrets out of what a tool gives back, in the forms that programs write them in."""

import binascii
import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from vespe.models import JsonValue

MASK = "***"
"""What stands where a secret stood."""
_SHORTEST = 4
_SHORTEST_LINE = 8
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def redact(value: JsonValue, secrets: Collection[str]) -> JsonValue:
    """Give a copy of `value` with `***` for each secret in its strings, keys included.

    Found are the secret itself, its percent, JSON and Python escapes, its hex, and its base64 wherever it stands in a
    longer encoded text, also across wrapped lines; of a secret of several lines each line of 8 characters or more. A
    number that is exactly a secret becomes `***` too. A secret of fewer than 4 characters is found only as a whole word,
    unencoded: its encodings are in every other text. A blank one is not looked for. Keys that become the same
    keep apart by a number. Time is linear in the text for each secret.
    """
    sought = _Sought.of(secrets)
    return _redacted(value, sought) if sought.plain or sought.encoded or sought.word else value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """What to look for: texts as they are, encodings that programs wrap into lines, and short whole words."""

    plain: frozenset[str]
    encoded: frozenset[str]
    word: re.Pattern[str] | None
    numbers: frozenset[str]

    @classmethod
    def of(cls, secrets: Collection[str]) -> "_Sought":
        given = {secret for secret in secrets if secret.strip()}
        long = {part for secret in given for part in _parts(secret) if len(part) >= _SHORTEST}
        short = sorted(re.escape(secret) for secret in given if len(secret) < _SHORTEST)
        return cls(
            plain=frozenset(form for secret in long for form in _plain_forms(secret)),
            encoded=frozenset(form for secret in long for form in _encoded_forms(_bytes(secret))),
            word=re.compile(rf"(?<!\w)(?:{'|'.join(short)})(?!\w)") if short else None,
            numbers=frozenset(long),
        )


def _parts(secret: str) -> Iterator[str]:
    """The secret, and its lines: a tool may give it back line by line, or without the newline that ends a file."""
    yield secret
    yield secret.strip()
    lines = [line.strip() for line in secret.splitlines()]
    yield from (line for line in lines if len(line) >= _SHORTEST_LINE)


def _bytes(secret: str) -> bytes:
    """The bytes in the environment: a value that is no UTF-8 arrives with surrogates for its odd bytes."""
    try:
        return secret.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return secret.encode("utf-8", "replace")


def _plain_forms(secret: str) -> Iterator[str]:
    data = _bytes(secret)
    yield secret
    yield data.decode("utf-8", "replace")
    for safe in (b"", b"/"):
        quoted = _percent(data, safe)
        yield from (quoted, _lower_percent(quoted), quoted.replace("%20", "+"), _lower_percent(quoted).replace("%20", "+"))
    for ascii_only in (True, False):
        escaped = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield from (escaped, escaped.replace("/", "\\/"))
    yield repr(secret)[1:-1]


def _percent(data: bytes, safe: bytes) -> str:
    return "".join(chr(byte) if byte in _UNRESERVED or byte in safe else f"%{byte:02X}" for byte in data)


def _lower_percent(quoted: str) -> str:
    return re.sub("%..", lambda found: found[0].lower(), quoted)


def _encoded_forms(data: bytes) -> Iterator[str]:
    yield from (data.hex(), data.hex().upper())
    for before in range(3):
        # The characters at both ends hold bits of what stands around the secret; those between are its alone.
        text = binascii.b2a_base64(bytes(before) + data, newline=False).decode("ascii")
        core = text[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
        yield from (core, core.replace("+", "-").replace("/", "_"))


def _redacted(value: JsonValue, sought: _Sought) -> JsonValue:
    if isinstance(value, str):
        return _redacted_text(value, sought)
    if isinstance(value, dict):
        return _redacted_object(value, sought)
    if isinstance(value, (list, tuple)):
        return [_redacted(item, sought) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and str(value) in sought.numbers:
        return MASK
    return value


def _redacted_object(value: dict[str, JsonValue], sought: _Sought) -> dict[str, JsonValue]:
    made: dict[str, JsonValue] = {}
    for key, item in value.items():
        shown = base = _redacted_text(key, sought)
        number = len(made)
        while shown in made:
            shown, number = f"{base}{number}", number + 1
        made[shown] = _redacted(item, sought)
    return made


def _redacted_text(text: str, sought: _Sought) -> str:
    spans = [span for form in sought.plain for span in _spans(text, form)]
    spans += _wrapped_spans(text, sought.encoded)
    if sought.word is not None:
        spans += [found.span() for found in sought.word.finditer(text)]
    return _masked(text, spans) if spans else text


def _spans(text: str, form: str) -> Iterator[tuple[int, int]]:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        yield start, end
        start = text.find(form, end)


def _wrapped_spans(text: str, forms: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Find forms as if the text had no line ends; each place is given in the text as it is."""
    breaks = [found.start() for found in re.finditer(r"[\r\n]", text)]
    shifts = [position - index for index, position in enumerate(breaks)]
    joined = text.replace("\r", "").replace("\n", "") if breaks else text
    for form in forms:
        for start, end in _spans(joined, form):
            yield start + bisect_right(shifts, start), end + bisect_right(shifts, end - 1)


def _masked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Put one mask for each group of overlapping places: an early one must not leave the rest of a later one."""
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start >= done:
            pieces += (text[done:start], MASK)
        done = max(done, end)
    return "".join((*pieces, text[done:]))
