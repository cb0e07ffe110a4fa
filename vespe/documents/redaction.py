"""Take granted secrets out of what a tool gives back, in the forms that programs write them in."""

import re
import string
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple, Self, TypeAlias

from vespe.lazy import binascii, pattern
from vespe.models import JsonValue
from vespe.records import dataclass

MASK: Final = "***"
"""What stands where a secret stood."""
SHORTEST: Final = 4
"""What is shorter is found as a whole word alone, since it stands in many a text."""
_SHORTEST_LINE: Final = 8
_NESTED_ESCAPES: Final = 2
_STANDARD: Final = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
_BASE64: Final = (*_STANDARD[:-2], "+-", "/_")
"""What stands for each six bits, in either alphabet."""

_Span: TypeAlias = tuple[int, int]
_Match: TypeAlias = re.Match[str]

_LINE_END: Final = pattern(r"[\r\n]")
_PERCENT: Final = pattern(r"%[0-9A-Fa-f]{2}")
_ESCAPE: Final = pattern(
    r"\\(?:u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|U00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}|[nrtbf\"'\\/])"
)
_SHORT_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def redact(value: JsonValue, secrets: Collection[str]) -> JsonValue:
    """Return a copy of `value` with `***` for each secret in its strings, keys included.

    Found are the secret itself, its hex, and its base64 wherever it stands in a longer encoded
    text, to the last bit, each of them also percent-encoded, and with the escapes of JSON or
    Python, twice over too; hex and base64 also across wrapped lines; of a secret of several lines
    each line of 8 characters or more. A number that is exactly a secret becomes `***`. A secret of
    fewer than 4 characters is found only as a whole word as it is: its encodings are in every other
    text. A blank one is not looked for. Keys that become the same keep apart by a number. Redact
    before cutting: half a secret is not found. Time is linear in the text for each secret.
    """
    sought = _Sought.of(secrets)
    return _redacted(value, sought) if sought.plain or sought.word else value


