"""Whole conversations and tools for property tests: what both formats can express, in its canonical form."""

import json
from typing import Any

from hypothesis import strategies as st

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30) | st.sampled_from(
    ["[name: bob]", "[name: eve]", "[name: ]", "[name]"]
)
"""Texts that say something; some look like our mark of a name."""
SPOKEN = TEXTS.filter(lambda text: bool(text.strip()))
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,20}", fullmatch=True)
IDS = st.from_regex(r"(call|toolu)_[A-Za-z0-9]{4,12}", fullmatch=True) | st.sampled_from(["vespe_id_6162", "vespe_id_613a62", "vespe_id_"])
FOREIGN_IDS = IDS | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(lambda i: not i.startswith("vespe_"))
SCALARS = st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
KEPT = st.sampled_from(["x", "{}", "", '{"vespe_arguments":"x"}', {"custom": 1}, {}, 3]).map(lambda held: {"vespe_arguments": held})
JSON_OBJECTS = KEPT | st.dictionaries(
    TEXTS,
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6),
    max_size=4,
)
MARKS = st.just({"cache_control": {"type": "ephemeral"}})
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGES = st.sampled_from(
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    ]
)
FILES = st.sampled_from(
    [
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0xLjQK", "filename": "a.pdf"}},
        {"type": "file", "file": {"file_data": "data:text/plain;base64,aGVsbG8=", "filename": "a.txt"}},
        {"type": "file", "file": {"file_id": "file-abc"}},
    ]
)
TEXT_PARTS = st.builds(lambda text, mark: {"type": "text", "text": text, **mark}, TEXTS, st.just({}) | MARKS)
SPOKEN_PARTS = st.builds(lambda text, mark: {"type": "text", "text": text, **mark}, SPOKEN, st.just({}) | MARKS)


@st.composite
def openai_conversations(draw: st.DrawFn, *, images: bool = True) -> list[dict[str, Any]]:
    """Draw a conversation in OpenAI's format that Anthropic can express: turns in order, each call answered, ids unique."""
    system = draw(st.lists(SPOKEN, max_size=3))
    messages: list[dict[str, Any]] = [{"role": "system", "content": text} for text in system]
    ids = iter(draw(st.lists(FOREIGN_IDS, min_size=12, max_size=12, unique=True)))
    messages += draw(users(images=images))
    for _ in range(draw(st.integers(0, 3))):
        names = draw(st.lists(NAMES, max_size=3))
        calls = [{"id": next(ids), "type": "function", "function": {"name": name, "arguments": draw(argument_texts())}} for name in names]
        messages += assistant_and_results(draw, calls, images=images)
        if not calls or draw(st.booleans()):
            messages += draw(users(images=images))
    return messages


def assistant_and_results(draw: st.DrawFn, calls: list[dict[str, Any]], *, images: bool) -> list[dict[str, Any]]:
    """Draw an assistant message with these calls, or some text, and the results."""
    if not calls:
        return [{"role": "assistant", "content": draw(SPOKEN | st.lists(SPOKEN_PARTS, min_size=1, max_size=3))}]
    content = draw(st.none() | SPOKEN | st.lists(SPOKEN_PARTS, min_size=2, max_size=3))
    made = [{"role": "assistant", "content": content, "tool_calls": calls}]
    for call in calls:
        parts = st.lists(TEXT_PARTS | IMAGES if images else TEXT_PARTS, min_size=1, max_size=2)
        result = {"role": "tool", "tool_call_id": call["id"], "content": draw(st.just("") | TEXTS | parts)}
        made.append({**result, **draw(st.sampled_from([{}, {"is_error": True}, {"is_error": False}]))})
    return made


@st.composite
def user_messages(draw: st.DrawFn, *, images: bool) -> dict[str, Any]:
    """Draw what a user says: a text, or several parts."""
    part = TEXT_PARTS | IMAGES | FILES if images else TEXT_PARTS
    parts = st.builds(lambda first, more: [first, *more], SPOKEN_PARTS, st.lists(part, min_size=1, max_size=3))
    message = {"role": "user", "content": draw(SPOKEN | parts)}
    return {**message, **draw(st.sampled_from([{}, {}, {"name": "alice"}, {"name": "bob"}]))}


@st.composite
def users(draw: st.DrawFn, *, images: bool) -> list[dict[str, Any]]:
    """Draw a turn of one user, or of a named one and others, of whom each is marked."""
    first, *more = draw(st.lists(user_messages(images=images), min_size=1, max_size=3))
    return [{**first, "name": "bob"}, *more] if more else [first]


def argument_texts() -> st.SearchStrategy[str]:
    """Draw arguments in the form that they come back in: compact JSON of an object, or a text that is none."""
    written = JSON_OBJECTS.map(lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    return written | st.sampled_from(['{"a": ', "[1]", "not json"])


SCHEMAS = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(
            NAMES,
            st.sampled_from(
                [
                    {"type": "string"},
                    {"type": "integer", "minimum": 0},
                    {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    {"enum": ["a", 1]},
                ]
            ),
            max_size=4,
        ),
        "additionalProperties": st.booleans(),
    }
)


