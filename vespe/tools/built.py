"""What a compiled tool was built from: the record beside its module, and what of it no longer
holds.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic
from vespe.files.trees import TreeFile, read_tree
from vespe.lazy import hashlib
from vespe.tool_types import Compiled, type_in

MODULE: Final = "tool.wasm"
"""What is made of a source, where no key names it."""
RECORD: Final = "build.json"
MAX_MODULE_BYTES: Final = 32 * 1024 * 1024


def source_of(details: Mapping[str, Any]) -> str | None:
    """Return the source that `implementation_details` name, or None where their module came from
    elsewhere.
    """
    kind = type_in(details)
    named = details.get(kind.compiled.source) if kind is not None and kind.compiled else None
    return named if isinstance(named, str) else None


def module_of(details: Mapping[str, Any]) -> str:
    """Return the module's path in the tool's directory."""
    key = _compiled(details).module
    return MODULE if key is None else str(details.get(key))


def _compiled(details: Mapping[str, Any]) -> Compiled:
    """Return how what has a source is compiled."""
    kind = type_in(details)
    if kind is None or kind.compiled is None:
        raise ValueError(f"{details.get('type')} is not compiled")
    return kind.compiled


def language_of(details: Mapping[str, Any]) -> str:
    """Return the language that the source is written in: `rust` or `c`."""
    return _compiled(details).language


def read_sources(directory: str, details: Mapping[str, Any]) -> dict[str, bytes]:
    """Return every file that a build reads, by its path in the tool's directory. Raises
    InvalidDocument and StorageError.
    """
    ends = _compiled(details).sources
    files: dict[str, TreeFile] = read_tree(directory)
    return {path: file.data for path, file in files.items() if path.endswith(ends)}


def record_of(
    details: Mapping[str, Any], sources: Mapping[str, bytes], module: bytes, *, compiler: str
) -> dict[str, Any]:
    """Return what build.json says of a build: the digests of all that went in and of what came out,
    and the compiler.
    """
    return {
        "module": {module_of(details): digest_of(module)},
        "sources": {path: digest_of(data) for path, data in sorted(sources.items())},
        "entrypoint": details.get("entrypoint"),
        "compiler": compiler,
    }


def digest_of(data: bytes) -> str:
    """Return the digest of a file as build.json has it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def stale(directory: str, details: Mapping[str, Any]) -> Iterator[str]:
    """Say what of a compiled tool's build does not hold: sentences; none for a module whose source
    is elsewhere.
    """
    if source_of(details) is None:
        return
    name = module_of(details)
    if not os.path.lexists(os.path.join(directory, name)):
        yield f"is not compiled: there is no {name}"
        return
    try:
        record = strict_json.read_object(os.path.join(directory, RECORD))
        module = atomic.read_bytes(os.path.join(directory, name), limit=MAX_MODULE_BYTES)
        now = record_of(details, read_sources(directory, details), module, compiler="")
    except (InvalidDocument, StorageError) as error:
        yield f"does not say what {name} was compiled from: {error}"
        return
    if record.get("module") != now["module"]:
        yield f"has a {name} that is not the one that was built"
    before, sources = record.get("sources"), now["sources"]
    known = before if isinstance(before, dict) else {}
    for path in sorted(known.keys() | sources.keys()):
        if known.get(path) != sources.get(path):
            what = (
                "was changed"
                if path in known and path in sources
                else "is new"
                if path in sources
                else "is gone"
            )
            yield f"has a {name} that is older than its source: {path} {what}"
    if record.get("entrypoint") != now["entrypoint"]:
        yield f"has a {name} that calls a function other than `entrypoint`"
