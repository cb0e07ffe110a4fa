"""Strict JSON between bytes and data."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

from vespe import defaults
from vespe.documents.nesting import deeper_than
from vespe.documents.pointers import escape_pointer
from vespe.errors import InvalidDocument, StorageError
from vespe.files.atomic import read_bytes
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue


def text_encoder(encoder: json.JSONEncoder) -> Callable[[Any], str]:
    """Return `encoder.encode` as a function whose C part is made once, not for each value: that is
    half of a small value's cost.

    Raises what the encoder raises: TypeError, ValueError (a value that holds itself too),
    RecursionError.
    """
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    strings = (
        json.encoder.encode_basestring_ascii
        if encoder.ensure_ascii
        else json.encoder.encode_basestring
    )
    key, item = encoder.key_separator, encoder.item_separator
    chunks = make(
        None,
        encoder.default,
        strings,
        None,
        key,
        item,
        encoder.sort_keys,
        encoder.skipkeys,
        encoder.allow_nan,
    )

    def encode(value: Any) -> str:
        try:
            return "".join(chunks(value, 0))
        except RecursionError:
            return encoder.encode(value)

    return encode


_MAX_INTEGER_DIGITS = 4300
_quoted = json.encoder.encode_basestring
_CONSTANTS: Final = {None: "null", True: "true", False: "false"}
_CONFLICT = pattern(r"(?m)^([<=>|])\1{6}(?: .*)?\r?$")
"""A mark of git's."""
_BRACKET = pattern(r'"(?:[^"\\]|\\.)*"|[][{}]')
_COMPACT = text_encoder(
    json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
)
_TOKEN = pattern(r'(?P<key>"(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]|[-+.\w]+')


def parse_json(
    data: bytes | str, *, path: str = "", limit: int = defaults.MAX_FILE_BYTES
) -> JsonValue:
    """Read strict JSON (RFC 8259, and narrower): UTF-8, no BOM, no duplicate keys, NaN, infinities
    or lone surrogates.

    `limit` is in bytes; at most 64 levels. Raises InvalidDocument with the line and column where
    they are known.
    """
    if len(data) > limit:
        raise InvalidDocument(f"is larger than {limit} bytes", path=path)
    text = decode_utf8(data, path) if isinstance(data, bytes) else data
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        refuse_conflict(text, path=path)
        raise InvalidDocument(
            f"is not JSON: {error.msg}", path=path, line=error.lineno, column=error.colno
        ) from None
    except _Refusal as refusal:
        raise InvalidDocument(
            str(refusal), path=path, line=_line_of(text, refusal.needle)
        ) from None
    except RecursionError:
        raise _too_deep(text, path) from None
    if text.count("[") + text.count("{") > defaults.MAX_JSON_DEPTH and deeper_than(
        value, defaults.MAX_JSON_DEPTH
    ):
        raise _too_deep(text, path)
    if "\\u" in text or not (isinstance(data, bytes) or text.isascii()):
        _refuse_surrogates(value, path)
    return value


def refuse_ambiguous(text: str) -> None:
    """Raise InvalidDocument for JSON that others read in several ways: a key that comes twice, NaN,
    an infinity, a number that is none here. What is no JSON at all is not told.
    """
    try:
        _DECODER.decode(text)
    except json.JSONDecodeError:
        return
    except RecursionError:
        raise _too_deep(text, "") from None
    except _Refusal as refusal:
        raise InvalidDocument(str(refusal)) from None


def refuse_conflict(
    text: str,
    *,
    path: str,
    hint: str = "keep one side of each conflict and remove git's conflict markers",
) -> None:
    """Raise InvalidDocument, with the lines, for a text in which git left a merge conflict."""
    places: list[str] = []
    first = began = 0
    for mark in _CONFLICT.finditer(text):
        line = text.count("\n", 0, mark.start()) + 1
        first = first or line
        if mark[1] == "<":
            began = line
        elif mark[1] == ">" or not began:
            places.append(f"{began}-{line}" if began else str(line))
            began = 0
    if not first:
        return
    places += [str(began)] if began else []
    lines = f"lines {', '.join(places[:5])}{' and more' if len(places) > 5 else ''}"
    raise InvalidDocument(
        f"contains an unresolved merge conflict: {lines}",
        path=path,
        line=first,
        hint=hint,
    )


def parse_object(
    data: bytes | str, *, path: str = "", limit: int = defaults.MAX_FILE_BYTES
) -> JsonObject:
    """Read strict JSON whose root is an object; raises InvalidDocument where it is anything
    else.
    """
    value = parse_json(data, path=path, limit=limit)
    if not isinstance(value, dict):
        raise InvalidDocument(f"must be a JSON object, not {_kind(value)}", path=path, line=1)
    return value


def dump_json(value: JsonValue) -> str:
    """Write JSON for a file: two-space indent, no ASCII escapes, a final newline; a lone surrogate
    becomes U+FFFD.

    Raises ValueError for NaN and infinities, TypeError for what JSON cannot say.
    """
    try:
        text = _indented(value, "\n")
    except (_Odd, RecursionError):
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return repair_surrogates(text) + "\n"


