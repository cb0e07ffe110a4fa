"""A real pseudo-terminal to run Python and vespe on, to see what a person sees."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(code: str, *, columns: int = 80, **env: str) -> str:
    """Run Python with its output on a real pseudo-terminal."""
    return _run([sys.executable, "-c", code], columns=columns, cwd=None, env=env)


def vespe_on_a_terminal(
    *arguments: str, columns: int = 80, cwd: Path | None = None, typed: str = "", **env: str
) -> str:
    """Run vespe on a real pseudo-terminal, with `typed` waiting there; return all that it shows,
    and an exit code that is not 0.
    """
    return _run(
        [sys.executable, "-m", "vespe", *arguments], columns=columns, cwd=cwd, env=env, typed=typed
    )


def plain(shown: str) -> str:
    """Return what was shown without its styles and without white space at the ends of lines."""
    return "\n".join(line.rstrip() for line in _STYLE.sub("", shown).splitlines()) + "\n"


def environment_of(**env: str) -> dict[str, str]:
    """Return the environment of a person's shell, which is no CI's: without a width, with these
    variables.
    """
    return {
        name: value for name, value in os.environ.items() if name not in ("CI", "COLUMNS", "LINES")
    } | {"TERM": "xterm", **env}


def _run(
    argv: list[str], *, columns: int, cwd: Path | None, env: dict[str, str], typed: str = ""
) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.write(ours, typed.encode())
    with subprocess.Popen(
        argv, cwd=cwd, stdout=theirs, stdin=theirs, stderr=theirs, env=environment_of(**env)
    ) as running:
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 65536):
                output += chunk
        except OSError:
            pass  # the other end is closed
        code = running.wait()
    os.close(ours)
    return output.decode("utf-8").replace("\r\n", "\n") + (f"(exit code {code})\n" if code else "")