class _Form(NamedTuple):
    """A text to find, and what belongs to it where it is beside it: one of `lead` before, one of
    `trail` and its padding after.
    """

    text: str
    lead: str = ""
    trail: str = ""
    padding: int = 0

    def spans(self, text: str) -> Iterator[_Span]:
        start = text.find(self.text)
        while start >= 0:
            end = start + len(self.text)
            yield start - (start > 0 and text[start - 1] in self.lead), self._past(text, end)
            start = text.find(self.text, end)

    def _past(self, text: str, end: int) -> int:
        if end == len(text) or text[end] not in self.trail:
            return end
        return end + 1 + (self.padding if text.startswith("=" * self.padding, end + 1) else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """What to look for: texts as they are, encodings that programs wrap into lines, short whole
    words, numbers.
    """

    plain: frozenset["_Form"]
    encoded: frozenset["_Form"]
    word: re.Pattern[str] | None
    numbers: frozenset[str]

    @classmethod
    def of(cls, secrets: Collection[str]) -> Self:
        given = {secret for secret in secrets if secret.strip()}
        long = {part for secret in given for part in _parts(secret) if len(part) >= SHORTEST}
        short = sorted(re.escape(secret) for secret in given if len(secret) < SHORTEST)
        return cls(
            plain=frozenset(_Form(form) for secret in long for form in _plain_forms(secret)),
            encoded=frozenset(form for secret in long for form in _encoded_forms(_bytes(secret))),
            word=re.compile(rf"(?<!\w)(?:{'|'.join(short)})(?!\w)") if short else None,
            numbers=frozenset(long),
        )


def _parts(secret: str) -> Iterator[str]:
    """The secret, and its lines: a tool may give it back line by line, or without the newline that
    ends a file.
    """
    yield from (secret, secret.strip())
    lines = [line.strip() for line in secret.splitlines()]
    yield from (line for line in lines if len(line) >= _SHORTEST_LINE)


def _bytes(secret: str) -> bytes:
    """The bytes in the environment: a value that is no UTF-8 arrives with surrogates for its odd
    bytes.
    """
    try:
        return secret.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return secret.encode("utf-8", "replace")


def _plain_forms(secret: str) -> Iterator[str]:
    """The secret, as output that is no UTF-8 is repaired, and as the bytes that percent escapes are
    read as.
    """
    data = _bytes(secret)
    yield from (secret, data.decode("utf-8", "replace"))
    yield from (data.decode("latin-1"), data.decode("latin-1").replace(" ", "+"))


def _encoded_forms(data: bytes) -> Iterator[_Form]:
    yield from (_Form(data.hex()), _Form(data.hex().upper()))
    for before in range(3):
        yield from _base64_forms(data, before)


def _base64_forms(data: bytes, before: int) -> Iterator[_Form]:
    """The secret in base64 after so many other bytes, in both alphabets.

    The characters at both ends hold bits of what stands around the secret too; those between are
    its alone.
    """
    text = binascii.b2a_base64(bytes(before) + data, newline=False).decode("ascii")
    first, last = before * 8, (before + len(data)) * 8
    core = text[(first + 5) // 6 : last // 6]
    low, high = -first % 6, last % 6
    lead = "".join(_BASE64[_STANDARD.index(text[first // 6]) :: 2**low]) if low else ""
    least = _STANDARD.index(text[last // 6]) if high else 0
    trail = "".join(_BASE64[least : least + 2 ** (6 - high)]) if high else ""
    for form in (core, core.replace("+", "-").replace("/", "_")):
        yield _Form(form, lead=lead, trail=trail, padding=-last % 6 // 2)


def _redacted(value: JsonValue, sought: _Sought) -> JsonValue:
    if isinstance(value, str):
        return _redacted_text(value, sought)
    if isinstance(value, dict):
        return _redacted_object(value, sought)
    if isinstance(value, (list, tuple)):
        return [_redacted(item, sought) for item in value]
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and str(value) in sought.numbers
    ):
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
    spans = [span for form in sought.plain for span in form.spans(text)]
    spans += _Reading(text).places(sought.encoded)
    for reading in _readings(text):
        spans += reading.places(sought.plain)
        spans += _Reading(reading).places(sought.encoded)
    if sought.word is not None:
        spans += [found.span() for found in sought.word.finditer(text)]
    return _masked(text, spans) if spans else text


class _Reading:
    """A text as its reader takes it: each unit of another text as what it means, one character or
    none.
    """

    def __init__(
        self,
        of: "_Reading | str",
        *,
        unit: re.Pattern[str] = _LINE_END,
        meaning: Callable[[_Match], str] | None = None,
    ) -> None:
        self.of, self.unit, self.meaning = of, unit, meaning or _nothing
        self.written: str = of if isinstance(of, str) else of.text
        self.text: str = unit.sub(self.meaning, self.written)

    @cached_property
    def units(self) -> tuple[list[int], list[int], list[int]]:
        """Where each unit begins and ends in the text as read, and by how much what follows it has
        moved; rarely needed.
        """
        begins: list[int] = []
        ends: list[int] = []
        shifts = [0]
        for found in self.unit.finditer(self.written):
            begins.append(found.start() - shifts[-1])
            ends.append(begins[-1] + len(self.meaning(found)))
            shifts.append(found.end() - ends[-1])
        return begins, ends, shifts

    def places(self, forms: Iterable[_Form]) -> Iterator[_Span]:
        """Find each form, as places in the text as it was first written."""
        return (self._place(*span) for form in forms for span in form.spans(self.text))

    def _place(self, start: int, end: int) -> _Span:
        begins, ends, shifts = self.units
        start += shifts[bisect_right(ends, start)]
        end += shifts[bisect_left(begins, end)]
        return (start, end) if isinstance(self.of, str) else self.of._place(start, end)


def _readings(text: str) -> Iterator[_Reading]:
    """The text with its percent escapes read, and with its backslash escapes read, once and
    again.
    """
    if "%" in text:
        yield _Reading(text, unit=_PERCENT, meaning=_percent_meaning)
    reading: str | _Reading = text
    written = text
    for _ in range(_NESTED_ESCAPES):
        if "\\" in written:
            reading = _Reading(reading, unit=_ESCAPE, meaning=_escape_meaning)
            written = reading.text
            yield reading


def _nothing(_: _Match) -> str:
    return ""


def _percent_meaning(found: _Match) -> str:
    return chr(int(found[0][1:], 16))


def _escape_meaning(found: _Match) -> str:
    escape = found[0][1:]
    if len(escape) == 1:
        return _SHORT_ESCAPES.get(escape, escape)
    if len(escape) == 11:
        return chr(0x10000 + ((int(escape[1:5], 16) & 0x3FF) << 10) + (int(escape[7:], 16) & 0x3FF))
    return chr(int(escape[1:], 16))


def _masked(text: str, spans: Iterable[_Span]) -> str:
    """Put one mask for each group of overlapping places: an early one must not leave the rest of a
    later one.
    """
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start >= done:
            pieces += (text[done:start], MASK)
        done = max(done, end)
    return "".join((*pieces, text[done:]))
