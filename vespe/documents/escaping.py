"""Make text from elsewhere inert: what can steer a terminal, hide or reorder what a person reads
stands as an escape.
"""

from collections.abc import Callable

from vespe.documents.unseen import is_seen
from vespe.lazy import pattern

_UNUSUAL = pattern("[^ -~]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SPACE = str.maketrans("", "", "\n\t")


def inert(text: str) -> str:
    """Show what a person does not see (`unseen.is_seen`) as `\\x1b`, `\\u202e` or `\\U000e0041`;
    newline and tab stay.
    """
    return _shown(text, _visible, keep="\n\t")


def inert_line(text: str) -> str:
    """The same for what must stay on one line: newline, carriage return and tab stand as `\\n`,
    `\\r`, `\\t` too.
    """
    return _shown(text, lambda one: _SHORT.get(one) or _visible(one), keep="")


def inert_json(document: str) -> str:
    """The same inside JSON text, as `\\uXXXX` (two of them past U+FFFF): what it parses to does not
    change.

    C0 characters need no care: JSON holds them only as escapes or as white space between its
    tokens.
    """
    return _shown(document, _json_escape, keep="\n\r\t")


def _shown(text: str, escape: Callable[[str], str], *, keep: str) -> str:
    if is_seen(text.translate(_SPACE) if keep else text):
        return text  # as nearly all of it is: looking at each character takes much longer
    return _UNUSUAL.sub(
        lambda found: found[0] if found[0] in keep or is_seen(found[0]) else escape(found[0]), text
    )


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
