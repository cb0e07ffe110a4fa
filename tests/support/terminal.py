"""A real pseudo-terminal to run Python on, to see what a person sees."""

import os
import pty
import subprocess
import sys


def on_a_terminal(code: str, **env: str) -> str:
    """Run Python with its output on a real pseudo-terminal of 80 columns."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm", **env}
    with subprocess.Popen([sys.executable, "-c", code], stdout=theirs, stdin=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 65536):
                output += chunk
        except OSError:
            pass  # the other end is closed
    os.close(ours)
    return output.decode("utf-8")
