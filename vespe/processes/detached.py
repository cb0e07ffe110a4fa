"""A process that is meant to outlive the command that starts it: in a session of its own, and not
under the supervisor.
"""

import contextlib
import subprocess
from collections.abc import Sequence
from typing import Final

_STARTED: Final[list[subprocess.Popen[bytes]]] = []
"""Those that run still; one that has ended is reaped when the next one starts."""


def start(argv: Sequence[str], stdin: bytes) -> bytes:
    """Start a process, give it `stdin`, and return the first line that it prints; b"" where it ends
    without one. Raises OSError.
    """
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _STARTED[:] = [one for one in (*_STARTED, process) if one.poll() is None or one is process]
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(stdin)
    with process.stdout:
        return process.stdout.readline()
