"""New tools that run at once, one a type: the script, the schema and the arguments that
`vespe tool create` begins with.
"""

import keyword
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from vespe.files import atomic
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass

TYPES = ("python_script", "shell_command", "http_request", "rust_function")
RUST_GLUE = "vespe.rs"
"""The file beside a tool's own in Rust: JSON, and the way in and out."""
PLACEHOLDER_URL = "https://api.example.com/items"
_SLOT = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")

_SCRIPT = '''"""Count what a text holds; change the function and its docstring, and the schema in config.json with them."""

from typing import TypedDict


class Counts(TypedDict):
    characters: int
    words: int
    lines: int


def {function}(text: str = "hello, world") -> Counts:
    """Count the characters, words and lines of a text.

    Args:
        text: The text to count in.

    Returns:
        How many of each the text holds.
    """
    return {{"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}}
'''  # noqa: E501  # a file as it is written
_OPEN_SCRIPT = '''"""Return back what was received; replace the body with what the tool is for."""


def {function}(**inputs: object) -> dict[str, object]:
    """Return back the inputs that were received.

    Every input of the schema in config.json arrives as a keyword, and so does every fixed argument.
    """
    return {{"received": inputs}}
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """What a new tool begins with; `script` is the text of its Python file, "" for the types that
    need none.
    """

    description: str
    input_schema: JsonObject
    entrypoint: str
    path: str | None = None
    args: JsonObject = field(default_factory=dict)
    script: str = ""


_CURRENCY: JsonObject = {"type": "string", "pattern": "^[A-Z]{3}$"}
_RATE = Template(
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


def python_template(name: str, entrypoint: str | None, *, given: bool) -> Template:
    """A Python function of that name; with a schema or arguments `given` by the user, one that
    takes any keyword.

    The input schema is left empty: it is derived from the script, as for any function.
    """
    function = entrypoint or function_name(name)
    script = (_OPEN_SCRIPT if given else _SCRIPT).format(function=function)
    description = (
        "Give back the inputs that were received."
        if given
        else "Count the characters, words and lines of a text."
    )
    return Template(description=description, input_schema={}, entrypoint=function, script=script)


def rust_files(name: str, function: str) -> dict[str, str]:
    """Return the files of a new tool in Rust, by their names: its own, which says how to change it,
    and what it uses.
    """
    directory = os.path.join(
        os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "rust"
    )
    files = {
        file: atomic.read_bytes(os.path.join(directory, file)).decode("utf-8")
        for file in ("tool.rs", RUST_GLUE)
    }
    return {
        file: text.replace("TOOL_FUNCTION", function).replace("TOOL_NAME", name)
        for file, text in files.items()
    }


def shell_template(
    schema: JsonObject | None, args: JsonObject | None, entrypoint: str | None
) -> Template:
    """A program that every POSIX system has, or the user's own with inputs that follow from the
    slots in its arguments.
    """
    if entrypoint is not None or args is not None:
        given: JsonObject = {"argv": [], **(args or {})}
        inputs = slots_schema([given["argv"], given.get("stdin")])
        return Template(
            description=f"Run {entrypoint or 'a command'}.",
            input_schema=schema or inputs,
            entrypoint=entrypoint or "printf",
            args=given,
        )
    if schema is not None:
        args = {"argv": [], "stdin": "json", "output": "json"}
        return Template(
            description="Give back the inputs that were received.",
            input_schema=schema,
            entrypoint="cat",
            args=args,
        )
    text: JsonObject = {
        "type": "string",
        "description": "The text to print.",
        "default": "hello, world",
    }
    return Template(
        description="Print a text.",
        input_schema={
            "type": "object",
            "properties": {"text": text},
            "additionalProperties": False,
        },
        entrypoint="printf",
        args={"argv": ["--", "%s", "{text}"], "output": "text"},
    )


def http_template(schema: JsonObject | None, args: JsonObject | None, url: str | None) -> Template:
    """A GET of a public API, or of the user's own URL with inputs that follow from the slots in it
    and in the arguments.
    """
    described = f"Ask {url.partition('?')[0]}." if url else "Get one item from the service."
    if url is None and schema is None and args is None:
        return _RATE
    path, inputs = url or PLACEHOLDER_URL, schema or slots_schema([url], optional=args)
    if args is None:
        inside = _SLOT.findall(path)
        named = inputs.get("properties") if isinstance(inputs, dict) else None
        query = {
            key: f"{{{key}}}"
            for key in (named if isinstance(named, dict) else ())
            if key not in inside
        }
        args = {**({"query": query} if query else {}), "response": "json"}
    return Template(
        description=described, input_schema=inputs, entrypoint="GET", path=path, args=args
    )


def slots_schema(templates: list[JsonValue], *, optional: JsonValue = None) -> JsonObject:
    """A schema of one string input for each `{name}` in the templates.

    What stands only in a list within a list, or only in `optional`, may be absent.
    """
    found: dict[str, bool] = {}
    for nested, name in _slots([*templates], 0):
        found[name] = found.get(name, False) or nested <= 1
    for _, name in _slots(optional, 0):
        found.setdefault(name, False)
    required = [name for name, needed in found.items() if needed]
    schema: JsonObject = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in found},
    }
    return {**schema, **({"required": required} if required else {}), "additionalProperties": False}


def function_name(name: str) -> str:
    """The name of a tool as that of a Python function."""
    plain = name.replace("-", "_")
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def _slots(value: JsonValue, depth: int) -> Iterator[tuple[int, str]]:
    """Every slot in a value with the number of lists above it, not counting the outermost."""
    if isinstance(value, str):
        yield from ((depth - 1, name) for name in _SLOT.findall(value))
    elif isinstance(value, list):
        for item in value:
            yield from _slots(item, depth + 1)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _slots(item, depth)
