"""A tool's result as the parts that a model is shown: one text, or texts and images in OpenAI's
form, which every other API's own parts are made from.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from vespe.adapters import result_texts
from vespe.adapters.content_parts import IMAGE_TYPES, data_url
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue

_BASE64: Final = pattern(r"[A-Za-z0-9+/]+={0,2}")


def shown(value: JsonValue) -> str | list[JsonObject]:
    """Return a result as a model is shown it: one text, or `text` and `image_url` parts where it is
    MCP's `content` with images that every API takes.

    Raises ToolExecutionError for what JSON cannot say.
    """
    blocks = value.get("content") if isinstance(value, dict) else None
    if not isinstance(blocks, list) or not any(map(_image_of, blocks)):
        return result_texts.text_of(value)
    # an empty text is refused by Anthropic
    return [part for block in blocks if (part := _part(block)).get("text") != ""]


def text_in(parts: Sequence[JsonObject]) -> str:
    """Return the texts among parts, one a line."""
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def text_of_blocks(blocks: Iterable[JsonValue]) -> str:
    """Return the texts of blocks of MCP's `content`, one a line; what is no text as its JSON."""
    return "\n".join(text for block in blocks if (text := _part(block).get("text")))


def images_in(parts: Sequence[JsonObject]) -> list[tuple[str, str]]:
    """Return (media type, base64) of each image among parts that `shown` made."""
    return [image for part in parts if (image := image_in(part)) is not None]


def image_in(part: JsonObject) -> tuple[str, str] | None:
    """Return (media type, base64) of an image, None for any other part."""
    return data_url(part["image_url"]["url"]) if part["type"] == "image_url" else None


def is_image(block: JsonValue) -> bool:
    """Say whether a block of MCP's `content` is an image that every API takes."""
    return _image_of(block) is not None


def named(parts: Sequence[JsonObject]) -> str:
    """Return parts as one text, for where a model cannot be shown an image: `[image/png]` stands in
    its place, never its base64.
    """
    return "\n".join(
        part["text"] if (image := image_in(part)) is None else f"[{image[0]}]" for part in parts
    )


def _part(block: JsonValue) -> JsonObject:
    if (image := _image_of(block)) is not None:
        return {"type": "image_url", "image_url": {"url": f"data:{image[0]};base64,{image[1]}"}}
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    return {"type": "text", "text": text if isinstance(text, str) else result_texts.text_of(block)}


def _image_of(block: JsonValue) -> tuple[str, str] | None:
    """Return (media type, base64) of a block that is an image every API takes, by itself or as an
    embedded resource; None of any other.
    """
    if not isinstance(block, dict):
        return None
    held, key = block, "data"
    if block.get("type") == "resource" and isinstance(block.get("resource"), dict):
        held, key = block["resource"], "blob"
    elif block.get("type") != "image":
        return None
    kind, data = held.get("mimeType"), held.get(key)
    if kind not in IMAGE_TYPES or not isinstance(data, str) or not _BASE64.fullmatch(data):
        return None
    whole = data.rstrip("=")
    return None if len(whole) % 4 == 1 else (kind, whole + "=" * (-len(whole) % 4))
