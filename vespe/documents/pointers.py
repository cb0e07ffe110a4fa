"""JSON Pointers (RFC 6901): from the steps of a path to its text and back, and what a pointer
stands for.
"""

from collections.abc import Iterable
from typing import Any


def escape_pointer(token: str) -> str:
    """Escape one reference token of a JSON Pointer (RFC 6901, section 3)."""
    return token.replace("~", "~0").replace("/", "~1")


def pointer_to(steps: Iterable[str | int]) -> str:
    """Return the pointer of a path of keys and indexes; no steps are the whole document, `""`."""
    return "".join(f"/{escape_pointer(str(step))}" for step in steps)


def steps_of(pointer: str) -> tuple[str, ...]:
    """Return the tokens of a pointer; raises ValueError where it is none."""
    if not pointer:
        return ()
    if pointer[0] != "/" or "~" in pointer.replace("~0", "").replace("~1", ""):
        raise ValueError(
            f"{pointer!r} is not a JSON Pointer, which begins with / and escapes ~ as ~0 and / as "
            "~1"
        )
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def resolve_pointer(document: Any, pointer: str) -> Any:
    """Return what `pointer` stands for in `document`; raises LookupError where nothing does,
    ValueError for no pointer.
    """
    value = document
    for token in steps_of(pointer):
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and _is_index(token) and int(token) < len(value):
            value = value[int(token)]
        else:
            raise LookupError(pointer)
    return value


def _is_index(token: str) -> bool:
    return token == "0" or (
        0 < len(token) < 10 and token.isascii() and token.isdecimal() and token[0] != "0"
    )
