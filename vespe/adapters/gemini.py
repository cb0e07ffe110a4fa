"""Gemini's function declarations, calls and responses; its older schemas, with types in capitals,
are read too.
"""

from typing import Any, ClassVar, Final

from vespe.adapters import (
    definition_parts,
    definitions,
    model_calls,
    result_parts,
    result_texts,
    tool_errors,
)
from vespe.models import Call, JsonObject, JsonValue, Tool
from vespe.records import dataclass

_CAMEL: Final = {
    "function_declarations": "functionDeclarations",
    "parameters_json_schema": "parametersJsonSchema",
    "response_json_schema": "responseJsonSchema",
}
_KNOWN: Final = (
    "name",
    "description",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
)
_TYPES: Final = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_COUNTS: Final = (
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
)


class GeminiShape:
    """Tools as Gemini takes them (API reference, `FunctionDeclaration`)."""

    name = "gemini"

    def definition(self, tool: Tool) -> JsonObject:
        """Return `{"name", "description", "parametersJsonSchema"}`, with `responseJsonSchema` where
        the tool has an output schema.

        Those fields take JSON Schema; the older `parameters` take a part of OpenAPI's, which cannot
        say every schema.
        """
        told = definition_parts.described(tool) | {
            "parametersJsonSchema": definition_parts.shown_schema(tool)
        }
        return (
            definition_parts.own_fields(tool, self.name)
            | told
            | definition_parts.shown_output(tool, "responseJsonSchema")
        )

    def read(self, definition: JsonObject) -> Tool:
        """Return the tool of a declaration, in camel or snake case, of either kind of schema."""
        given = {
            _CAMEL.get(key, key): value for key, value in definitions.shallow(definition).items()
        }
        inputs = given.get("parametersJsonSchema", json_schema(given.get("parameters")))
        output = given.get("responseJsonSchema", json_schema(given.get("response")))
        rest = definitions.others(given, _KNOWN)
        return definitions.foreign_tool(
            self.name,
            given,
            schema=inputs,
            rest=rest,
            output_schema=definitions.object_or_none(given, "response", output),
        )


def json_schema(schema: Any) -> Any:
    """Return the JSON Schema of Gemini's `Schema`: types in small letters, `nullable` as a type,
    counts that came as strings as numbers.
    """
    if isinstance(schema, list):
        return [json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made: JsonObject = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            made[key] = {name: json_schema(sub) for name, sub in value.items()}
        elif key in _COUNTS and isinstance(value, str) and value.isascii() and value.isdigit():
            made[key] = int(value)
        elif key == "type" and value in _TYPES:
            made[key] = value.lower()
        elif key in ("items", "anyOf", "additionalProperties"):
            made[key] = json_schema(value)
        elif key != "propertyOrdering":
            made[key] = value
    if made.pop("nullable", False) is True and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
        if isinstance(made.get("enum"), list) and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
    return made


@dataclass(frozen=True, slots=True)
class GeminiAdapter:
    """One tool at Gemini."""

    name: ClassVar[str] = "gemini"
    tool: Tool
    execute_tool = model_calls.execute_tool

    def generate_tool_description(self) -> JsonObject:
        """Return the entry of a tool's `functionDeclarations`."""
        return GeminiShape().definition(self.tool)

    def parse_llm_response(self, text_or_message: JsonValue) -> tuple[Call, ...]:
        """Return the calls in the parts of a content, or of every candidate of a whole response."""
        given = model_calls.read_answer(text_or_message, what="Gemini's content")
        candidates = model_calls.objects(given.get("candidates"), "`candidates`")
        contents = list(
            model_calls.objects(
                [candidate.get("content") or {} for candidate in candidates], "`content`"
            )
        ) or [given]
        parts = (
            part
            for content in contents
            for part in model_calls.objects(content.get("parts"), "`parts`")
        )
        calls = (part.get("functionCall", part.get("function_call")) for part in parts)
        return model_calls.own_calls(
            self.tool,
            (
                model_calls.made_call(c.get("name"), c.get("args"), c.get("id"))
                for c in calls
                if isinstance(c, dict)
            ),
        )

    def format_tool_output(self, output: object, *, call_id: str = "") -> JsonObject:
        """Return the part with the `functionResponse`: an object as it is, anything else under
        `result`, an error under `error`. Images are `inlineData` in its `parts`, which Gemini 3
        takes; earlier models take them as parts of the content beside it.
        """
        value, failed = tool_errors.outcome_of(output)
        parts = result_parts.shown(value)
        value = result_texts.apart(value) if isinstance(parts, str) else result_parts.text_in(parts)
        response = (
            value if isinstance(value, dict) and not failed else {tool_errors.key_of(failed): value}
        )
        identified = {"id": call_id} if call_id else {}
        made: JsonObject = identified | {"name": self.tool.name, "response": response}
        if not isinstance(parts, str):
            images = result_parts.images_in(parts)
            made["parts"] = [
                {"inlineData": {"mimeType": kind, "data": data}} for kind, data in images
            ]
        return {"functionResponse": made}
