"""A kit on this machine made one file, for places without git."""

import hashlib
import os
from dataclasses import dataclass

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, NotFound, StorageError
from vespe.files import digests
from vespe.files.digests import File
from vespe.kits import archives as kit_archives
from vespe.kits import kit_folders, roots
from vespe.kits.trees import EXECUTABLE

SUFFIX = ".kit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An archive that was written: `digest` is that of the kit's content, as a lock has it; `size` is the archive's, in bytes."""

    kit_id: str
    path: str
    files: int
    size: int
    digest: str


def pack_kit(which: str, target: str | None = None) -> Packed:
    """Write the kit in the directory `which`, or of that id, into `target` (default: `<kit_id>.kit` in the working directory).

    All files of the directory are in it but `.git`, byte code and other archives. Raises KitNotFound, NotFound,
    InvalidDocument for a broken kit, Refused for an entry that could not be installed, StorageError.
    """
    directory = _directory(which)
    config = os.path.join(directory, defaults.KIT_CONFIG_FILE)
    document = strict_json.read_object(config)
    kit_id = document.get("kit_id")
    if not isinstance(kit_id, str):
        raise InvalidDocument("names no `kit_id`", path=config, pointer="/kit_id")
    if problem := roots.config_problem(document, kit_id):
        raise InvalidDocument(problem.reason, path=config, pointer=problem.pointer)
    try:
        archives = {name for name in os.listdir(directory) if name.endswith(SUFFIX)}
    except OSError as error:
        raise StorageError("read", directory, error) from error
    tree = kit_folders.folder_tree(directory, kit_id, left_out={".git", *archives})
    data = kit_archives.pack(tree)
    path = os.path.abspath(target or f"{kit_id}{SUFFIX}")
    strict_json.write_atomic(path, data)
    packed = {
        entry.path: File(executable=entry.mode == EXECUTABLE, sha256=hashlib.sha256(contents).hexdigest())
        for entry, contents in kit_archives.archive_tree(path).read(tree.entries)
    }
    return Packed(kit_id=kit_id, path=path, files=len(packed), size=len(data), digest=digests.digest_of(packed))


def _directory(which: str) -> str:
    if os.sep not in which and not which.startswith(".") and not os.path.isdir(which):
        return roots.find_kit(which).path
    if not os.path.lexists(os.path.join(which, defaults.KIT_CONFIG_FILE)):
        raise NotFound(f"{which} is no kit: it has no {defaults.KIT_CONFIG_FILE}", hint="name a kit's directory, or its id")
    return os.path.realpath(which)
