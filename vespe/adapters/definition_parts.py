"""What every writer of one shape of definitions shows of a tool; all of it copies."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from vespe.adapters.definitions import API_FIELDS, called
from vespe.adapters.messages import detached
from vespe.documents import strict_json
from vespe.errors import InvalidDocument
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
_MOST_EXAMPLES: Final = 5
_LONGEST_EXAMPLE: Final = 2000
"""How many examples a model is shown, and how long the JSON of each may be: it reads all of them
with every request.
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


def strictly(tool: Tool, schema: JsonObject) -> Tool:
    """Return the tool with a schema in OpenAI's strict mode, as each API that knows it is told."""
    kept = tool.document.get(API_FIELDS)
    fields: JsonObject = dict(kept) if isinstance(kept, Mapping) else {}
    for shape in _SHARED["strict"]:
        own: JsonObject = detached(_kept(tool, shape), called(tool.name))
        _put(own, shape, "strict", True)
        fields[shape] = own
    return replace(tool, input_schema=schema, document={**tool.document, API_FIELDS: fields})


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


def shown_examples(tool: Tool, key: str) -> JsonObject:
    """Return `{key: […]}` with copies of inputs that the tool's examples succeed with and that its
    schema takes, the first five different ones; `{}` where there is none.

    Arguments that are not the model's to give are left out of them.
    """
    made: dict[str, JsonObject] = {}
    for example in tool.examples:
        given = _shown_input(tool, example)
        if given is not None and len(text := strict_json.compact_json(given)) <= _LONGEST_EXAMPLE:
            made.setdefault(text, given)
        if len(made) == _MOST_EXAMPLES:
            break
    return {key: list(made.values())} if made else {}


def own_annotations(tool: Tool) -> JsonObject:
    """Return a copy of the tool's annotations."""
    made: JsonObject = detached(dict(tool.annotations), called(tool.name))
    return made


def _shown_input(tool: Tool, example: JsonObject) -> JsonObject | None:
    """Return a copy of an example's input, None where the call fails or the schema refuses it."""
    given = example.get("input")
    if "error" in example or not isinstance(given, dict):
        return None
    kept = tool.behind.hidden | tool.behind.preset.keys() if tool.behind else ()
    try:
        made: JsonObject = detached(
            {name: value for name, value in given.items() if name not in kept}, called(tool.name)
        )
        judge = validator.compile_schema(tool.input_schema, closed=True)
    except InvalidDocument:
        return None
    return made if judge.is_valid(made) else None


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