ANTHROPIC_TEXTS = st.builds(
    lambda text, more: {"type": "text", "text": text, **more}, SPOKEN, st.just({}) | st.just({}) | MARKS | st.just({"citations": None})
)
CALL_FIELDS: st.SearchStrategy[Any] = st.just({}) | MARKS | st.just({"caller": {"type": "direct"}})
ASIDE = st.sampled_from(
    [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHh4"},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
    ]
)
RESULT_BLOCKS: st.SearchStrategy[Any] = ANTHROPIC_TEXTS | st.sampled_from(
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}, "cache_control": {"type": "ephemeral"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"},
            "title": "a",
            "context": "b",
        },
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        {"type": "search_result", "content": [{"type": "text", "text": "a"}], "source": "s", "title": "t"},
        {"type": "tool_reference", "tool_name": "t"},
    ]
)
USER_BLOCKS: st.SearchStrategy[Any] = RESULT_BLOCKS.filter(lambda block: block["type"] != "tool_reference") | st.just(
    {"type": "container_upload", "file_id": "file_1"}
)


@st.composite
def anthropic_conversations(draw: st.DrawFn) -> tuple[Any, list[dict[str, Any]]]:
    """Draw (system, messages) that keep Anthropic's rules, with every kind of block in every place that it may stand in."""
    system = draw(st.just([]) | SPOKEN | st.lists(ANTHROPIC_TEXTS, min_size=1, max_size=3))
    ids = iter(draw(st.lists(IDS, min_size=12, max_size=12, unique=True)))
    messages: list[dict[str, Any]] = [{"role": "user", "content": draw(SPOKEN | st.lists(USER_BLOCKS, min_size=1, max_size=3))}]
    for _ in range(draw(st.integers(0, 3))):
        calls = [
            {
                "type": "tool_use",
                "id": next(ids),
                "name": draw(NAMES),
                "input": draw(JSON_OBJECTS),
                **draw(CALL_FIELDS),
            }
            for _ in range(draw(st.integers(0, 3)))
        ]
        said = draw(st.permutations([*calls, *draw(st.lists(ANTHROPIC_TEXTS | ASIDE, min_size=0 if calls else 1, max_size=3))]))
        messages.append({"role": "assistant", "content": said})
        results = [{"type": "tool_result", "tool_use_id": call["id"], **draw(result_fields())} for call in calls]
        rest = draw(st.lists(USER_BLOCKS, min_size=0 if results else 1, max_size=2))
        messages.append({"role": "user", "content": [*results, *rest]})
        if draw(st.booleans()):
            messages.append({"role": "system", "content": draw(SPOKEN | st.lists(ANTHROPIC_TEXTS, min_size=1, max_size=2))})
    return system, messages


@st.composite
def result_fields(draw: st.DrawFn) -> dict[str, Any]:
    """Draw what a result holds besides its call's id."""
    content = draw(
        st.just({})
        | st.builds(lambda text: {"content": text}, TEXTS)
        | st.builds(lambda blocks: {"content": blocks}, st.lists(RESULT_BLOCKS, min_size=1, max_size=3))
    )
    return {**content, **draw(st.sampled_from([{}, {"is_error": True}, {"is_error": False}, {"cache_control": {"type": "ephemeral"}}]))}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
KEYS = (
    "content",
    "tool_calls",
    "tool_call_id",
    "name",
    "refusal",
    "function_call",
    "anthropic_blocks",
    "cache_control",
    "is_error",
    "images",
    "thinking",
    "reasoning_details",
    "anthropic",
)
BLOCK_KEYS = (
    "type",
    "text",
    "source",
    "image_url",
    "file",
    "id",
    "name",
    "input",
    "content",
    "tool_use_id",
    "function",
    "anthropic",
    "cache_control",
    "arguments",
    "url",
    "custom",
)
BLOCK_TYPES = st.sampled_from(
    [
        "text",
        "image",
        "image_url",
        "file",
        "document",
        "document_url",
        "tool_use",
        "tool_result",
        "refusal",
        "function",
        "custom",
        "base64",
        "url",
    ]
)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"])
WILD = st.recursive(
    JSON,
    lambda inner: (
        st.lists(inner, max_size=3) | st.fixed_dictionaries({}, optional={**dict.fromkeys(BLOCK_KEYS, inner), "type": BLOCK_TYPES | JSON})
    ),
    max_leaves=8,
)
WILD_MESSAGES = st.lists(st.fixed_dictionaries({"role": ROLES}, optional=dict.fromkeys(KEYS, WILD)), max_size=4)
"""Messages of nonsense under the right names."""
