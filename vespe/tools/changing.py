"""Single keys of a tool's config.json: which there are, and a document with some of them set or
removed.
"""

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.documents.near import suggest
from vespe.errors import InvalidDocument, NotFound, UsageError
from vespe.lazy import difflib
from vespe.models import JsonObject, JsonValue
from vespe.schemas import published
from vespe.tools import directory

_FIXED: Final = {
    "uid": "it is the name of the tool's directory",
    "name": "`vespe tool rename` changes it",
    "kit_id": "it is the kit that the tool is in",
}


def change_document(
    document: JsonObject, pairs: Sequence[str], unset: Iterable[str], *, path: str, kit: str | None
) -> JsonObject:
    """Return the config.json of the tool in the directory `path` with dotted keys set (KEY=VALUE,
    where VALUE is JSON if it can be, else a string; KEY:=JSON) and removed.

    Raises UsageError for a key that a tool does not have, for a value that makes the tool wrong,
    and for a word that is no pair; NotFound for a key to remove that is not set.
    """
    after = copy.deepcopy(document)
    schema = published.read_published("tool")
    for word in pairs:
        key, candidates = _pair(word)
        _refuse_unknown(key, schema, document)
        after = _with(after, key, candidates, path=path, kit=kit)
    for key in unset:
        _refuse_unknown(key, schema, document)
        after = _without(after, key)
        _refuse_new_problems(f"{key} cannot be removed", document, after, path=path, kit=kit)
    return after


def diff_of(before: JsonObject, after: JsonObject) -> str:
    """Return a unified diff of two config.json; "" where they are the same."""
    old, new = (strict_json.dump_json(one).splitlines() for one in (before, after))
    name = defaults.CONFIG_FILE
    return "\n".join(difflib.unified_diff(old, new, name, f"{name} (changed)", lineterm=""))


def _pair(word: str) -> tuple[str, list[JsonValue]]:
    """Return the key of KEY=VALUE, and what its value may be, the likelier first."""
    key, equals, value = word.partition("=")
    if not equals or not key.rstrip(":"):
        raise UsageError(f"{word!r} is not KEY=VALUE", hint="such as limits.timeout_s=30")
    try:
        found: list[JsonValue] = [strict_json.parse_json(value)]
    except InvalidDocument:
        if key.endswith(":"):
            raise UsageError(
                f"{key}={value}: {value!r} is not JSON", hint=f"write a string as {key[:-1]}=TEXT"
            ) from None
        return key, [value]
    return (key[:-1], found) if key.endswith(":") else (key, [*found, value])


def _with(
    document: JsonObject, key: str, candidates: list[JsonValue], *, path: str, kit: str | None
) -> JsonObject:
    """Return the document with the first value that leaves the tool right; text that is JSON may
    be meant as a string.
    """
    refused: list[UsageError] = []
    for value in candidates:
        after = copy.deepcopy(document)
        *parents, last = key.split(".")
        holder: Any = after
        for part in parents:
            holder = holder.setdefault(part, {})
            if not isinstance(holder, dict):
                raise UsageError(f"{key} cannot be set: {part} is not an object")
        holder[last] = value
        try:
            _refuse_new_problems(
                f"{key} cannot be set to that", document, after, path=path, kit=kit
            )
        except UsageError as error:
            refused.append(error)
        else:
            return after
    raise refused[0]


def _without(document: JsonObject, key: str) -> JsonObject:
    """Return the document without a key, and without the objects that it leaves empty."""
    after = copy.deepcopy(document)
    at: list[Any] = [after]
    for part in (parts := key.split(".")):
        if not isinstance(at[-1], dict) or part not in at[-1]:
            raise NotFound(f"the tool's config.json does not set {key}")
        at.append(at[-1][part])
    for holder, part in reversed([*zip(at, parts, strict=False)]):
        if (part == parts[-1] and holder is at[-2]) or not holder[part]:
            del holder[part]
    return after


def _refuse_new_problems(
    what: str, before: JsonObject, after: JsonObject, *, path: str, kit: str | None
) -> None:
    """Refuse what makes a tool wrong; what was wrong before may stay so."""
    there, now = (
        directory.check(path, kit_id=kit, config=strict_json.dump_json(one).encode())[1]
        for one in (before, after)
    )
    known = {problem.message for problem in there}
    if new := [problem for problem in now if problem.message not in known]:
        raise UsageError(f"{what}: {'; '.join(map(str, new))}")


def _refuse_unknown(key: str, schema: JsonObject, document: JsonObject) -> None:
    parts = key.split(".")
    if not all(parts):
        raise UsageError(f"{key!r} is not a key", hint="such as limits.timeout_s")
    if parts[0] in _FIXED:
        raise UsageError(f"{key} cannot be set: {_FIXED[parts[0]]}")
    at, there = schema, document
    for depth, part in enumerate(parts):
        known = at.get("properties")
        if not isinstance(known, dict) or "$ref" in at:
            return
        if part not in known and part not in there:
            where = ".".join(parts[:depth]) or "a tool"
            hint = (
                suggest(part, known)
                or _suggest_inner(part, known)
                or f"{where} has {', '.join(sorted(known))}"
            )
            raise UsageError(f"{where} has no key {part!r}", hint=hint)
        at = known.get(part, {})
        there = there.get(part, {}) if isinstance(there.get(part), dict) else {}


def _suggest_inner(word: str, known: JsonObject) -> str:
    """Return the key inside one of the known keys that a word begins or is, such as
    `annotations.readOnlyHint` for `read_only`; "" where there is none.
    """
    begun = _plain(word)
    found = [
        f"{outer}.{inner}"
        for outer, facts in known.items()
        if isinstance(facts, dict) and outer not in ("created_from", "schema")
        for inner in facts.get("properties", ())
        if begun and _plain(inner).startswith(begun)
    ]
    return f"did you mean {' or '.join(found)}?" if found else ""


def _plain(word: str) -> str:
    return "".join(filter(str.isalnum, word)).lower()
