"""What every writer of one shape of definitions shows of a tool; all of it copies."""

from collections.abc import Mapping
from typing import Final

from vespe.adapters.definitions import API_FIELDS, called
from vespe.adapters.messages import detached
from vespe.models import JsonObject, Tool
from vespe.schemas import validator

_PLACES: Final = {"openai": ("function",), "openai-responses": (), "anthropic": ()}
"""By API, where in its fields those stand that others know too: chat completions hold them within
`function`.
"""
_SHARED: Final[dict[str, tuple[str, ...]]] = {
    "strict": ("openai", "openai-responses", "anthropic"),
    "defer_loading": ("openai-responses", "anthropic"),
}
"""Fields, each true or false, that mean the same at several APIs: what one was told, the others are
told too.
"""
_SAID_ANYWAY: Final = ("openai-responses", "strict", False)
"""What one API must be told where the others need no word, so that it tells them nothing."""


def described(tool: Tool) -> JsonObject:
    """Return `name`, and `description` where the tool has one."""
    return {"name": tool.name} | ({"description": tool.description} if tool.description else {})


def own_fields(tool: Tool, shape: str) -> JsonObject:
    """Return a copy of what config.json keeps for this API, with the fields kept for another where
    they mean the same here.
    """
    own: JsonObject = detached(_kept(tool, shape), called(tool.name))
    for field, shapes in _SHARED.items():
        held = [
            (other, field, _shared_place(_kept(tool, other), other).get(field)) for other in shapes
        ]
        told = [said[2] for said in held if isinstance(said[2], bool) and said != _SAID_ANYWAY]
        if shape in shapes and told and field not in _shared_place(own, shape):
            _put(own, shape, field, told[0])
    return own


def shown_schema(tool: Tool) -> JsonObject:
    """Return a copy of the schema of the inputs as models see it: it refuses unknown arguments
    wherever Vespe will refuse them.
    """
    made: JsonObject = detached(validator.closed_schema(tool.input_schema), called(tool.name))
    return made


def shown_output(tool: Tool, key: str) -> JsonObject:
    """Return `{key: …}` with a copy of the schema of the output, `{}` where the tool has none."""
    return (
        {} if tool.output_schema is None else {key: detached(tool.output_schema, called(tool.name))}
    )


def own_annotations(tool: Tool) -> JsonObject:
    """Return a copy of the tool's annotations."""
    made: JsonObject = detached(dict(tool.annotations), called(tool.name))
    return made


def _kept(tool: Tool, shape: str) -> JsonObject:
    kept = tool.document.get(API_FIELDS)
    fields = kept.get(shape) if isinstance(kept, Mapping) else None
    return fields if isinstance(fields, dict) else {}


def _shared_place(fields: JsonObject, shape: str) -> JsonObject:
    """The object in an API's fields that holds the shared ones, `{}` where there is none."""
    for key in _PLACES[shape]:
        fields = inner if isinstance(inner := fields.get(key), dict) else {}
    return fields


def _put(fields: JsonObject, shape: str, field: str, value: bool) -> None:
    for key in _PLACES[shape]:
        if not isinstance(fields.get(key), dict):
            fields[key] = {}
        fields = fields[key]
    fields[field] = value
