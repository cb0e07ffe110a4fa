"""Files of tool definitions that others made: JSON, JSONL or YAML, with the place of each part.

`vespe/adapters/definition_shapes.py` recognises the shapes.
"""

import os
from dataclasses import field
from typing import Any, Final, NamedTuple

from vespe.adapters.definition_shapes import BARE, DECLARATIONS, INPUTS, holders, likely_shape
from vespe.documents import positions, safe_yaml, strict_json
from vespe.documents.pointers import escape_pointer
from vespe.errors import InvalidDocument
from vespe.files import atomic
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass

MAX_BYTES: Final = 64 * 1024 * 1024
_YAML: Final = (".yaml", ".yml")
_LINES: Final = (".jsonl", ".ndjson")
_OUTPUT: Final = ("outputSchema", "output_schema", "response", "responseJsonSchema")
_SAID: Final = {name: name for name in ("openai", "anthropic", "ollama", "mcp", "gemini")} | {
    "responses": "openai-responses"
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One definition as it stands in its file: `pointers` gives the place of each part that it has,
    `""` of the whole.
    """

    api: str
    document: JsonObject
    pointers: dict[str, str]
    name: str | None
    description: str | None
    input_schema: JsonValue = None
    output_schema: JsonValue = None


class Trouble(NamedTuple):
    """Why a file, or one place of it, cannot be read as definitions."""

    message: str
    pointer: str = ""
    line: int = 1
    column: int = 1
    readable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFile:
    """What a file held. `kind` is `json`, `jsonl` or `yaml`; `text` is "" where it is none."""

    path: str
    kind: str
    text: str = ""
    definitions: list[Definition] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)


def read(path: str | os.PathLike[str]) -> ForeignFile:
    """Read a file of definitions; what is wrong with its text or its shapes is among `troubles`.
    Raises StorageError.
    """
    name = os.fspath(path)
    kind = "yaml" if name.endswith(_YAML) else "jsonl" if name.endswith(_LINES) else "json"
    try:
        data = atomic.read_bytes(name, limit=MAX_BYTES)
        text = data.decode("utf-8", "strict")
    except InvalidDocument as error:
        return ForeignFile(path=name, kind=kind, troubles=[Trouble(error.reason, readable=False)])
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    return parse(data, text, path=name, kind=kind)


def parse(data: bytes, text: str, *, path: str, kind: str) -> ForeignFile:
    """Find the definitions in the bytes of a file; `text` is what they say, as far as they can be
    read.
    """
    file = ForeignFile(path=path, kind=kind, text=text)
    if kind == "jsonl":
        return _lines(file)
    try:
        read_one = safe_yaml.parse_yaml if kind == "yaml" else strict_json.parse_json
        value = read_one(data, limit=MAX_BYTES)
    except InvalidDocument as error:
        if kind == "json" and _looks_like_lines(text):
            return _lines(ForeignFile(path=path, kind="jsonl", text=text))
        file.troubles.append(_trouble(error, text, kind))
        return file
    _gather(value, "", file, None)
    if not file.definitions and not file.troubles and value not in ([], {"tools": []}):
        file.troubles.append(
            Trouble(
                "contains no tool definitions in a format that Vespe knows: a list of "
                "definitions, or an object with `tools`"
            )
        )
    return file


def _looks_like_lines(text: str) -> bool:
    first, _, rest = text.lstrip().partition("\n")
    if not rest.strip().startswith("{"):
        return False
    try:
        return isinstance(strict_json.parse_json(first), dict)
    except InvalidDocument:
        return False


def _lines(file: ForeignFile) -> ForeignFile:
    index = 0
    for number, line in enumerate(file.text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = strict_json.parse_json(line.encode("utf-8", "surrogatepass"), limit=MAX_BYTES)
        except InvalidDocument as error:
            file.troubles.append(
                Trouble(error.reason, f"/{index}", number, max(error.column, 1), readable=False)
            )
        else:
            _gather(value, f"/{index}", file, None)
        index += 1
    return file


def _trouble(error: InvalidDocument, text: str, kind: str) -> Trouble:
    line, column = max(error.line, 1), max(error.column, 1)
    if error.pointer:
        line, column = positions.locate(text, [error.pointer], kind=kind)[error.pointer]
    return Trouble(error.reason, error.pointer, line, column, readable=False)


def _gather(value: JsonValue, pointer: str, file: ForeignFile, api: str | None) -> None:
    """Add what `value` holds: a definition, a list of them, or an object with such a list."""
    if isinstance(value, list):
        siblings = api or _shape_of_list(value)
        for index, item in enumerate(value):
            _gather(item, f"{pointer}/{index}", file, siblings)
    elif isinstance(value, dict):
        keys = holders(value)
        if keys:
            said = _SAID.get(str(value.get("api")), api)
            for key in keys:
                below = "gemini" if key in DECLARATIONS else said
                _gather(value[key], f"{pointer}/{escape_pointer(key)}", file, below)
        elif not _is_of_the_vendor(value):
            _add(value, pointer, file, api)
    else:
        file.troubles.append(
            _misplaced(
                f"is not a tool definition: it must be an object, not {value!r:.60}", pointer, file
            )
        )


def _is_of_the_vendor(value: JsonObject) -> bool:
    """Whether a tool is the vendor's own (web search, a code interpreter): it has a type of its own
    and no schema.
    """
    kind = value.get("type")
    if kind == "custom" and isinstance(value.get("custom"), dict):
        return True
    own = isinstance(kind, str) and kind not in ("function", "custom", "object")
    return own and not (
        isinstance(value.get("name"), str) and any(key in value for key, _ in INPUTS)
    )


def _shape_of_list(items: list[Any]) -> str | None:
    return next(
        (
            api
            for item in items
            if isinstance(item, dict) and (api := likely_shape(item)) not in (None, BARE)
        ),
        None,
    )


def _add(value: JsonObject, pointer: str, file: ForeignFile, api: str | None) -> None:
    shape = likely_shape(value)
    inner, at = value, pointer
    if shape == "openai":
        inner, at = value["function"], f"{pointer}/function"
    elif shape is None and not (api or "description" in value or _is_utcp(value)):
        file.troubles.append(
            _misplaced("is not a tool definition in a format that Vespe knows", pointer, file)
        )
        return
    pointers = {"": pointer}
    pointers |= {
        part: f"{at}/{part}"
        for part in ("name", "description", "annotations", "title", "strict")
        if part in inner
    }
    keys = [*(key for key, _ in INPUTS), *(_UTCP_INPUTS if _is_utcp(inner) else ())]
    key = next((key for key in keys if key in inner), None)
    outs = (*_OUTPUT, "outputs") if key in _UTCP_INPUTS else _OUTPUT
    out = next((key for key in outs if isinstance(inner.get(key), dict)), None)
    if key:
        pointers["input_schema"] = f"{at}/{key}"
    if out:
        pointers["output_schema"] = f"{at}/{out}"
    kept = api if shape in (None, BARE) or (shape == "openai" and api == "ollama") else None
    file.definitions.append(
        Definition(
            api=kept or shape or BARE,
            document=value,
            pointers=pointers,
            name=_text(inner.get("name")),
            description=_text(inner.get("description")),
            input_schema=inner[key] if key else None,
            output_schema=inner[out] if out else None,
        )
    )


_UTCP_INPUTS: Final = ("inputs",)


def _is_utcp(definition: JsonObject) -> bool:
    """Whether a definition is of a UTCP manual: a schema of its inputs, or how it is called."""
    return isinstance(definition.get("inputs"), dict) and (
        not _CALLED.isdisjoint(definition) or definition["inputs"].get("type") == "object"
    )


_CALLED: Final = frozenset(("tool_call_template", "tool_provider"))


def _misplaced(message: str, pointer: str, file: ForeignFile) -> Trouble:
    line, column = positions.locate(file.text, [pointer], kind=file.kind)[pointer]
    return Trouble(message, pointer, line, column)


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
