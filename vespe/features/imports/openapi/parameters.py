"""The parameters of an operation, of every version, as inputs: each with its place in the request
and the style that it is written in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from vespe.features.imports.openapi.documents import At, Documents, Unresolved

PLACES: Final = ("path", "query", "querystring", "header", "cookie", "form")
_DEFAULTS: Final = {
    "path": "simple",
    "header": "simple",
    "query": "form",
    "cookie": "form",
    "form": "form",
}
_COLLECTIONS: Final = {
    "csv": ",",
    "ssv": "spaceDelimited",
    "tsv": "tabDelimited",
    "pipes": "pipeDelimited",
}
_NOT_OF_A_SCHEMA: Final = frozenset(
    (
        "name",
        "in",
        "required",
        "style",
        "explode",
        "allowReserved",
        "allowEmptyValue",
        "collectionFormat",
        "content",
        "schema",
        "examples",
    )
)
_STYLES: Final = {
    "path": ("simple", "label", "matrix"),
    "header": ("simple",),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "cookie": ("form", "cookie"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter: `style` is what http_request's `styles` takes; a `note` says what it could not
    be.
    """

    name: str
    place: str
    schema: At
    required: bool
    description: str = ""
    style: dict[str, Any]
    scalar: dict[str, Any]
    media_type: str = ""
    note: str = ""


def parameters(documents: Documents, *levels: At) -> tuple[list[Parameter], list[str]]:
    """Return the parameters of a path and of its operation, whose own come before; and what is
    wrong with others.

    The parameter `body` of 2.0 is not among them.
    """
    found: dict[tuple[str, str], Parameter] = {}
    notes: list[str] = []
    for level in levels:
        for _, at in level.get("parameters").items():
            try:
                said = documents.follow(at)
            except Unresolved as error:
                notes.append(f"a parameter cannot be read: {error}")
                continue
            one = _read(said) if isinstance(said.value, dict) else None
            if one is None:
                notes.append("a parameter has no name, or no place that HTTP knows")
            elif one.place != "body":
                found[one.place, one.name.lower() if one.place == "header" else one.name] = one
    return sorted(found.values(), key=lambda one: PLACES.index(one.place)), notes


def body_parameter(documents: Documents, *levels: At) -> At | None:
    """Return the parameter that is the body before 3.0, or None."""
    for level in reversed(levels):
        for _, at in level.get("parameters").items():
            try:
                said = documents.follow(at)
            except Unresolved:
                continue
            if said.text("in") == "body":
                return said
    return None


def _read(said: At) -> Parameter | None:
    name, place = said.value.get("name"), said.text("in")
    place = {"formData": "form"}.get(place, place)
    if place not in (*PLACES, "body") or not isinstance(name, (str, int)) or str(name) == "":
        return None
    schema, media_type = _schema(said)
    note = ""
    style = _style(said, place, media_type)
    scalar = {"allow_reserved": True} if said.value.get("allowReserved") is True else {}
    wanted = style.get("style", _DEFAULTS.get(place))
    if (
        place in _STYLES
        and not media_type
        and wanted not in (*_STYLES[place], "tabDelimited", "spaceDelimited", "pipeDelimited")
    ):
        note, wanted = (
            f"a {place} cannot have the style {wanted}, so {_DEFAULTS[place]} is used",
            _DEFAULTS[place],
        )
        style = {"style": wanted, "explode": style["explode"]}
    return Parameter(
        name=str(name),
        place=place,
        schema=schema,
        required=said.value.get("required") is True or place == "path",
        description=said.text("description"),
        style={**style, **scalar},
        scalar={
            **({"style": wanted} if wanted in ("label", "matrix", "cookie") else {}),
            **scalar,
            **(style if media_type else {}),
        },
        media_type=media_type,
        note=note,
    )


def _schema(said: At) -> tuple[At, str]:
    """Return a parameter's schema, and the media type of its `content` where it has one."""
    content = said.get("content")
    if isinstance(content.value, dict) and content.value:
        media_type, media = next(iter(content.items()))
        return media.get("schema"), media_type
    if "schema" in said.value:
        return said.get("schema"), ""
    own = {
        key: value
        for key, value in said.value.items()
        if key not in _NOT_OF_A_SCHEMA and not key.startswith("x-example")
    }
    return At({key: value for key, value in own.items() if key != "description"}, said.base), ""


def _style(said: At, place: str, media_type: str) -> dict[str, Any]:
    if media_type:
        return (
            {"style": "json"} if media_type.partition(";")[0].endswith(("/json", "+json")) else {}
        )
    collection = said.text("collectionFormat")
    if "schema" not in said.value and ("type" in said.value or collection):
        if collection == "multi":
            return {"style": "form", "explode": True}
        style = _COLLECTIONS.get(collection, ",")
        return {"style": _DEFAULTS.get(place, "form") if style == "," else style, "explode": False}
    made: dict[str, Any] = {"style": said.text("style") or _DEFAULTS.get(place, "form")}
    explode = said.value.get("explode")
    made["explode"] = (
        explode if isinstance(explode, bool) else made["style"] in ("form", "cookie", "deepObject")
    )
    return made


def names_in_path(path: str) -> Iterator[str]:
    """Return the names in braces of a path, each once, in order."""
    inside = [piece.partition("}")[0] for piece in path.split("{")[1:] if "}" in piece]
    yield from dict.fromkeys(inside)
