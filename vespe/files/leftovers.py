"""What a process that was killed, or a tool, has left: removed whatever it is, by the next one that comes by."""

import contextlib
import os
import re
import stat

from vespe.processes.signals import whole


def sweep_beside(path: str | os.PathLike[str]) -> None:
    """Remove the unfinished successors (`NAME.PID-TIME.tmp`) of the file at `path`; the caller holds the lock of its directory.

    What cannot be removed stays, and is tried again the next time.
    """
    directory, name = os.path.split(os.fspath(path))
    unfinished = re.compile(rf"{re.escape(name)}\.[0-9a-f]+-[0-9a-f]+\.tmp")
    with contextlib.suppress(OSError):
        for found in os.listdir(directory or "."):
            if unfinished.fullmatch(found):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(directory, found))


@whole
def delete(path: str) -> None:
    """Delete a directory of ours, read-only ones in it too; links are deleted, never followed. What cannot be deleted stays."""
    directories = [path]
    for directory in directories:
        with contextlib.suppress(OSError):
            os.chmod(directory, stat.S_IRWXU)
            with os.scandir(directory) as listing:
                entries = list(listing)
            directories += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
    for directory in reversed(directories):
        with contextlib.suppress(OSError):
            os.rmdir(directory)
