"""One part of an item's content at OpenAI's Responses API and one of the inner format, each from
the other.
"""

from typing import Final

from vespe.adapters.item_contents import Contents, other_content
from vespe.adapters.messages import is_empty, kind, quote, refuse, said
from vespe.models import JsonObject

TEXTS: Final = ("output_text", "input_text", "text")
"""The types of parts that hold a text."""
_WORDS: Final = {
    **dict.fromkeys(TEXTS, ("text",)),
    "refusal": ("refusal",),
    "input_image": ("image_url", "detail", "file_id"),
    "input_file": ("file_id", "file_data", "file_url", "filename"),
}
"""The keys of each type of part that the inner part says."""


def to_content(part: JsonObject, index: int, *, spoken: bool) -> JsonObject:
    """Return an inner part as Responses takes it; `spoken` where the model said it. A part of a
    type that only a compatible server knows goes as it came.
    """
    given = part.get("type")
    if given == "text":
        return {
            "type": "output_text" if spoken else "input_text",
            "text": _text(part, "text", index),
        }
    if given == "refusal":
        text = _text(part, "refusal", index)
        return (
            {"type": "refusal", "refusal": text} if spoken else {"type": "input_text", "text": text}
        )
    if given == "image_url":
        return _image(part, index)
    if given in ("file", "document_url"):
        return _file(part, index)
    return other_content(part, index)


def _inner(given: JsonObject) -> JsonObject | None:
    """Return the inner part of one that it can be said by."""
    sort = given.get("type")
    if sort in TEXTS and isinstance(given.get("text"), str):
        part: JsonObject = {"type": "text", "text": given["text"]}
        return None if is_empty(part) else part
    if sort == "refusal" and isinstance(given.get("refusal"), str):
        return {"type": "refusal", "refusal": given["refusal"]}
    if sort == "input_image" and isinstance(given.get("image_url"), str):
        detail = {"detail": given["detail"]} if isinstance(given.get("detail"), str) else {}
        return {"type": "image_url", "image_url": {"url": given["image_url"], **detail}}
    if sort == "input_file":
        url = given.get("file_url")
        if isinstance(url, str) and not given.keys() & {"file_id", "file_data", "filename"}:
            return {"type": "document_url", "document_url": {"url": url}}
        held = {key: given[key] for key in _WORDS["input_file"] if given.get(key) is not None}
        if "file_url" not in held and all(isinstance(value, str) for value in held.values()):
            return {"type": "file", "file": held}
    return None


def _text(part: JsonObject, key: str, index: int) -> str:
    text = part.get(key)
    if not isinstance(text, str):
        refuse(index, f"a text part must hold a string, not {kind(text)}", pointer="/content")
    return said(text)


def _image(part: JsonObject, index: int) -> JsonObject:
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str) or not url.strip():
        refuse(index, "an `image_url` part needs a `url`", pointer="/content")
    detail = image.get("detail") if isinstance(image, dict) else None
    return {
        "type": "input_image",
        "image_url": said(url),
        "detail": said(detail) if isinstance(detail, str) else "auto",
    }


def _file(part: JsonObject, index: int) -> JsonObject:
    held = part.get(str(part["type"]))
    if part["type"] == "document_url":
        url = held.get("url") if isinstance(held, dict) else held
        if not isinstance(url, str) or not url:
            refuse(index, "a `document_url` part needs a URL", pointer="/content")
        return {"type": "input_file", "file_url": said(url)}
    if not isinstance(held, dict) or not (held.get("file_id") or held.get("file_data")):
        refuse(
            index,
            f"a `file` part needs `file_id` or `file_data`, not {quote(held)}",
            pointer="/content",
        )
    kept = ("file_id", "file_data", "filename")
    return {"type": "input_file"} | {
        key: said(held[key]) for key in kept if isinstance(held.get(key), str) and held[key]
    }


CONTENTS: Final = Contents(
    words=_WORDS,
    inner=_inner,
    outer=lambda part, index, sort: to_content(
        part, index, spoken=sort in ("output_text", "refusal")
    ),
    text="input_text",
    alike=TEXTS,
)
