"""What became of a call, as the result of `tools/call`.

What a model is told is bounded: `content` is. Clients check `structuredContent` against the output
schema that they were told, so that it stays whole where there is one; without one it is left out
where `content` is a part. Some clients show their model `structuredContent` alone (Claude Code,
Codex, VS Code): `mcp serve --results bounded` tells of no output schema.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeGuard

from vespe.adapters import result_texts, tool_errors
from vespe.adapters.cost import CHARACTERS_PER_TOKEN
from vespe.adapters.large_results.handles import handle_in
from vespe.defaults import MODEL_TOKENS
from vespe.features.mcp.server import content_blocks, kept_results, revisions
from vespe.features.mcp.server.served_client import ServedClient
from vespe.models import JsonObject, JsonValue, Outcome, Tool


class Called(NamedTuple):
    """A call that was made: its `tool` where what it gave is bounded, and the output schema that
    clients were told of it. `could_ask` says that a client that elicits would have been asked.
    """

    outcome: Outcome
    tool: Tool | None = None
    output_schema: JsonObject | None = None
    could_ask: bool = False


_OWN_KEYS: Final = {"content", "structuredContent", tool_errors.MCP_IS_ERROR, "_meta"}
_BESIDE: Final = (tool_errors.MCP_IS_ERROR, "_meta")
_APART: Final = ("image", "audio", "resource_link")


def result_of(called: Called, revision: str, *, client: ServedClient | None = None) -> JsonObject:
    """Return the result of `tools/call` as a revision says it; with `client` what is too large for
    a model is a part, with a handle that holds for that client.

    What failed is an `isError` result in words that a model can act on. A result that is itself one
    of `tools/call` (`{"content": [blocks], …}`) of a tool without an output schema stands as it is.
    """
    outcome = called.outcome
    value, failed = tool_errors.outcome_of(outcome)
    if not failed and called.output_schema is None and is_tool_result(value):
        shown = _bounded(called, _size(value), client, apart=_is_apart)
        made = _sieved(value if shown is None else _ready(value, shown.result), revision)
        return revisions.complete(_linked(made, shown, revision, client), revision)
    text = result_texts.text_of(value)
    shown = _bounded(called, len(text), client, apart=lambda block: False)
    if shown is not None:
        text = result_texts.text_of(tool_errors.outcome_of(shown)[0])
    said = _said(called, value, text, revision, whole=shown is None)
    return revisions.complete(_linked(said, shown, revision, client) | _noted(outcome), revision)


def _bounded(
    called: Called,
    size: int,
    client: ServedClient | None,
    *,
    apart: Callable[[JsonValue], bool],
) -> Outcome | None:
    """Return what a model is told of a result that is too large for it, None of any other."""
    tool, outcome = called.tool, called.outcome
    if client is None or tool is None:
        return None
    tokens = tool.model_tokens or MODEL_TOKENS
    if isinstance(tokens, str):  # "whole"
        return None
    if size <= tokens * CHARACTERS_PER_TOKEN and not outcome.truncated:
        return None
    shown = client.results.shown(tool, outcome, place=None, apart=apart)
    client.forget_oldest()
    return None if shown is outcome else shown


def _size(value: JsonObject) -> int:
    """Return about how many characters of a ready result a model is told."""
    return sum(len(str(block)) for block in value["content"] if not _is_apart(block))


def _ready(value: JsonObject, shown: JsonValue) -> JsonObject:
    """Return a ready result with the part of its content that is shown."""
    content = shown["content"] if isinstance(shown, dict) else [{"type": "text", "text": shown}]
    return {"content": content, **{key: value[key] for key in _BESIDE if key in value}}


def _is_apart(block: JsonValue) -> bool:
    """Whether a content block is no text: it is not counted, and stays."""
    if not isinstance(block, dict) or not content_blocks.is_block(block):
        return False
    return block["type"] in _APART or (block["type"] == "resource" and "blob" in block["resource"])


def _said(called: Called, value: JsonValue, text: str, revision: str, *, whole: bool) -> JsonObject:
    outcome, output_schema = called.outcome, called.output_schema
    failed = outcome.error is not None
    content = [{"type": "text", "text": text}]
    if failed or outcome.truncated:
        # What was cut no longer fits the schema that clients hold a result to.
        return {"content": content} | tool_errors.mcp_field_of(failed or output_schema is not None)
    result: JsonObject = {"content": content} | tool_errors.mcp_field_of(False)
    any_value = output_schema is not None and revisions.structures_any(revision)
    fits = any_value or (isinstance(value, dict) and revisions.has_structure(revision))
    if fits and (whole or revisions.tells_output(output_schema, revision)):
        result["structuredContent"] = value
    return result


def _linked(
    result: JsonObject, shown: Outcome | None, revision: str, client: ServedClient | None
) -> JsonObject:
    """Return a result with a link to the whole beside the part that is told."""
    if shown is None or client is None or not revisions.takes_block("resource_link", revision):
        return result
    texts = [shown.error.message] if shown.error else _texts(result)
    handle = next((found for text in texts if (found := handle_in(text))), None)
    if handle is None:  # it could not be kept
        return result
    link = kept_results.link_to(handle, client.results)
    return result | {"content": [*result["content"], link]}


def _texts(result: JsonObject) -> list[str]:
    return [block["text"] for block in result["content"] if block["type"] == "text"]


def _noted(outcome: Outcome) -> JsonObject:
    """Return `_meta` with what was repaired and where the whole of a result that was cut is, where
    there is any of it.
    """
    meta: JsonObject = {"vespe/notes": list(outcome.notes)} if outcome.notes else {}
    meta |= {"vespe/outputFile": outcome.output_file} if outcome.output_file else {}
    return {"_meta": meta} if meta else {}


def is_tool_result(value: JsonValue) -> TypeGuard[JsonObject]:
    """Say whether a tool's result is the result of a `tools/call` already: nothing but content
    blocks and what goes with them.
    """
    if (
        not isinstance(value, dict)
        or not value.keys() <= _OWN_KEYS
        or not isinstance(value.get("content"), list)
    ):
        return False
    if not isinstance(value.get(tool_errors.MCP_IS_ERROR, False), bool) or not isinstance(
        value.get("_meta", {}), dict
    ):
        return False
    return bool(value["content"]) and all(
        content_blocks.is_block(block) for block in value["content"]
    )


def _sieved(value: JsonObject, revision: str) -> JsonObject:
    """Return a ready result as the revision says it: a block that it does not know stands as the
    text of its JSON.
    """
    content = [
        block
        if revisions.takes_block(block["type"], revision)
        else {"type": "text", "text": result_texts.text_of(block)}
        for block in value["content"]
    ]
    structure = value.get("structuredContent")
    kept: JsonObject = {
        key: value[key] for key in ("structuredContent", "_meta") if value.get(key) is not None
    }
    if not revisions.has_structure(revision) or not (
        isinstance(structure, dict) or revisions.structures_any(revision)
    ):
        kept.pop("structuredContent", None)
    failed = value.get(tool_errors.MCP_IS_ERROR, False)
    return {"content": content} | tool_errors.mcp_field_of(failed) | kept
