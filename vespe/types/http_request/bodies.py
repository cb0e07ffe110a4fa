"""The body of a tool's HTTP request, from its `args.body` and one call's inputs: JSON, a form,
parts (multipart), bytes or text.
"""

import binascii
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from vespe.documents.strict_json import compact_json, repair_surrogates
from vespe.errors import InvalidArguments
from vespe.lazy import urls
from vespe.models import JsonObject, JsonValue
from vespe.tools import templates
from vespe.types.http_request.slots import ABSENT, Slots
from vespe.types.http_request.styles import Style, as_it_is

MEDIA_TYPES: Final = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "binary": "application/octet-stream",
    "text": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One part of a multipart body; a `file` has a filename."""

    name: str
    data: bytes
    media_type: str = ""
    file: str = ""


def build(kind: str, body: JsonObject, slots: Slots) -> tuple[bytes | None, str]:
    """Return the bytes of a body and its Content-Type; None where the inputs that it names are
    absent.

    Raises InvalidArguments for a value that the body cannot carry.
    """
    content, media_type = body[kind], body.get("media_type") or MEDIA_TYPES[kind]
    if kind == "json":
        value = slots.structure(content)
        return (None, "") if value is ABSENT else (compact_json(value).encode("utf-8"), media_type)
    if kind in ("text", "binary"):
        text = slots.fill(content)
        if text is None:
            return None, ""
        return _decoded(text)[0] if kind == "binary" else repair_surrogates(text).encode(
            "utf-8"
        ), media_type
    encoding = body.get("encoding", {})
    members = _members(content, slots, plain=kind == "form", encoding=encoding)
    if members is None:
        return None, ""
    if kind == "form":
        return "&".join(
            f"{key}={text}"
            for name, value in members
            for key, text in _pairs(name, value, encoding)
        ).encode("ascii"), media_type
    parts = [
        part for name, value in members for part in _parts(name, value, encoding.get(name, {}))
    ]
    return _joined(parts, media_type)


def _members(
    content: JsonValue, slots: Slots, *, plain: bool, encoding: JsonObject
) -> list[tuple[str, Any]] | None:
    """Return the members of a form by name: of the one object that fills it whole, or of each
    template; None where it is absent.
    """
    if isinstance(content, str):
        whole = slots.structure(content)
        return (
            None
            if whole is ABSENT
            else list(whole.items())
            if isinstance(whole, dict)
            else [("value", whole)]
        )
    filled = [
        (key, slots.texts(text) if plain and key not in encoding else slots.structure(text))
        for key, text in content.items()
    ]
    return [(key, value) for key, value in filled if value is not ABSENT]


def _pairs(name: str, value: JsonValue, encoding: JsonObject) -> Iterator[tuple[str, str]]:
    said = encoding.get(name, {})
    if "style" in said or "explode" in said:
        yield from Style.of(said, default="form", encode=_plus).pairs(name, value)
        return
    for item in value if isinstance(value, list) else [value]:
        if item is not None:
            yield _plus(name), _plus(templates.value_text(item))


def _plus(text: str) -> str:
    return urls.quote_plus(repair_surrogates(text), safe="")


def _parts(name: str, value: JsonValue, said: JsonObject) -> Iterator[_Part]:
    if "style" in said or "explode" in said:
        pairs = Style.of(said, default="form", encode=as_it_is).pairs(name, value)
        yield from (
            _Part(name=key, data=repair_surrogates(text).encode("utf-8")) for key, text in pairs
        )
        return
    given = said.get("media_type", "")
    for item in value if isinstance(value, list) and not _is_json(given) else [value]:
        if said.get("file") and isinstance(item, str):
            data, media_type, filename = _decoded(item)
            yield _Part(
                name=name,
                data=data,
                media_type=media_type or given or MEDIA_TYPES["binary"],
                file=filename or name,
            )
        elif item is not None:
            media_type = given or (MEDIA_TYPES["json"] if isinstance(item, (dict, list)) else "")
            text = compact_json(item) if _is_json(media_type) else templates.value_text(item)
            yield _Part(
                name=name, data=repair_surrogates(text).encode("utf-8"), media_type=media_type
            )


def _is_json(media_type: str) -> bool:
    return media_type.partition(";")[0].endswith(("/json", "+json"))


def _decoded(text: str) -> tuple[bytes, str, str]:
    """Return the bytes of a file with its media type and name: base64, or a `data:` URL, which may
    have `;name=…`.
    """
    media_type, filename, data = "", "", text
    if text.startswith("data:") and "," in text:
        about, _, data = text.removeprefix("data:").partition(",")
        media_type, *parameters = about.split(";")
        filename = next(
            (urls.unquote(one[5:]) for one in parameters if one.startswith("name=")), ""
        )
        if "base64" not in parameters:
            return urls.unquote_to_bytes(data), media_type, filename
    try:
        return binascii.a2b_base64("".join(data.split()), strict_mode=True), media_type, filename
    except (binascii.Error, ValueError):
        raise InvalidArguments(
            "a file must be its content in base64, or a data: "
            "URL (data:image/png;name=a.png;base64,…)"
        ) from None


def _joined(parts: list[_Part], media_type: str) -> tuple[bytes, str]:
    # The boundary is a digest of what it separates: the same request is the same bytes, and no part
    # can hold it but by a collision.
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.name.encode("utf-8", "replace") + b"\0" + part.data)
    boundary = f"vespe-{digest.hexdigest()[:32]}"
    made = b"".join(
        f"--{boundary}\r\n".encode() + _head(part, media_type) + part.data + b"\r\n"
        for part in parts
    )
    return made + f"--{boundary}--\r\n".encode(), f"{media_type}; boundary={boundary}"


def _head(part: _Part, media_type: str) -> bytes:
    lines = []
    if media_type == MEDIA_TYPES["multipart"]:
        filename = f'; filename="{_quoted(part.file)}"' if part.file else ""
        lines.append(f'Content-Disposition: form-data; name="{_quoted(part.name)}"{filename}')
    if part.media_type:
        lines.append(f"Content-Type: {_one_line(part.media_type)}")
    return ("".join(f"{line}\r\n" for line in lines) + "\r\n").encode("utf-8", "replace")


def _quoted(text: str) -> str:
    """Escape as browsers do:
    https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data.
    """
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise InvalidArguments("the media type of a file holds a control character")
    return text
