"""One content of a step of Gemini's Interactions and one part of the inner format, each from the
other.

What is left of a content without the words of the part is its entry, kept beside the message where
it holds more than its type.
"""

from collections.abc import Iterator
from typing import Final

from vespe.adapters.content_parts import data_url
from vespe.adapters.messages import copied, is_empty, kind, quote, refuse, said
from vespe.models import JsonObject, JsonValue

KINDS: Final = ("text", "image", "document", "audio", "video")
"""The types of contents."""
_MEDIA: Final = ("data", "mime_type", "uri")
_WORDS: Final = {"text": ("text",), "image": _MEDIA, "document": _MEDIA, "audio": _MEDIA}
_AUDIO: Final = {"audio/wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_PDF: Final = "application/pdf"


def to_parts(content: JsonValue, index: int) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return the inner parts of a step's content, and an entry for each content of it; one that the
    inner format cannot say is its entry whole.
    """
    parts: list[JsonObject] = []
    entries: list[JsonObject] = []
    for given in _listed(content, index):
        part = _inner(given)
        if part is None:
            if not is_open(given):
                entries.append(copied(given, index))
            continue
        parts.append(copied(part, index))
        words = _WORDS[given["type"]]
        entries.append({key: copied(given[key], index) for key in given if key not in words})
    return parts, entries


def filled(entries: JsonValue, waiting: Iterator[JsonObject], index: int) -> list[JsonObject]:
    """Return the contents of a step: its entries with the words of the inner parts that wait, in
    order; an entry whose part is gone is left out.
    """
    made: list[JsonObject] = []
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        if not is_open(entry):
            made.append(copied(entry, index))
        elif (part := next(waiting, None)) is not None:
            own = to_content(part, index)
            made.append({**own, **copied(entry, index)} if own["type"] == entry["type"] else own)
    return made


def is_open(entry: JsonObject) -> bool:
    """Whether an entry stands for a part of the inner message."""
    words = _WORDS.get(str(entry.get("type")))
    return words is not None and not any(word in entry for word in words)


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
    if not isinstance(sort, str):
        refuse(
            index,
            f"a part of `content` needs a `type`, a string, not {kind(sort)}",
            pointer="/content",
        )
    made: JsonObject = copied(part, index)
    return made


def _listed(content: JsonValue, index: int) -> Iterator[JsonObject]:
    given = [] if content is None else [content] if isinstance(content, (dict, str)) else content
    if not isinstance(given, (list, tuple)):
        refuse(
            index, f"`content` must be a string or a list, not {kind(content)}", pointer="/content"
        )
    for place, part in enumerate(given):
        if isinstance(part, str):
            yield {"type": "text", "text": part}
        elif isinstance(part, dict):
            yield part
        else:
            refuse(
                index,
                f"a part of `content` must be an object, not {kind(part)}",
                pointer=f"/content/{place}",
            )


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
