"""Mends what is safe to mend: the form of a file, types under another language's name, and inputs
left open by omission.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.documents.pointers import resolve_pointer
from vespe.errors import InvalidDocument
from vespe.features.lint import foreign
from vespe.features.lint.paths import LintPath, places, tool_directories, touched
from vespe.features.lint.rules.schema import TYPES, meant, types_of
from vespe.files import atomic
from vespe.models import JsonObject, JsonValue
from vespe.projects import project
from vespe.schemas import validator
from vespe.schemas.subschemas import walk

_MOST: Final = 4 * defaults.MAX_SUBSCHEMAS


def mend(paths: Iterable[str], *, changed: Collection[str] | None = None) -> Iterator[str]:
    """Mend what stands at the paths, and give each file that was written.

    A file that cannot be read, or whose text is not UTF-8, is left as it is; so is YAML, whose
    comments a rewrite would lose. Raises NotFound as lint does, and StorageError where a file
    cannot be written.
    """
    for place in list(places(paths)):
        for file, fix in _files(place):
            if touched(file, changed) and _is_within(file, place) and _written(file, fix):
                yield file


Fix = Callable[[bytes, str], str]


def _files(place: LintPath) -> Iterator[tuple[str, Fix]]:
    if place.kind == "tool":
        yield os.path.join(place.path, defaults.CONFIG_FILE), _tool
    elif place.kind == "file":
        yield place.path, _foreign
    elif place.kind in ("kit_config", "project_config"):
        yield place.path, _form
    else:
        directory = project.tools_dir(place.path) if place.kind == "project" else place.path
        if place.kind == "project":
            yield project.config_path(place.path), _form
        elif place.kind == "kit":
            yield os.path.join(place.path, defaults.KIT_CONFIG_FILE), _form
        yield from (
            (os.path.join(directory, uid, defaults.CONFIG_FILE), _tool)
            for uid in tool_directories(directory)
        )


def _is_within(file: str, place: LintPath) -> bool:
    """Whether no link leads from the place that was named to the file: what is elsewhere was not
    given to be mended.
    """
    if place.path == file:
        return True
    return os.path.realpath(file) == os.path.join(
        os.path.realpath(place.path), os.path.relpath(file, place.path)
    )


def _written(file: str, fix: Fix) -> bool:
    try:
        if (
            not os.path.isfile(file)
            or os.path.islink(file)
            or os.path.islink(os.path.dirname(file))
        ):
            return False
        before = atomic.read_bytes(file, limit=foreign.MAX_BYTES)
        after = fix(before, file).encode("utf-8")
    except (InvalidDocument, UnicodeEncodeError, RecursionError):
        return False
    if after == before:
        return False
    atomic.write_atomic(file, after, mode=os.stat(file).st_mode & 0o777)
    return True


def _form(data: bytes, path: str) -> str:
    """Return a configuration as Vespe writes it."""
    return strict_json.dump_json(strict_json.parse_object(data, path=path))


def _tool(data: bytes, path: str) -> str:
    document = strict_json.parse_object(data, path=path)
    schema = document.get("schema")
    if isinstance(schema, dict):
        for key in ("input", "output"):
            if key in schema:
                schema[key] = mended(schema[key], closed=key == "input")
    return strict_json.dump_json(document)


def _foreign(data: bytes, path: str) -> str:
    """Return a file of definitions with its schemas mended; as it is where nothing was, since its
    form is its author's.
    """
    text = data.decode("utf-8", "replace")
    file = foreign.parse(
        data, text, path=path, kind="jsonl" if path.endswith((".jsonl", ".ndjson")) else "json"
    )
    if path.endswith((".yaml", ".yml")) or any(not trouble.readable for trouble in file.troubles):
        raise InvalidDocument("is left as it is", path=path)
    if file.kind == "jsonl":
        return _lines(file, text)
    value = strict_json.parse_json(data, limit=foreign.MAX_BYTES)
    if not _mend_definitions(file, value):
        return text
    indent = 2 if "\n" in text.strip() else None
    return strict_json.repair_surrogates(json.dumps(value, indent=indent, ensure_ascii=False)) + (
        "\n" if text.endswith("\n") else ""
    )


def _lines(file: foreign.ForeignFile, text: str) -> str:
    rows = [line for line in text.split("\n") if line.strip()]
    values = [strict_json.parse_json(row.encode("utf-8"), limit=foreign.MAX_BYTES) for row in rows]
    changed = _mend_definitions(file, values)
    made = [
        json.dumps(value, ensure_ascii=False) if str(index) in changed else row
        for index, (row, value) in enumerate(zip(rows, values, strict=True))
    ]
    return "\n".join(made) + ("\n" if text.endswith("\n") else "") if changed else text


def _mend_definitions(file: foreign.ForeignFile, whole: JsonValue) -> set[str]:
    """Mend the schemas of every definition inside `whole`; give the first steps of the pointers to
    those that changed.
    """
    changed = set()
    for definition in file.definitions:
        for part in ("input_schema", "output_schema"):
            pointer = definition.pointers.get(part)
            if pointer is None or definition.api == "gemini":
                continue
            above, _, key = pointer.rpartition("/")
            holder = resolve_pointer(whole, above)
            after = mended(holder[key], closed=part == "input_schema")
            if after != holder[key]:
                holder[key] = after
                changed.add(pointer.split("/")[1])
    return changed


def mended(schema: JsonValue, *, closed: bool) -> JsonValue:
    """Return a schema with types by their right names and, with `closed`, unknown names refused;
    itself where nothing is to mend.
    """
    made = json.loads(json.dumps(schema)) if isinstance(schema, dict) else schema
    for _, sub, _, _ in walk(made, most=_MOST):
        if isinstance(sub, dict) and "type" in sub:
            _mend_type(sub)
    if closed and isinstance(made, dict) and made.get("type") == "object":
        return validator.closed_schema(made)
    return made


def _mend_type(schema: JsonObject) -> None:
    kinds: list[Any] = types_of(schema)
    right = [
        kind
        if kind in TYPES or not isinstance(kind, str) or (name := meant(kind)) is None
        else name
        for kind in map(_plain, kinds)
    ]
    if right == kinds:
        return
    if "" in right:
        del schema["type"]
    else:
        unique = list(dict.fromkeys(right))
        schema["type"] = unique if isinstance(schema["type"], list) else unique[0]


def _plain(kind: Any) -> Any:
    return kind if isinstance(kind, (str, int, float, bool, type(None))) else str(kind)
