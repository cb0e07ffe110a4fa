"""Fixes findings where that is safe: types under another language's name, and inputs left open by
omission.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from vespe import defaults
from vespe.documents import strict_json
from vespe.documents.pointers import resolve_pointer
from vespe.errors import InvalidDocument
from vespe.features.lint import foreign
from vespe.features.lint.findings import Finding
from vespe.features.lint.paths import LintPath, places, tool_directories
from vespe.features.lint.rules.schema import TYPES, meant, types_of
from vespe.files import atomic
from vespe.models import JsonObject, JsonValue
from vespe.projects import project
from vespe.schemas import validator

_OPEN_RULE: Final = "schema-open"
_RULES: Final = ("schema-unknown-type", "schema-root", _OPEN_RULE)
"""The rules whose findings can be fixed, types first, because only an object can be closed."""
_TYPE: Final = re.compile(r"(.*)/type(?:/[0-9]+)?", re.DOTALL)


class FixedFinding(NamedTuple):
    """A finding that was fixed, and what of the file is another one now."""

    finding: Finding
    what: str


def fix(findings: Iterable[Finding], paths: Iterable[str]) -> Iterator[FixedFinding]:
    """Fix what is safe to fix of the findings at the paths, file by file, and return each fix after
    its file was written. Nothing else of a file changes, except for the format of a config.json.

    A file that cannot be read, or whose text is not UTF-8, is left as it is; so is YAML, whose
    comments a rewrite would lose. Raises NotFound as lint does, and StorageError where a file
    cannot be written.
    """
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.rule in _RULES:
            by_file.setdefault(os.path.abspath(finding.path), []).append(finding)
    for place in list(places(paths)):
        for file, rewrite in _files(place):
            found = by_file.pop(os.path.abspath(file), [])
            if found and _is_within(file, place):
                yield from _written(file, rewrite, found)


Rewrite = Callable[[bytes, str, Sequence[Finding]], tuple[str, list[FixedFinding]]]


def _files(place: LintPath) -> Iterator[tuple[str, Rewrite]]:
    if place.kind == "tool":
        yield os.path.join(place.path, defaults.CONFIG_FILE), _tool
    elif place.kind == "file":
        yield place.path, _foreign
    elif place.kind not in ("kit_config", "project_config"):
        directory = project.tools_dir(place.path) if place.kind == "project" else place.path
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


def _written(file: str, rewrite: Rewrite, findings: Sequence[Finding]) -> list[FixedFinding]:
    try:
        if (
            not os.path.isfile(file)
            or os.path.islink(file)
            or os.path.islink(os.path.dirname(file))
        ):
            return []
        before = atomic.read_bytes(file, limit=foreign.MAX_BYTES)
        text, fixed = rewrite(before, file, findings)
        after = text.encode("utf-8")
    except (InvalidDocument, UnicodeEncodeError, RecursionError):
        return []
    if not fixed:
        return []
    atomic.write_atomic(file, after, mode=os.stat(file).st_mode & 0o777)
    return fixed


def _tool(data: bytes, path: str, findings: Sequence[Finding]) -> tuple[str, list[FixedFinding]]:
    document = strict_json.parse_object(data, path=path)
    fixed = _fix_all(document, findings)
    return strict_json.dump_json(document), fixed


def _foreign(data: bytes, path: str, findings: Sequence[Finding]) -> tuple[str, list[FixedFinding]]:
    """Return a file of definitions with its schemas fixed. The lines of JSONL that nothing was
    fixed in stay as they are, since their form is their author's.
    """
    text = data.decode("utf-8", "replace")
    file = foreign.parse(
        data, text, path=path, kind="jsonl" if path.endswith((".jsonl", ".ndjson")) else "json"
    )
    if path.endswith((".yaml", ".yml")) or any(not trouble.readable for trouble in file.troubles):
        raise InvalidDocument("is left as it is", path=path)
    # Gemini has names of its own for the types.
    own = tuple(
        f"{pointer}/"
        for definition in file.definitions
        if definition.api == "gemini"
        for pointer in definition.pointers.values()
        if pointer
    )
    fixable = [finding for finding in findings if not f"{finding.pointer}/".startswith(own)]
    if file.kind == "jsonl":
        return _lines(text, fixable)
    value = strict_json.parse_json(data, limit=foreign.MAX_BYTES)
    fixed = _fix_all(value, fixable)
    indent = 2 if "\n" in text.strip() else None
    made = strict_json.repair_surrogates(json.dumps(value, indent=indent, ensure_ascii=False))
    return made + ("\n" if text.endswith("\n") else ""), fixed


def _lines(text: str, findings: Sequence[Finding]) -> tuple[str, list[FixedFinding]]:
    rows = [line for line in text.split("\n") if line.strip()]
    values = [strict_json.parse_json(row.encode("utf-8"), limit=foreign.MAX_BYTES) for row in rows]
    fixed = _fix_all(values, findings)
    changed = {one.finding.pointer.split("/")[1] for one in fixed}
    made = [
        json.dumps(value, ensure_ascii=False) if str(index) in changed else row
        for index, (row, value) in enumerate(zip(rows, values, strict=True))
    ]
    return "\n".join(made) + ("\n" if text.endswith("\n") else ""), fixed


def _fix_all(whole: JsonValue, findings: Sequence[Finding]) -> list[FixedFinding]:
    """Fix findings inside `whole`."""
    fixed = []
    for finding in sorted(findings, key=lambda one: _RULES.index(one.rule)):
        fixer = _close if finding.rule == _OPEN_RULE else _mend_type
        try:
            what = fixer(whole, finding.pointer)
        except (LookupError, ValueError):
            continue
        if what:
            fixed.append(FixedFinding(finding, what))
    return fixed


def _close(whole: JsonValue, pointer: str) -> str:
    """Refuse unknown names at the root of the schema at a pointer; return what was done, "" where
    nothing was.
    """
    schema = resolve_pointer(whole, pointer)
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return ""
    closed = validator.closed_schema(schema)
    if not isinstance(closed, dict) or closed == schema:
        return ""
    added = [key for key in closed if key not in schema]
    schema.clear()
    schema.update(closed)
    return f"added {', '.join(f'`{key}`' for key in added)} at {pointer}"


def _mend_type(whole: JsonValue, pointer: str) -> str:
    """Give a type its right name; return what was done, "" where nothing was."""
    at = _TYPE.fullmatch(pointer)
    schema = resolve_pointer(whole, at[1]) if at else None
    if not isinstance(schema, dict) or "type" not in schema:
        return ""
    before = strict_json.compact_json(schema["type"])
    if not _renamed(schema):
        return ""
    if "type" not in schema:
        return f"removed the type {before} at {at[1] if at else pointer}"
    after = strict_json.compact_json(schema["type"])
    return f"the type {before} at {at[1] if at else pointer} is now {after}"


def _renamed(schema: JsonObject) -> bool:
    kinds: list[Any] = types_of(schema)
    right = [
        kind
        if kind in TYPES or not isinstance(kind, str) or (name := meant(kind)) is None
        else name
        for kind in map(_plain, kinds)
    ]
    if right == kinds:
        return False
    if "" in right:
        del schema["type"]
    else:
        unique = list(dict.fromkeys(right))
        schema["type"] = unique if isinstance(schema["type"], list) else unique[0]
    return True


def _plain(kind: Any) -> Any:
    return kind if isinstance(kind, (str, int, float, bool, type(None))) else str(kind)
