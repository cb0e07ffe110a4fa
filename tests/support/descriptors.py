"""The open descriptors of this process, in which threads of earlier tests may close theirs."""

import contextlib
import gc
import os
import time

from tests.support.ondisk import PATIENCE_S


def opened() -> set[tuple[str, str]]:
    """Return the number of each open descriptor, and what it refers to."""
    found = set[tuple[str, str]]()
    for number in os.listdir("/dev/fd"):
        # one that another thread closes between the two looks, and that of the listing itself
        with contextlib.suppress(OSError):
            found.add((number, _referred(number)))
    return found


def left_open(before: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the descriptors that were opened since `before` and stay open.

    Another thread may close older ones meanwhile, so their number says little. The garbage
    collector would close what is leaked in a cycle, and hide it.
    """
    until = time.monotonic() + PATIENCE_S
    collected = gc.isenabled()
    gc.disable()
    try:
        while (left := opened() - before) and time.monotonic() < until:
            time.sleep(0.01)
        return left
    finally:
        if collected:
            gc.enable()


def _referred(number: str) -> str:
    if os.path.islink(f"/proc/self/fd/{number}"):
        return os.readlink(f"/proc/self/fd/{number}")
    status = os.fstat(int(number))
    return f"{status.st_dev}:{status.st_ino}"
