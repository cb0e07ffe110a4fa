"""What a process that was killed left beside a file that it was replacing: removed by the next one that changes the file."""

import contextlib
import os
import re


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