class _Odd(Exception):
    """A value that is left to the standard library: a number with a point, or no JSON at all."""


def _indented(value: Any, line: str) -> str:
    """Return what `json.dumps` returns with an indent of two, in a third of its time: with an
    indent it goes without its C code. `line` is a line end with the indent of what holds the value.
    """
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is dict:
        if not value:
            return "{}"
        inner = line + "  "
        members = []
        for key, item in value.items():
            if type(key) is not str:
                raise _Odd
            # most values are strings, and a call for each would take as long as all the rest
            text = _quoted(item) if type(item) is str else _indented(item, inner)
            members.append(f"{_quoted(key)}: {text}")
        return "{" + inner + f",{inner}".join(members) + line + "}"
    if kind is list or kind is tuple:
        if not value:
            return "[]"
        inner = line + "  "
        return "[" + inner + f",{inner}".join([_indented(one, inner) for one in value]) + line + "]"
    if value is None or value is True or value is False:
        return _CONSTANTS[value]
    if kind is int:
        return int.__repr__(value)
    raise _Odd


def compact_json(value: JsonValue) -> str:
    """Write JSON for a line or an argument: no spaces after separators, no ASCII escapes; a lone
    surrogate becomes U+FFFD.

    Raises as `dump_json` does.
    """
    return repair_surrogates(_COMPACT(value))


def compact_bytes(value: JsonValue) -> bytes:
    """Write JSON as `compact_json` does, in UTF-8."""
    text = _COMPACT(value)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return repair_surrogates(text).encode("utf-8")


def repair_surrogates(text: str) -> str:
    """Return `text` with each lone surrogate, which UTF-8 cannot say, as U+FFFD."""
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if _has_surrogate(text)
        else text
    )


def read_object(
    path: str | os.PathLike[str], *, limit: int = defaults.MAX_FILE_BYTES
) -> JsonObject:
    """Read a file that holds one strict JSON object."""
    name = os.fspath(path)
    return parse_object(read_bytes(name, limit=limit), path=name, limit=limit)


def read_object_if_there(
    path: str | os.PathLike[str], *, limit: int = defaults.MAX_FILE_BYTES
) -> JsonObject:
    """Read a file that holds one strict JSON object; an empty one stands for a file that does not
    exist.
    """
    try:
        return read_object(path, limit=limit)
    except StorageError:
        if not os.path.lexists(path):
            return {}
        raise


class _Refusal(ValueError):
    """JSON that parses and that Vespe refuses: for the token `needle`, or (None) for a key that
    comes twice.
    """

    def __init__(self, message: str, needle: str | None) -> None:
        super().__init__(message)
        self.needle = needle


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add gives None
        raise _Refusal(f"has the key {_shown(json.dumps(twice))} twice in one object", None)
    return made


def _constant(name: str) -> NoReturn:
    raise _Refusal(f"holds {name}, which JSON cannot represent", name)


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _Refusal(f"holds {_shown(text)}, a number that is too large for a 64-bit float", text)
    return number


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def _integer(text: str) -> int:
    if len(text) > _MAX_INTEGER_DIGITS:
        raise _Refusal(f"holds an integer of {len(text)} digits", text)
    return int(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_integer
)


def decode_utf8(data: bytes, path: str) -> str:
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise InvalidDocument(
            "begins with a byte order mark; save it as UTF-8 without one", path=path, line=1
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDocument(
            f"is not UTF-8: byte 0x{data[error.start]:02x}", path=path, line=line
        ) from None


def _too_deep(text: str, path: str) -> InvalidDocument:
    depth, line = 0, 0
    for token in _BRACKET.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > defaults.MAX_JSON_DEPTH:
            line = text.count("\n", 0, token.start()) + 1
            break
    return InvalidDocument(
        f"is nested deeper than {defaults.MAX_JSON_DEPTH} levels", path=path, line=line
    )


def _refuse_surrogates(value: JsonValue, path: str) -> None:
    for pointer, text in _texts(value, ""):
        if _has_surrogate(text):
            raise InvalidDocument(
                "contains a lone surrogate, which UTF-8 cannot encode", path=path, pointer=pointer
            )


def _texts(value: JsonValue, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield pointer, key
            yield from _texts(item, f"{pointer}/{escape_pointer(key)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{pointer}/{index}")


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _line_of(text: str, needle: str | None) -> int:
    """Return the line of the number or constant `needle`, or (None) of the first key that its
    object has already.
    """
    keys: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word == "{":
            keys.append(set())
        elif word == "}":
            keys.pop()
        elif token["key"] and needle is None:
            if (key := json.loads(token["key"])) in keys[-1]:
                return text.count("\n", 0, token.start()) + 1
            keys[-1].add(key)
        elif needle is not None and word == needle:
            return text.count("\n", 0, token.start()) + 1
    return 0


_KINDS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda v: v is None, "null"),
    (lambda v: isinstance(v, bool), "a boolean"),
    (lambda v: isinstance(v, (int, float)), "a number"),
    (lambda v: isinstance(v, str), "a string"),
    (lambda v: isinstance(v, list), "an array"),
)


def _kind(value: JsonValue) -> str:
    return next((name for holds, name in _KINDS if holds(value)), "an object")
