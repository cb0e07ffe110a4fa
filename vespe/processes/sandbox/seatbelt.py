"""The profile of macOS's sandbox for a tool's process. It is written after Apple's manual pages and
has run on no machine of ours yet.
"""

from collections.abc import Iterable
from typing import Final

PROGRAM: Final = "/usr/bin/sandbox-exec"
_TRIED: Final = "(version 1)(allow default)"
_WRITABLE: Final = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper")


def trial() -> tuple[str, ...]:
    """Return a command that ends with 0 where profiles can be used."""
    return (PROGRAM, "-p", _TRIED, "/usr/bin/true")


def profile(
    *, hidden: Iterable[str], readable: Iterable[str], writable: Iterable[str], network: bool
) -> str:
    """Return the profile: what is `hidden` is not read unless it is `readable`, only what is
    `writable` is written.

    The last rule that fits counts. `network` is whether any host may be reached: hosts cannot be
    told apart.
    """
    lines = ["(version 1)", "(allow default)"]
    lines += [f"(deny file-read-data {_beneath(path)})" for path in hidden]
    lines += [f"(allow file-read* {_beneath(path)})" for path in readable]
    lines += [
        "(deny file-write*)",
        *(f"(allow file-write* {_beneath(path)})" for path in (*writable, *_WRITABLE)),
    ]
    lines += [] if network else ["(deny network*)"]
    return "\n".join([*lines, "(deny signal (target others))"])


def _beneath(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'(subpath "{escaped}")'
