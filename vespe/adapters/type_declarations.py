"""Tools as declarations that editors and type checkers read: Python stubs and TypeScript types."""

import json
import keyword
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from vespe.models import JsonObject, Tool

LANGUAGES: Final = ("python-stubs", "typescript")
_PYTHON: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}
_TYPESCRIPT: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEEPEST: Final = 12
"""Deeper or recursive schemas say `Any`."""
_CLOSED: Final = re.compile(r"\*/")


def declarations(tools: Iterable[Tool], language: str) -> str:
    """Return one file with a function for each tool, in the order of their names; the same tools
    give the same bytes.
    """
    ordered = sorted(tools, key=lambda tool: tool.name)
    return _python(ordered) if language == "python-stubs" else _typescript(ordered)


def _python(tools: list[Tool]) -> str:
    head = (
        '"""The tools as functions, for editors and type checkers; '
        'made by `vespe export --as python-stubs`."""\n\n'
    )
    return head + "from typing import Any, Literal\n\n" + "\n".join(map(_function, tools))


def _function(tool: Tool) -> str:
    name = tool.name if _is_name(tool.name) else re.sub(r"\W", "_", f"_{tool.name}")
    return _stub(tool, name, _arguments(tool.input_schema, ()))


def function_stub(tool: Tool, name: str) -> str:
    """Return the declaration of a function that takes a tool's arguments by keyword, or by position
    in the order of its schema.
    """
    return _stub(tool, name, _arguments(tool.input_schema, positional(tool)))


def positional(tool: Tool) -> tuple[str, ...]:
    """Return the arguments that a function of a tool takes by position: those before the first
    that is no name, or that is needed behind one that is not.
    """
    needed, found = _needed(tool.input_schema), list[str]()
    for name in _properties(tool.input_schema):
        if not _is_name(name) or (name in needed and found and found[-1] not in needed):
            break
        found.append(name)
    return tuple(found)


def _arguments(schema: JsonObject, by_position: Collection[str]) -> list[str]:
    """Return parameters as Python declares them; those that are not `by_position` behind a `*`."""
    properties, needed = _properties(schema), _needed(schema)
    named = {
        name: f"{name}: {_typed(facts, schema, _PythonWords)}"
        + ("" if name in needed else " = ...")
        for name, facts in properties.items()
        if _is_name(name)
    }
    first = [named.pop(name) for name in by_position]
    rest = [named[name] for name in sorted(named, key=lambda name: name not in needed)]
    others = ["**others: Any"] if len(first) + len(rest) < len(properties) else []
    return [*first, *(["*"] if rest else []), *rest, *others]


def _stub(tool: Tool, name: str, parameters: list[str]) -> str:
    result = (
        _typed(tool.output_schema, tool.output_schema, _PythonWords)
        if tool.output_schema
        else "Any"
    )
    said = (
        json.dumps(tool.description, ensure_ascii=False)[1:-1]
        .replace('\\"', '"')
        .replace('"""', "'''")
    )
    return f'def {name}({", ".join(parameters)}) -> {result}:\n    """{said.rstrip(chr(34))}"""\n'


def _typescript(tools: list[Tool]) -> str:
    lines = [
        "// The tools as functions, for editors and type checkers; "
        "made by `vespe export --as typescript`.",
        "",
        "export interface Tools {",
    ]
    for tool in tools:
        given = _typed(tool.input_schema, tool.input_schema, _TypeScriptWords)
        result = (
            _typed(tool.output_schema, tool.output_schema, _TypeScriptWords)
            if tool.output_schema
            else "unknown"
        )
        said = _CLOSED.sub("* /", " ".join(tool.description.split()))
        optional = "" if _needed(tool.input_schema) else "?"
        lines += [
            f"  /** {said} */",
            f"  {_member(tool.name)}(input{optional}: {given}): Promise<{result}>;",
        ]
    return "\n".join([*lines, "}", ""])


class _PythonWords:
    simple, any, either = _PYTHON, "Any", " | "

    @staticmethod
    def literal(values: list[Any]) -> str:
        shown = [
            repr(value) for value in values if value is None or isinstance(value, (str, int, bool))
        ]
        return f"Literal[{', '.join(shown)}]" if len(shown) == len(values) else "Any"

    @staticmethod
    def array(item: str) -> str:
        return f"list[{item}]"

    @staticmethod
    def members(members: Mapping[str, tuple[str, bool]], rest: str | None) -> str:
        kinds = sorted({kind for kind, _ in members.values()})
        only = kinds[0] if len(kinds) == 1 and rest is None else None
        return f"dict[str, {only or (rest if not members and rest else 'Any')}]"


class _TypeScriptWords:
    simple, any, either = _TYPESCRIPT, "unknown", " | "

    @staticmethod
    def literal(values: list[Any]) -> str:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)

    @staticmethod
    def array(item: str) -> str:
        return f"Array<{item}>"

    @staticmethod
    def members(members: Mapping[str, tuple[str, bool]], rest: str | None) -> str:
        shown = [
            f"{_member(name)}{'' if needed else '?'}: {kind}"
            for name, (kind, needed) in members.items()
        ]
        if rest is not None and not members:
            return f"Record<string, {rest}>"
        return "{ " + "; ".join(shown) + " }" if shown else "Record<string, never>"


def _typed(schema: Any, root: Any, words: Any, depth: int = 0) -> str:
    """Return the type of what a schema takes, as far as types can say it: bounds, patterns and
    conditions are left out.
    """
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return str(words.any)
    if isinstance(reference := schema.get("$ref"), str):
        return _typed(_referred(root, reference), root, words, depth + 1)
    if "const" in schema:
        return str(words.literal([schema["const"]]))
    if isinstance(values := schema.get("enum"), list) and values:
        return str(words.literal(values))
    for key in ("anyOf", "oneOf"):
        if isinstance(choices := schema.get(key), list) and choices:
            return _union([_typed(choice, root, words, depth + 1) for choice in choices], words)
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return _union(
            [_typed(schema | {"type": kind}, root, words, depth + 1) for kind in kinds], words
        )
    if kinds == "array":
        return str(words.array(_typed(schema.get("items"), root, words, depth + 1)))
    if kinds == "object" or (kinds is None and "properties" in schema):
        return _object(schema, root, words, depth)
    return str(words.simple.get(kinds, words.any))


def _object(schema: JsonObject, root: Any, words: Any, depth: int) -> str:
    needed = _needed(schema)
    members = {
        name: (_typed(facts, root, words, depth + 1), name in needed)
        for name, facts in _properties(schema).items()
    }
    more = schema.get("additionalProperties", True)
    return str(
        words.members(members, None if more is False else _typed(more, root, words, depth + 1))
    )


def _union(kinds: list[str], words: Any) -> str:
    unique = list(dict.fromkeys(kinds))
    return str(words.any) if words.any in unique else str(words.either.join(unique))


def _referred(root: Any, reference: str) -> Any:
    found = root
    for part in reference.removeprefix("#").split("/")[1:] if reference.startswith("#") else ["?"]:
        found = (
            found.get(part.replace("~1", "/").replace("~0", "~"))
            if isinstance(found, dict)
            else None
        )
    return found


def _properties(schema: JsonObject) -> JsonObject:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _needed(schema: JsonObject) -> list[Any]:
    found = schema.get("required")
    return found if isinstance(found, list) else []


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and not keyword.iskeyword(name)


def _member(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)
