"""A copy of a project for what is tried and not meant: a recorded conversation, a tool with fewer
permissions.
"""

import contextlib
import os
import stat
from collections.abc import Iterator

from vespe.errors import Refused, StorageError
from vespe.files.private_copy import private_directory
from vespe.lazy import shutil


@contextlib.contextmanager
def copied_project(root: str, *, most: int | None = None) -> Iterator[str]:
    """Copy a project beneath TMPDIR for as long as the context lasts, links as links, and give the
    copy's root.

    Raises StorageError, and Refused where its files have more than `most` bytes.
    """
    left = most

    def special(directory: str, names: list[str]) -> list[str]:
        """Return what is neither a file, a directory nor a link: reading a pipe would not end."""
        nonlocal left
        found = {name: os.lstat(os.path.join(directory, name)) for name in names}
        if left is not None:
            left -= sum(one.st_size for one in found.values() if stat.S_ISREG(one.st_mode))
            if left < 0:
                raise Refused(
                    f"{root} is too large to be copied: its files have more than {most} bytes",
                    hint="put the files that an example needs into the tool's `example_files`",
                )
        kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
        return [name for name, one in found.items() if not any(is_(one.st_mode) for is_ in kinds)]

    with private_directory() as private:
        copy = os.path.join(private, os.path.basename(os.path.realpath(root)) or "project")
        try:
            shutil.copytree(root, copy, symlinks=True, ignore=special)
        except (OSError, shutil.Error) as error:
            if isinstance(error, Refused):
                raise
            raise StorageError(
                "copy", root, error if isinstance(error, OSError) else OSError(str(error))
            ) from error
        yield copy
