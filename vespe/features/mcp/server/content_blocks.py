"""Whether a content block, and what may stand in it, is said as clients take it: they refuse the
whole answer for one that is not.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from vespe.lazy import binascii, pattern
from vespe.models import JsonObject

_NEEDED: Final[dict[str, dict[str, type]]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource": {"resource": dict},
    "resource_link": {"uri": str, "name": str},
}
_MOMENT: Final = pattern(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII
)
_ROLES: Final = ("user", "assistant")


def is_block(block: Any) -> bool:
    """Say whether a value is a content block of MCP."""
    if (
        not isinstance(block, dict)
        or not isinstance(kind := block.get("type"), str)
        or kind not in _NEEDED
    ):
        return False
    if not all(isinstance(block.get(key), wanted) for key, wanted in _NEEDED[kind].items()):
        return False
    return _is_well_said(block) and (kind != "resource" or _is_contents(block["resource"]))


def _is_well_said(value: JsonObject) -> bool:
    """Whether what may be said and is said is what a client takes; it refuses the whole result for
    one that is not.
    """
    return all(takes(value[key]) for key, takes in _SAID.items() if key in value)


def _is_base64(value: Any) -> bool:
    try:
        binascii.a2b_base64(value, strict_mode=True)
    except (TypeError, ValueError):
        return False
    return isinstance(value, str)


def _is_annotations(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    audience, priority = value.get("audience", []), value.get("priority", 0)
    if not isinstance(audience, list) or not all(role in _ROLES for role in audience):
        return False
    if (
        isinstance(priority, bool)
        or not isinstance(priority, (int, float))
        or not 0 <= priority <= 1
    ):
        return False
    moment = value.get("lastModified", "2025-01-01T00:00:00Z")
    return isinstance(moment, str) and bool(_MOMENT.fullmatch(moment))


def are_icons(value: Any) -> bool:
    """Say whether a value is what may stand in `icons`."""
    return isinstance(value, list) and all(_is_icon(icon) for icon in value)


def _is_icon(icon: Any) -> bool:
    if (
        not isinstance(icon, dict)
        or not isinstance(icon.get("src"), str)
        or not isinstance(icon.get("mimeType", ""), str)
    ):
        return False
    sizes = icon.get("sizes", [])
    return (
        isinstance(sizes, list)
        and all(isinstance(size, str) for size in sizes)
        and icon.get("theme", "light") in ("light", "dark")
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_contents(resource: JsonObject) -> bool:
    said = [resource[key] for key in ("text", "blob") if key in resource]
    return (
        isinstance(resource.get("uri"), str)
        and len(said) == 1
        and isinstance(said[0], str)
        and _is_well_said(resource)
    )


_SAID: Final[dict[str, Callable[[Any], bool]]] = {
    "annotations": _is_annotations,
    "_meta": _is_object,
    "mimeType": _is_text,
    "title": _is_text,
    "description": _is_text,
    "size": _is_size,
    "icons": are_icons,
    "data": _is_base64,
    "blob": _is_base64,
}
