"""One content block of Anthropic and one part of OpenAI's content, each from the other: texts,
images, documents.
"""

import re
from collections.abc import Callable
from typing import Final

from vespe.adapters.messages import (
    BLOCKS,
    PART,
    completed,
    copied,
    is_empty,
    parts_of,
    quote,
    refuse,
    rest_of,
    said,
)
from vespe.lazy import base64, binascii, pattern
from vespe.models import JsonObject, JsonValue

IMAGE_TYPES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""What Anthropic takes (API reference, `image` block)."""
_DATA_URL: Final = pattern(r"data:([^;,]*)((?:;[^;,]*)*),(.*)", re.DOTALL | re.IGNORECASE)
_PDF: Final = "application/pdf"
_PLAIN: Final = "text/plain"


def to_block(part: JsonObject, index: int) -> JsonObject:
    """Return Anthropic's block of a part of the message at `index`; raises InvalidDocument for what
    Anthropic cannot take.
    """
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in _TO_BLOCK:
        refuse(index, f"Anthropic takes no content of type {quote(kind)}", pointer="/content")
    return _TO_BLOCK[kind](part, index)


def to_part(block: JsonObject, index: int) -> JsonObject | None:
    """Return OpenAI's part of a block, or None where OpenAI has none that could hold it."""
    read = _TO_PART.get(str(block.get("type")))
    return None if read is None else read(block, index)


def data_url(url: str) -> tuple[str, str] | None:
    """Return (media type, base64) of a base64 `data:` URL, None where it is another kind of URL."""
    found = _DATA_URL.fullmatch(url.strip()) if url[:16].lstrip()[:5].lower() == "data:" else None
    if found is None or not found[2].lower().endswith(";base64"):
        return None
    return found[1].strip().lower(), found[3]


def _text_block(part: JsonObject, index: int) -> JsonObject:
    text = part.get("refusal" if part.get("type") == "refusal" else "text")
    if not isinstance(text, str):
        refuse(
            index, f"a text part must hold a string, not {type(text).__name__}", pointer="/content"
        )
    return completed({"type": "text", "text": said(text)}, part, index)


def _image_block(part: JsonObject, index: int) -> JsonObject:
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str) or not url.strip():
        refuse(index, "an `image_url` part needs a `url`", pointer="/content")
    return completed({"type": "image", "source": _image_source(url, index)}, part, index)


def _image_source(url: str, index: int) -> JsonObject:
    if url.lower().startswith(("http://", "https://")):
        return {"type": "url", "url": said(url)}
    found = data_url(url)
    if found is None:
        refuse(
            index,
            f"an image must be an http(s) URL or base64 in a data URL, not {quote(url)}",
            pointer="/content",
        )
    media_type = "image/jpeg" if found[0] == "image/jpg" else found[0]
    if media_type not in IMAGE_TYPES:
        refuse(
            index,
            f"Anthropic takes no image of type {quote(media_type)}, only {', '.join(IMAGE_TYPES)}",
            pointer="/content",
        )
    return {"type": "base64", "media_type": media_type, "data": said(found[1])}


def _document_block(part: JsonObject, index: int) -> JsonObject:
    file = part.get("file")
    if not isinstance(file, dict):
        refuse(index, "a `file` part needs a `file`", pointer="/content")
    if isinstance(identifier := file.get("file_id"), str) and identifier:
        source: JsonObject = {"type": "file", "file_id": said(identifier)}
    else:
        source = _document_source(file.get("file_data"), index)
    title = (
        {"title": said(file["filename"])}
        if isinstance(file.get("filename"), str) and file["filename"]
        else {}
    )
    return completed({"type": "document", "source": source, **title}, part, index)


def _document_source(data: JsonValue, index: int) -> JsonObject:
    if not isinstance(data, str) or not data:
        refuse(index, "a `file` part needs `file_id` or `file_data`", pointer="/content")
    media_type, encoded = data_url(data) or (_PDF, data)
    if media_type == _PDF and not data.startswith("http"):
        return {"type": "base64", "media_type": _PDF, "data": said(encoded)}
    text = _decoded(encoded) if media_type == _PLAIN else None
    if text is None:
        refuse(
            index,
            "Anthropic takes documents as PDF or plain text in a data URL, "
            f"not {quote(media_type)}",
            pointer="/content",
        )
    return {"type": "text", "media_type": _PLAIN, "data": text}


