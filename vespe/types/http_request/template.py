"""What a new http_request begins with: a template, or the user's own URL and arguments."""

from collections.abc import Mapping
from typing import Any

from vespe.models import JsonObject
from vespe.tool_types import NewTool
from vespe.tools.new_tool import SLOT, ToolTemplate, document_of, said_of, schemas_of, slots_schema

PLACEHOLDER_URL = "https://api.example.com/items"
_CURRENCY: JsonObject = {"type": "string", "pattern": "^[A-Z]{3}$"}
_RATE = ToolTemplate(
    description="Get the exchange rate between two currencies.",
    input_schema={
        "type": "object",
        "properties": {
            "base": {
                **_CURRENCY,
                "description": "The currency to convert from, as three letters.",
                "default": "EUR",
            },
            "quote": {**_CURRENCY, "description": "The currency to convert to.", "default": "USD"},
            "date": {
                "type": "string",
                "description": "The day (YYYY-MM-DD); without it, the newest rate.",
            },
        },
        "additionalProperties": False,
    },
    entrypoint="GET",
    path="https://api.frankfurter.dev/v2/rate/{base}/{quote}",
    args={"query": {"date": "{date}"}, "response": "json"},
)
"""A public API that asks for no key: https://frankfurter.dev."""


def http_template(
    schema: JsonObject | None, args: JsonObject | None, url: str | None, method: str = "GET"
) -> ToolTemplate:
    """A GET of a public API, or of the user's own URL with inputs that follow from the slots in it
    and in the arguments.
    """
    described = (
        f"Send a {method} request to {url.partition('?')[0]}."
        if url
        else "Get one item from the service."
    )
    if url is None and schema is None and args is None:
        return _RATE
    path, inputs = url or PLACEHOLDER_URL, schema or slots_schema([url], optional=args)
    if args is None:
        inside = SLOT.findall(path)
        named = inputs.get("properties") if isinstance(inputs, dict) else None
        query = {
            key: f"{{{key}}}"
            for key in (named if isinstance(named, dict) else ())
            if key not in inside
        }
        args = {"query": query} if query else {}
    return ToolTemplate(
        description=described, input_schema=inputs, entrypoint="GET", path=path, args=args
    )


def begin(type: str, name: str, *, given: Mapping[str, Any]) -> NewTool:
    """Return a new tool that says what is `given`."""
    inputs = schemas_of(given.get("schema"), {}, None)["input"] or None
    method = str(given.get("entrypoint") or "GET")
    template = http_template(inputs, given.get("args"), given.get("path"), method)
    schema = schemas_of(given.get("schema"), template.input_schema, None)
    return NewTool(document_of(name, type, {**said_of(template), **given, "schema": schema}), {})
