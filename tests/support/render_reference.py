"""Render docs/reference.md from the published JSON Schemas; `python -m tests.support.render_reference`
writes it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vespe

DATA = Path(vespe.__file__).parent / "data"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"
HEAD = """# Configuration files

This page lists every key of the files that Vespe reads. It is generated from the JSON Schemas that `vespe schema` prints. `vespe schema --write` saves these schemas
in a project, so that editors can complete and check the files.

All files are strict JSON. In the tables, `[]` stands for each item of a list, and `*` for any name.
"""
FILES = (
    ("tool", "A tool: `config.json`", "The file `config.json` in a tool's directory."),
    ("kit", "A kit: `kit_config.json`", "The file `kit_config.json` in a kit's directory."),
    (
        "project",
        "A project: `.vespe/config.json`",
        "A project can restrict what you allow, but never extend it. "
        "`vespe config set --project KEY VALUE` changes this file.",
    ),
    (
        "user",
        "Your own settings: `config.json` in your configuration directory",
        "Only you can set these. `vespe config list --all` shows them, and "
        "`vespe config set KEY VALUE` changes them.",
    ),
)
OWNERS = {"tool": "tool", "kit": "kit", "project": "project", "user": "your settings"}
"""How headings name the file of a key."""
MOST_DEEP = 5


def render() -> str:
    """Return the whole page."""
    return HEAD + "".join(_section(*file) for file in FILES)


def _section(name: str, title: str, lead: str) -> str:
    document = json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8"))
    only_user = [key for key, value in document["properties"].items() if "x-restricted" in value]
    parts = [f"\n## {title}\n\n{lead}\n"]
    if only_user:
        names = ", ".join(f"`{key}`" for key in only_user)
        parts.append(
            f"\nA project cannot set these keys. Vespe ignores and reports them: {names}.\n"
        )
    parts.extend(_groups(document, name))
    if name == "tool":
        parts.extend(_types(document))
    return "".join(parts)


def _groups(document: dict[str, Any], name: str) -> Iterator[str]:
    """Yield each key of the file under a heading of its own, and in a table what is below a list or
    below any name: a heading can be linked to, and the site's search ranks it above other pages.
    """
    required = document.get("required", ())
    keys = list(_keys(document, document, "", 0))
    headed = {key for key, _ in keys if all(part.isidentifier() for part in key.split("."))}
    for key, schema in keys:
        if key not in headed:
            continue
        kind = _type_of(schema)
        needed = " Required." if key in required else ""
        yield f"\n{'#' * (3 + min(key.count('.'), 1))} `{key}` ({OWNERS[name]})\n\n"
        yield f"{kind[:1].upper()}{kind[1:]}.{needed} {_description(schema)}".rstrip() + "\n"
        rows = [
            f"| `{path}` | {_type_of(inner)} | {_description(inner)} |\n"
            for path, inner in keys
            if path not in headed and _closest(path, headed) == key
        ]
        if rows:
            yield "\n| key | type | meaning |\n|---|---|---|\n"
            yield from rows


def _closest(path: str, headed: set[str]) -> str:
    """Return the longest key with a heading that a path is below."""
    above = [key for key in headed if path.startswith((f"{key}.", f"{key}["))]
    return max(above, key=len, default="")


def _types(document: dict[str, Any]) -> Iterator[str]:
    """Yield a table of `implementation_details` for each type."""
    definitions = document["$defs"]
    shared = definitions["implementation"]["properties"]
    for name in shared["type"]["enum"]:
        schema = definitions[name]
        required = schema.get("required", ())
        rows = [
            f"| `{key}`{' (required)' if key in required else ''} | {_type_of(one)} "
            f"| {_description(one)} |"
            for key, one in _keys(_with_shared(schema, shared), document, "", 1)
            if _description(one)
        ]
        yield f"\n### `implementation_details` of the type `{name}`\n\n"
        yield "| key | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _with_shared(schema: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Return the details of a type, with what every type's `args` is described as."""
    own = schema.get("properties", {})
    if "args" not in own:
        return schema
    return {**schema, "properties": {**own, "args": {**shared["args"], **own["args"]}}}


def _keys(
    schema: dict[str, Any], document: dict[str, Any], prefix: str, depth: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the keys of an object and of what it holds, as dotted paths."""
    for key, one in schema.get("properties", {}).items():
        if not isinstance(one, dict) or "x-restricted" in one or key == "$schema":
            continue
        one = _resolved(one, document)
        yield prefix + key, one
        yield from _inner(one, document, f"{prefix}{key}", depth + 1)


def _inner(
    schema: dict[str, Any], document: dict[str, Any], path: str, depth: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    if depth > MOST_DEEP:
        return
    yield from _keys(schema, document, f"{path}.", depth)
    for key, suffix in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(below := schema.get(key), dict):
            below = _resolved(below, document)
            yield from _inner(below, document, path + suffix, depth + 1)
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _inner(_resolved(choice, document), document, path, depth + 1)


def _resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference into the document's own definitions; what stands beside it stays."""
    target: Any = document
    if (reference := schema.get("$ref", "")).startswith("#/$defs/"):
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]
        return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _type_of(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(one)}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if isinstance(kind := schema.get("type"), str):
        named = kind
    elif isinstance(kind, list):
        named = " or ".join(kind)
    else:
        choices = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
        named = " or ".join(
            dict.fromkeys(_type_of(one) for one in choices if "type" in one or "const" in one)
        )
    if named == "array" and isinstance(items := schema.get("items"), dict) and "type" in items:
        return f"list of {items['type']}s"
    return named.replace("array", "list")


def _description(schema: dict[str, Any]) -> str:
    parts = [schema.get("description", "")]
    bounds = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}
    stated = [f"{words} {schema[key]}" for key, words in bounds.items() if key in schema]
    if stated:
        parts.append(f"({' and '.join(stated)})")
    if "default" in schema:
        parts.append(f"Default: `{json.dumps(schema['default'])}`.")
    return " ".join(part for part in parts if part).replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
