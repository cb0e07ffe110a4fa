"""A tool's definition as an MCP server says it: its digest, what differs between two, and the name
that it gets here.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from vespe.documents import strict_json
from vespe.lazy import hashlib, pattern
from vespe.models import JsonObject

FIELDS: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""What of a definition a model or a person goes by: this is pinned; icons and `_meta` are not."""
_OUTSIDE: Final = pattern(r"[^A-Za-z0-9_-]")
_MAX_NAME: Final = 64


def pin(definition: JsonObject) -> JsonObject:
    """Return the part of a definition that is pinned."""
    return {key: definition[key] for key in FIELDS if definition.get(key) is not None}


def digest(definition: JsonObject) -> str:
    """Return `sha256:` and the SHA-256, in hex, of the pinned part as JSON with sorted keys and no
    spaces.
    """
    return json_digest(pin(definition))


def json_digest(value: JsonObject) -> str:
    """Return `sha256:` and the SHA-256, in hex, of an object as JSON with sorted keys and no
    spaces.
    """
    data = strict_json.compact_json(_sorted(value)).encode("utf-8")
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def local_name(name: str) -> str:
    """Return the name that a server's tool has here: what a name may not hold becomes `_`, one that
    is too long ends in a digest.
    """
    made = _OUTSIDE.sub("_", name)
    made = made if made[:1].isalpha() or made[:1] == "_" else f"_{made}"
    if len(made) <= _MAX_NAME:
        return made
    return (
        f"{made[: _MAX_NAME - 9]}_{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
    )


def changes(before: Mapping[str, JsonObject], after: Mapping[str, JsonObject]) -> Iterator[str]:
    """Say in lines what differs between two snapshots, by the tools' names at the server: the old
    and the new in full.
    """
    yield from (f"- {name}: the server no longer has it" for name in before if name not in after)
    for name, definition in after.items():
        if name not in before:
            yield f"+ {name}: {strict_json.compact_json(pin(definition))}"
            continue
        for key in FIELDS:
            old, new = before[name].get(key), definition.get(key)
            if old != new:
                yield f"~ {name}: {key}"
                yield f"    - {strict_json.compact_json(old)}"
                yield f"    + {strict_json.compact_json(new)}"


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
