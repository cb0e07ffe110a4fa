"""The body of an operation as the input `body`: JSON where it takes JSON, else a form, parts, bytes
or text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from vespe.features.imports.openapi.documents import At, Documents, Unresolved
from vespe.features.imports.openapi.schemas import Converted, Schemas
from vespe.models import JsonObject

_FORM: Final = "application/x-www-form-urlencoded"
_FILE: Final = (
    "The file: its content in base64, or a data: URL, such as data:image/png;name=a.png;base64,…"
)


@dataclass(slots=True, kw_only=True)
class Body:
    """A body as it is asked for: `content` is the `args.body` of http_request with the slot
    `{body}`; a `problem` says why it is none.
    """

    content: JsonObject = field(default_factory=dict)
    schema: Converted = field(default_factory=Converted)
    required: bool = False
    description: str = ""
    notes: list[str] = field(default_factory=list)
    problem: str = ""


class Bodies:
    """Reads the bodies of one description."""

    def __init__(self, documents: Documents, schemas: Schemas) -> None:
        self._documents, self._schemas = documents, schemas

    def of(self, operation: At) -> Body | None:
        """Return the body of an operation from 3.0 on, or None."""
        try:
            said = self._documents.follow(operation.get("requestBody"))
        except Unresolved as error:
            return Body(problem=f"its body cannot be read: {error}")
        if not isinstance(said.value, dict):
            return None
        content = said.get("content")
        media = (
            {name: at for name, at in content.items() if isinstance(name, str)}
            if isinstance(content.value, dict)
            else {}
        )
        if not media:
            return None
        name = min(media, key=lambda one: (_rank(one, media[one]), list(media).index(one)))
        try:
            made = self._made(name, self._documents.follow(media[name]))
        except Unresolved as error:
            return Body(problem=f"its body cannot be read: {error}")
        made.required, made.description = (
            said.value.get("required") is True,
            said.text("description"),
        )
        if others := [one for one in media if one != name]:
            made.notes.append(
                f"its body is sent as {name}; the API also accepts {', '.join(others)}"
            )
        return made

    def older(self, parameter: At, consumes: list[str]) -> Body:
        """Return the body that a parameter of 2.0 describes, in the best of the media types that
        its operation consumes.
        """
        media = parameter.get("schema")
        at = At({"schema": media.value}, media.base)
        name = min(consumes or ["application/json"], key=lambda one: _rank(one, at))
        made = self._made(
            "application/json" if name in (_FORM, "multipart/form-data") else name, at
        )
        made.required, made.description = (
            parameter.value.get("required") is True,
            parameter.text("description"),
        )
        if others := [one for one in consumes if one != name]:
            made.notes.append(
                f"its body is sent as {name}; the API also accepts {', '.join(others)}"
            )
        return made

    def _made(self, name: str, media: At) -> Body:
        bare, schema = name.partition(";")[0].strip().lower(), media.get("schema")
        sent = {} if "*" in name else {"media_type": name}
        if is_json(bare) or ("*" in bare and not self._is_file(schema)):
            own = sent if bare != "application/json" or ";" in name else {}
            return Body(content={"json": "{body}", **own}, schema=self._schemas.convert(schema))
        if bare == _FORM or bare.startswith("multipart/"):
            return self._form(bare, media, sent)
        made = Body()
        if media.get("itemSchema").value is not None or bare.endswith(
            ("-seq", "ndjson", "jsonl", "x-json-lines")
        ):
            made.notes.append(
                f"its body is {name}, a sequence of items, which is passed as one string"
            )
        text = bare.startswith("text/") or bare.endswith(
            ("xml", "yaml", "json-seq", "ndjson", "jsonl", "graphql", "javascript")
        )
        made.content = {"text" if text else "binary": "{body}", **sent}
        about = f"The body, as a string in {name}." if text else _FILE
        made.schema.schema = {"type": "string", "description": about}
        if (
            text
            and schema.value is not None
            and self._schemas.kinds(schema) not in ({"string"}, set())
        ):
            made.notes.append(
                f"its body is {name}, which is passed as a string: "
                "Vespe cannot build it from its schema"
            )
        return made

    def _form(self, bare: str, media: At, sent: JsonObject) -> Body:
        multipart = bare != _FORM
        made = Body(schema=self._schemas.convert(media.get("schema")))
        encoding: dict[str, JsonObject] = {}
        said = media.get("encoding")
        for name, at in self._properties(media.get("schema")):
            entry = dict(self._encoding(name, said.get(name), made.notes))
            if multipart and self._is_sent_as_file(at, str(entry.get("media_type", ""))):
                entry["file"] = True
            if entry:
                encoding[name] = entry
        for key in ("prefixEncoding", "itemEncoding"):
            if media.get(key).value is not None:
                made.notes.append(f"`{key}` is not supported for a form")
        made.content = {
            "multipart" if multipart else "form": "{body}",
            **(sent if bare not in (_FORM, "multipart/form-data") else {}),
        }
        made.content |= {"encoding": encoding} if encoding else {}
        return made

    def _encoding(self, name: str, said: At, notes: list[str]) -> Iterator[tuple[str, Any]]:
        if not isinstance(said.value, dict):
            return
        if content_type := said.text("contentType"):
            listed = [one.strip() for one in content_type.split(",") if "*" not in one]
            if listed:
                yield "media_type", listed[0]
        if said.text("style") or isinstance(said.value.get("explode"), bool):
            style = said.text("style") or "form"
            explode = said.value.get("explode")
            yield "style", style
            yield (
                "explode",
                explode if isinstance(explode, bool) else style in ("form", "deepObject"),
            )
        if said.value.get("allowReserved") is True:
            yield "allow_reserved", True
        if headers := [one for one, _ in said.get("headers").items()]:
            notes.append(
                f"the part {name} may have headers of its own ({', '.join(headers)}), "
                "which are not sent"
            )

    def _properties(self, schema: At) -> Iterator[tuple[str, At]]:
        """Return the properties of a form, through references and the parts that always apply."""
        waiting, seen = [schema], set[int]()
        while waiting and len(seen) < 100:
            at = self._schemas.resolved(waiting.pop(0))
            if not isinstance(at.value, dict) or id(at.value) in seen:
                continue
            seen.add(id(at.value))
            if isinstance(at.value.get("properties"), dict):
                yield from at.get("properties").items()
            waiting += [
                part for key in ("allOf", "anyOf", "oneOf") for _, part in at.get(key).items()
            ]

    def _is_sent_as_file(self, at: At, media_type: str) -> bool:
        looked = self._schemas.resolved(at)
        said = looked.value if isinstance(looked.value, dict) else {}
        if isinstance(said.get("items"), dict):
            return self._is_sent_as_file(looked.get("items"), media_type)
        if self._is_file(looked):
            return True
        described = "type" in said or "properties" in said or "contentEncoding" in said
        return (
            not described
            and bool(media_type)
            and not media_type.startswith("text/")
            and not is_json(media_type)
        )

    def _is_file(self, at: At) -> bool:
        looked = self._schemas.resolved(at)
        said = looked.value if isinstance(looked.value, dict) else {}
        branches = [
            part for key in ("anyOf", "oneOf", "allOf") for _, part in looked.get(key).items()
        ]
        if branches and len(branches) < 20:
            return any(
                part.value is not at.value and self._is_plain_file(self._schemas.resolved(part))
                for part in branches
            )
        return self._is_plain_file(At(said, at.base))

    def _is_plain_file(self, at: At) -> bool:
        said = at.value if isinstance(at.value, dict) else {}
        raw = "contentMediaType" in said and "contentEncoding" not in said
        return raw or said.get("format") == "binary" or said.get("type") == "file"


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON, or built on it."""
    bare = media_type.partition(";")[0].strip().lower()
    return bare.endswith(("/json", "+json"))


def _rank(name: str, media: At) -> int:
    bare = name.partition(";")[0].strip().lower()
    if bare == "application/json":
        return 0
    if is_json(bare):
        return 1
    order = (_FORM, "multipart/form-data")
    return (
        2 + order.index(bare)
        if bare in order
        else 5
        if "*" in bare
        else 6
        if not bare.endswith("xml")
        else 7
    )
