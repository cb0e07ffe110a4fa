"""Make text from elsewhere inert: what can steer a terminal, hide or reorder what a person reads stands as an escape."""

import re

_INVISIBLE = (
    "\x7f-\x9f"  # DEL and C1
    "\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"  # directions, zero widths
    "\u2028\u2029"  # line separators
    "\ufff9-\ufffb"  # interlinear annotations
    "\ud800-\udfff"  # lone surrogates, which no terminal can be sent
    "\U000e0000-\U000e007f"  # tags, which a model reads and a person does not see
)
_TEXT = re.compile(f"[\x00-\x08\x0b-\x1f{_INVISIBLE}]")
_LINE = re.compile(f"[\x00-\x1f{_INVISIBLE}]")
_DOCUMENT = re.compile(f"[{_INVISIBLE}]")
_SPACE = str.maketrans("", "", "\n\t")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def inert(text: str) -> str:
    """Show control, direction, zero-width and tag characters as `\\x1b`, `\\u202e` or `\\U000e0041`; newline and tab stay."""
    if text.isascii() and text.translate(_SPACE).isprintable():
        return text  # as nearly all of it is: looking at each character takes much longer
    return _TEXT.sub(lambda found: _visible(found[0]), text)


def inert_line(text: str) -> str:
    """The same for what must stay on one line: newline, carriage return and tab stand as `\\n`, `\\r`, `\\t` too."""
    if text.isascii() and text.isprintable():
        return text
    return _LINE.sub(lambda found: _SHORT.get(found[0]) or _visible(found[0]), text)


def inert_json(document: str) -> str:
    """The same inside JSON text, as `\\uXXXX` (two of them past U+FFFF): what it parses to does not change.

    C0 characters need no care: JSON holds them only as escapes or as white space between its tokens.
    """
    return _DOCUMENT.sub(lambda found: _json_escape(found[0]), document)


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
