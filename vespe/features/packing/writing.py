"""Write what a form gives into a directory, or say what is other there."""

import errno
import os
import stat
from pathlib import PurePosixPath

from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.features.packing.forms import Files
from vespe.files import atomic


def differences(directory: str, files: Files, *, own: str, executable: frozenset[str]) -> list[str]:
    """Return the paths in a directory that are missing, hold other bytes, are executable where they
    should not be or the other way round, or are below `own` and no longer among the files.
    """
    other = (
        path
        for path, data in files.items()
        if not _is(os.path.join(directory, path), data, is_executable=path in executable)
    )
    return sorted([*other, *_left_over(directory, files, own)])


def write(directory: str, files: Files, *, own: str, executable: frozenset[str]) -> list[str]:
    """Write what is missing or other, each file whole, and remove what is left over below `own`,
    with the directories that this empties; return the paths of the files.

    Raises StorageError, and Refused where a directory on the way is a link.
    """
    changed = differences(directory, files, own=own, executable=executable)
    for path in changed:
        for parent in list(PurePosixPath(path).parents)[:-1]:
            if os.path.islink(os.path.join(directory, str(parent))):
                raise Refused(
                    f"{os.path.join(directory, str(parent))} is a link: "
                    "nothing is written through it"
                )
        target = os.path.join(directory, path)
        if path not in files:
            with atomic.translated("remove", target):
                os.unlink(target)
                _remove_emptied(os.path.dirname(target), os.path.join(directory, own))
            continue
        with atomic.translated("make", os.path.dirname(target)):
            os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        atomic.write_atomic(target, files[path], mode=0o755 if path in executable else 0o644)
    return changed


def _remove_emptied(place: str, top: str) -> None:
    """Remove a directory below `top` and its parents there, as far as they are empty: a kit's
    directory that has no tool's file in it is an error to whatever reads the kit.
    """
    while place.startswith(f"{top}{os.sep}"):
        try:
            os.rmdir(place)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return
            raise
        place = os.path.dirname(place)


def _is(path: str, data: bytes, *, is_executable: bool) -> bool:
    try:
        same = atomic.read_bytes(path, limit=max(len(data), 1)) == data
        return same and bool(os.stat(path).st_mode & stat.S_IXUSR) is is_executable
    except (StorageError, InvalidDocument, OSError):
        return False


def _left_over(directory: str, files: Files, own: str) -> list[str]:
    found = []
    for place, _, names in os.walk(os.path.join(directory, own)):
        found += [
            os.path.relpath(os.path.join(place, name), directory).replace(os.sep, "/")
            for name in names
        ]
    return [path for path in found if path not in files]
