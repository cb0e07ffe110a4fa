"""What became of a call, as the result of `tools/call`."""

from typing import Final

from vespe.adapters import execution
from vespe.mcp_server import content_blocks, revisions
from vespe.models import JsonObject, JsonValue
from vespe.outcomes import Outcome

_OWN_KEYS: Final = {"content", "structuredContent", "isError", "_meta"}


def result_of(outcome: Outcome, output_schema: JsonObject | None, revision: str) -> JsonObject:
    """Give the result of `tools/call` as a revision says it.

    What failed is an `isError` result in words that a model can act on. A result that is itself one of `tools/call`
    (`{"content": [blocks], …}`) of a tool without an output schema stands as it is.
    """
    value, failed = execution.told(outcome)
    if not failed and output_schema is None and is_tool_result(value):
        return revisions.complete(_sieved(value, revision), revision)
    return revisions.complete(_said(outcome, value, output_schema, revision) | _noted(outcome), revision)


def _said(outcome: Outcome, value: JsonValue, output_schema: JsonObject | None, revision: str) -> JsonObject:
    failed = outcome.error is not None
    content = [{"type": "text", "text": execution.text_of(value)}]
    if failed or outcome.truncated:
        # What was cut no longer fits the schema that clients hold a result to.
        return {"content": content, "isError": failed or output_schema is not None}
    result: JsonObject = {"content": content, "isError": False}
    any_value = output_schema is not None and revisions.structures_any(revision)
    if any_value or (isinstance(value, dict) and revisions.has_structure(revision)):
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
    return bool(value["content"]) and all(content_blocks.is_block(block) for block in value["content"])


def _sieved(value: JsonObject, revision: str) -> JsonObject:
    """Give a ready result as the revision says it: a block that it does not know stands as the text of its JSON."""
    content = [
        block if revisions.takes_block(block["type"], revision) else {"type": "text", "text": execution.text_of(block)}
        for block in value["content"]
    ]
    structure = value.get("structuredContent")
    kept: JsonObject = {key: value[key] for key in ("structuredContent", "_meta") if value.get(key) is not None}
    if not revisions.has_structure(revision) or not (isinstance(structure, dict) or revisions.structures_any(revision)):
        kept.pop("structuredContent", None)
    return {"content": content, "isError": value.get("isError", False), **kept}
