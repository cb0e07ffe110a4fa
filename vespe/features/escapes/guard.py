"""Removes what was made for a trial where whoever made it was killed."""

# Runs in an interpreter of its own and imports nothing of Vespe. On stdin a path in each line,
# until nobody holds the other end; a last line `done` says that nothing is left to do.

import contextlib
import os
import shutil
import signal
import sys
import time

_LOOK_S, _QUIET_S, _MOST_S = 0.02, 1.0, 10.0
"""What is ended with its maker may still write for a while."""


def main() -> None:
    """Wait, and remove what is there once its maker is gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    paths = sys.stdin.read().splitlines()
    if "done" not in paths:
        remove(paths)


def remove(paths: list[str]) -> None:
    """Remove files and directories until none of them has come again for a while."""
    began = quiet = time.monotonic()
    while time.monotonic() - quiet < _QUIET_S and time.monotonic() - began < _MOST_S:
        for path in paths:
            if os.path.lexists(path):
                quiet = time.monotonic()
                shutil.rmtree(path, ignore_errors=True)
                with contextlib.suppress(OSError):
                    os.unlink(path)
        time.sleep(_LOOK_S)


if __name__ == "__main__":
    with contextlib.suppress(OSError):
        os.setsid()
    main()
