"""One content of a step of Gemini's Interactions and one part of the inner format, each from the
other.
"""

from typing import Final

from vespe.adapters.content_parts import data_url
from vespe.adapters.item_contents import Contents, other_content
from vespe.adapters.messages import is_empty, kind, quote, refuse, said
from vespe.models import JsonObject

KINDS: Final = ("text", "image", "document", "audio", "video")
"""The types of contents."""
_MEDIA: Final = ("data", "mime_type", "uri")
_WORDS: Final = {"text": ("text",), "image": _MEDIA, "document": _MEDIA, "audio": _MEDIA}
_AUDIO: Final = {"audio/wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_PDF: Final = "application/pdf"


def to_content(part: JsonObject, index: int) -> JsonObject:
    """Return an inner part as Interactions takes it; one of a type that it does not know goes as it
    came.
    """
    sort = part.get("type")
    if sort in ("text", "refusal"):
        text = part.get("text" if sort == "text" else "refusal")
        if not isinstance(text, str):
            refuse(index, f"a text part must hold a string, not {kind(text)}", pointer="/content")
        return {"type": "text", "text": said(text)}
    if sort == "image_url":
        return _media("image", _url_of(part, "image_url", index), index)
    if sort == "document_url":
        return {"type": "document", "uri": said(_url_of(part, "document_url", index))}
    if sort == "file":
        return _file(part, index)
    if sort == "input_audio":
        return _audio(part, index)
    return other_content(part, index)


def _inner(given: JsonObject) -> JsonObject | None:
    """Return the inner part of one that it can be said by."""
    sort = given.get("type")
    if sort == "text" and isinstance(given.get("text"), str):
        return None if is_empty(given) else {"type": "text", "text": given["text"]}
    held = {key: given[key] for key in _MEDIA if given.get(key) is not None}
    if not all(isinstance(value, str) for value in held.values()):
        return None
    url = held.get("uri") if held.keys() == {"uri"} else None
    if held.keys() == {"data", "mime_type"}:
        url = f"data:{held['mime_type']};base64,{held['data']}"
    if url is None:
        return None
    if sort == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    if sort == "document":
        return (
            {"type": "document_url", "document_url": {"url": url}}
            if "uri" in held
            else {"type": "file", "file": {"file_data": url}}
        )
    if sort == "audio" and held.get("mime_type") in ("audio/wav", "audio/mp3"):
        sound = {"data": held["data"], "format": _AUDIO[held["mime_type"]]}
        return {"type": "input_audio", "input_audio": sound}
    return None


def _url_of(part: JsonObject, key: str, index: int) -> str:
    held = part.get(key)
    url = held.get("url") if isinstance(held, dict) else held
    if not isinstance(url, str) or not url.strip():
        which = "an `image_url`" if key == "image_url" else "a `document_url`"
        refuse(index, f"{which} part needs a `url`", pointer="/content")
    return url


def _media(sort: str, url: str, index: int) -> JsonObject:
    if (found := data_url(url)) is not None:
        return {"type": sort, "data": said(found[1]), "mime_type": found[0]}
    if url[:5].lower() == "data:":
        refuse(
            index,
            f"a data URL must be base64 with a media type, not {quote(url)}",
            pointer="/content",
        )
    return {"type": sort, "uri": said(url)}


def _file(part: JsonObject, index: int) -> JsonObject:
    file = part.get("file")
    data = file.get("file_data") if isinstance(file, dict) else None
    if not isinstance(data, str) or not data:
        refuse(
            index,
            "a `file` part needs `file_data`: Gemini knows no other vendor's `file_id`",
            pointer="/content",
        )
    if data[:5].lower() != "data:":
        return {"type": "document", "data": said(data), "mime_type": _PDF}
    return _media("document", data, index)


def _audio(part: JsonObject, index: int) -> JsonObject:
    sound = part.get("input_audio")
    data = sound.get("data") if isinstance(sound, dict) else None
    if not isinstance(sound, dict) or not isinstance(data, str):
        refuse(index, "an `input_audio` part needs `data`", pointer="/content")
    return {"type": "audio", "data": said(data), "mime_type": f"audio/{sound.get('format', 'wav')}"}


CONTENTS: Final = Contents(
    words=_WORDS,
    inner=_inner,
    outer=lambda part, index, _: to_content(part, index),
    text="text",
    single=True,
)
