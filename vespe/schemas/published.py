"""The published JSON Schemas of Vespe's own files, as `vespe schema` prints them and editors read
them.
"""

import os
from typing import Final

from vespe import defaults, features
from vespe.documents import strict_json
from vespe.errors import InvalidDocument
from vespe.files import atomic
from vespe.models import JsonObject

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OF_FEATURES: Final = {
    name: os.path.join("features", feature, "data")
    for feature, row in features.FEATURES.items()
    for name in row.get("schemas", ())
    if features.is_present(feature)
}
NAMES: Final = ("tool", "kit", "project", "user", "lock", *_OF_FEATURES)
"""The schemas that there are: the core's own, then those of features."""


def read_published(name: str) -> JsonObject:
    """Return one published schema; `name` is one of NAMES."""
    place = _OF_FEATURES.get(name, "data")
    return strict_json.read_object(os.path.join(_PACKAGE, place, file_name(name)))


def file_name(name: str) -> str:
    """Return the name of the file that a published schema is kept in."""
    return f"{name}.schema.json"


def write_published(directory: str) -> list[str]:
    """Write every published schema into a directory, which is made where it is missing; return the
    paths.

    Raises StorageError, and InvalidDocument where the directory is a link, which can lead anywhere.
    """
    if os.path.islink(directory):
        raise InvalidDocument("is a symbolic link, which Vespe does not follow", path=directory)
    atomic.private_directory(directory, mode=0o755)
    paths = [os.path.join(directory, file_name(name)) for name in NAMES]
    for name, path in zip(NAMES, paths, strict=True):
        atomic.write_atomic(path, strict_json.dump_json(read_published(name)))
    return paths


def reference_from(tools_dir: str) -> str | None:
    """Return what `$schema` of a new tool in a project's tools directory says: where the project
    keeps the schemas, or None.
    """
    kept = os.path.join(
        os.path.dirname(os.path.abspath(tools_dir)), defaults.SCHEMAS_DIR, file_name("tool")
    )
    return f"../../{defaults.SCHEMAS_DIR}/{file_name('tool')}" if os.path.isfile(kept) else None
