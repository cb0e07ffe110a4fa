"""What became of a call, as the result of `tools/call`."""

import binascii
import re
from collections.abc import Callable
from typing import Any, Final

from vespe.adapters import execution
from vespe.models import JsonObject, JsonValue
from vespe.outcomes import Outcome
from vespe.serve import dialects

_OWN_KEYS: Final = {"content", "structuredContent", "isError", "_meta"}
_NEEDED: Final[dict[str, dict[str, type]]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource": {"resource": dict},
    "resource_link": {"uri": str, "name": str},
}
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_ROLES: Final = ("user", "assistant")


def result_of(outcome: Outcome, output_schema: JsonObject | None, revision: str) -> JsonObject:
    """Give the result of `tools/call` as a revision says it.

    What failed is an `isError` result in words that a model can act on. A result that is itself one of `tools/call`
    (`{"content": [blocks], …}`) of a tool without an output schema stands as it is.
    """
    value, failed = execution.told(outcome)
    if not failed and output_schema is None and is_tool_result(value):
        return dialects.complete(_sieved(value, revision), revision)
    return dialects.complete(_said(outcome, value, output_schema, revision) | _noted(outcome), revision)


def _said(outcome: Outcome, value: JsonValue, output_schema: JsonObject | None, revision: str) -> JsonObject:
    failed = outcome.error is not None
    content = [{"type": "text", "text": execution.text_of(value)}]
    if failed or outcome.truncated:
        # What was cut no longer fits the schema that clients hold a result to.
        return {"content": content, "isError": failed or output_schema is not None}
    result: JsonObject = {"content": content, "isError": False}
    any_value = output_schema is not None and dialects.structures_any(revision)
    if any_value or (isinstance(value, dict) and dialects.has_structure(revision)):
        result["structuredContent"] = value
    return result


def _noted(outcome: Outcome) -> JsonObject:
    """Give `_meta` with what was repaired and where the whole of a result that was cut is, where there is any of it."""
    meta: JsonObject = {"vespe/notes": list(outcome.notes)} if outcome.notes else {}
    meta |= {"vespe/outputFile": outcome.output_file} if outcome.output_file else {}
    return {"_meta": meta} if meta else {}


def is_tool_result(value: JsonValue) -> bool:
    """Say whether a tool's result is the result of a `tools/call` already: nothing but content blocks and what goes with them."""
    if not isinstance(value, dict) or not value.keys() <= _OWN_KEYS or not isinstance(value.get("content"), list):
        return False
    if not isinstance(value.get("isError", False), bool) or not isinstance(value.get("_meta", {}), dict):
        return False
    return bool(value["content"]) and all(_is_block(block) for block in value["content"])


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict) or not isinstance(kind := block.get("type"), str) or kind not in _NEEDED:
        return False
    if not all(isinstance(block.get(key), wanted) for key, wanted in _NEEDED[kind].items()):
        return False
    return _is_well_said(block) and (kind != "resource" or _is_contents(block["resource"]))


def _is_well_said(value: JsonObject) -> bool:
    """Whether what may be said and is said is what a client takes; it refuses the whole result for one that is not."""
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
    if isinstance(priority, bool) or not isinstance(priority, (int, float)) or not 0 <= priority <= 1:
        return False
    moment = value.get("lastModified", "2025-01-01T00:00:00Z")
    return isinstance(moment, str) and bool(_MOMENT.fullmatch(moment))


def _are_icons(value: Any) -> bool:
    return isinstance(value, list) and all(_is_icon(icon) for icon in value)


def _is_icon(icon: Any) -> bool:
    if not isinstance(icon, dict) or not isinstance(icon.get("src"), str) or not isinstance(icon.get("mimeType", ""), str):
        return False
    sizes = icon.get("sizes", [])
    return isinstance(sizes, list) and all(isinstance(size, str) for size in sizes) and icon.get("theme", "light") in ("light", "dark")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_SAID: Final[dict[str, Callable[[Any], bool]]] = {
    "annotations": _is_annotations, "_meta": _is_object, "mimeType": _is_text, "title": _is_text, "description": _is_text,
    "size": _is_size, "icons": _are_icons, "data": _is_base64, "blob": _is_base64,
}  # fmt: skip


def _is_contents(resource: JsonObject) -> bool:
    said = [resource[key] for key in ("text", "blob") if key in resource]
    return isinstance(resource.get("uri"), str) and len(said) == 1 and isinstance(said[0], str) and _is_well_said(resource)


def _sieved(value: JsonObject, revision: str) -> JsonObject:
    """Give a ready result as the revision says it: a block that it does not know stands as the text of its JSON."""
    blocks = [
        block if dialects.takes_block(block["type"], revision) else {"type": "text", "text": execution.text_of(block)}
        for block in value["content"]
    ]
    structure = value.get("structuredContent")
    kept: JsonObject = {key: value[key] for key in ("structuredContent", "_meta") if value.get(key) is not None}
    if not dialects.has_structure(revision) or not (isinstance(structure, dict) or dialects.structures_any(revision)):
        kept.pop("structuredContent", None)
    return {"content": blocks, "isError": value.get("isError", False), **kept}