def _decoded(encoded: str) -> str | None:
    try:
        return base64.b64decode(encoded, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def _url_document_block(part: JsonObject, index: int) -> JsonObject:
    url = part.get("document_url")
    url = url.get("url") if isinstance(url, dict) else url
    if not isinstance(url, str) or not url:
        refuse(index, "a `document_url` part needs a URL", pointer="/content")
    return completed({"type": "document", "source": {"type": "url", "url": said(url)}}, part, index)


def _text_part(block: JsonObject, index: int) -> JsonObject | None:
    if not isinstance(block.get("text"), str):
        return None
    return {"type": "text", "text": said(block["text"]), **rest_of(block, ("type", "text"), index)}


def _image_part(block: JsonObject, index: int) -> JsonObject | None:
    source = block.get("source")
    url = _source_url(source, IMAGE_TYPES) if isinstance(source, dict) else None
    if (
        isinstance(source, dict)
        and source.keys() == {"type", "url"}
        and str(source["url"]).lower().startswith(("http://", "https://"))
    ):
        url = source["url"]
    return (
        None
        if url is None
        else {
            "type": "image_url",
            "image_url": {"url": said(url)},
            **rest_of(block, ("type", "source"), index),
        }
    )


def _document_part(block: JsonObject, index: int) -> JsonObject | None:
    source = block.get("source")
    if not isinstance(source, dict):
        return None
    file: JsonObject = {}
    if source.get("type") == "file" and source.keys() == {"type", "file_id"}:
        file["file_id"] = copied(source["file_id"], index)
    elif source.get("type") == "text" and isinstance(source.get("data"), str):
        file["file_data"] = (
            f"data:{_PLAIN};base64,{base64.b64encode(said(source['data']).encode()).decode()}"
        )
    elif (url := _source_url(source, (_PDF,))) is not None:
        file["file_data"] = said(url)
    else:
        return None
    known = ["type", "source"]
    if isinstance(block.get("title"), str) and block["title"]:
        file["filename"] = said(block["title"])
        known.append("title")
    return {"type": "file", "file": file, **rest_of(block, known, index)}


def _source_url(source: JsonObject, media_types: tuple[str, ...]) -> str | None:
    if source.get("type") != "base64" or source.keys() != {"type", "media_type", "data"}:
        return None
    if source["media_type"] not in media_types or not isinstance(source["data"], str):
        return None
    return f"data:{source['media_type']};base64,{source['data']}"


_TO_BLOCK: Final[dict[str, Callable[[JsonObject, int], JsonObject]]] = {
    "text": _text_block,
    "refusal": _text_block,
    "image_url": _image_block,
    "file": _document_block,
    "document_url": _url_document_block,
}
_TO_PART: Final[dict[str, Callable[[JsonObject, int], JsonObject | None]]] = {
    "text": _text_part,
    "image": _image_part,
    "document": _document_part,
}


PART_TYPES: Final = frozenset(_TO_PART)
"""The blocks that parts of OpenAI's content stand for."""


def verbatim(block: JsonObject, index: int) -> JsonObject:
    """Return a copy of a block that OpenAI cannot say, as it travels beside the message."""
    made: JsonObject = copied(block, index)
    return made


def readable_parts(message: JsonObject, index: int) -> list[JsonObject]:
    """Return a message's parts for an API without Anthropic's blocks: of those the ones that hold
    text stand in their places as text.
    """
    parts = parts_of(message.get("content"), index)
    order = message.get(BLOCKS)
    if not isinstance(order, list):
        return parts
    waiting = iter([part for part in parts if not is_empty(part)])
    made: list[JsonObject] = []
    for item in order:
        if isinstance(item, dict):
            made += [{"type": "text", "text": text}] if (text := _text_within(item)) else []
        elif item == PART and (part := next(waiting, None)) is not None:
            made.append(part)
    return [*made, *waiting]


def document_text(part: JsonObject) -> str | None:
    """Return the text of a `file` part that is plain text in a data URL, else None."""
    file = part.get("file")
    data = file.get("file_data") if isinstance(file, dict) else None
    found = data_url(data) if isinstance(data, str) else None
    return _decoded(found[1]) if found is not None and found[0] == _PLAIN else None


def _text_within(block: JsonObject) -> str:
    """The text of a search result or a document that holds one, behind its title and where it is
    from; of a text, itself.
    """
    source = block.get("source")
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        return said(block["text"])
    if block.get("type") == "search_result":
        head, held = [block.get("title"), source], block.get("content")
    elif block.get("type") == "document" and isinstance(source, dict):
        head, held = (
            [block.get("title")],
            source.get("content") if source.get("type") == "content" else source.get("data"),
        )
        held = held if source.get("type") in ("content", "text") else None
    else:
        return ""
    inner = [
        part.get("text") if isinstance(part, dict) else part
        for part in (held if isinstance(held, list) else [held])
    ]
    texts = [said(text) for text in inner if isinstance(text, str) and text]
    return (
        "\n".join([*(said(text) for text in head if isinstance(text, str) and text), *texts])
        if texts
        else ""
    )
