"""Our own scripts for child interpreters: sent compiled over stdin, since a script given by name is compiled at each start."""

import functools
import marshal
import os
from collections.abc import Mapping
from typing import Any, Final

from vespe.records import dataclass

SUPERVISOR: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "supervisor.py")
ENTER: Final = os.path.join(os.path.dirname(SUPERVISOR), "sandbox", "enter.py")
BOOT: Final = """\
import marshal, os
def take(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            os._exit(1)
        data += more
    return data
code, message = marshal.loads(take(int.from_bytes(take(8), "big")))
space = {"__name__": "vespe_child"}
exec(code, space)
space["main"](message)
"""
"""What `python -c` runs in a child: one of our scripts, which arrives compiled on stdin (see `boot_message`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """What a zygote is made from: calls share one where all of this is the same.

    `argv` is the interpreter with its options, `env` its whole environment, `preload` names distributions (PyPI's names) whose modules are
    imported before any call, and `scripts` are paths of our own scripts: the first one's `main` gets the message of a call, and the
    others as modules.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    preload: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()

    def key(self) -> tuple[object, ...]:
        """Return what tells it from others, with the rights of this process, which a zygote keeps."""
        return (self.argv, tuple(sorted(self.env.items())), self.preload, os.geteuid(), os.getegid())

    def program(self) -> tuple[str, ...]:
        """Return the argv of an interpreter that is started for one call, and reads it on stdin."""
        return (*self.argv, "-c", BOOT)

    def stdin(self, message: Any, *, is_ready: bool) -> bytes:
        """Return what a call reads on stdin: the message, and where no zygote has them ready the scripts too."""
        if not is_ready:
            return boot_message(self.scripts[0], [message, *(compiled(path) for path in self.scripts[1:])])
        data = marshal.dumps(message)
        return len(data).to_bytes(8, "big") + data


def boot_message(path: str, message: Any) -> bytes:
    """Return what BOOT reads on stdin: the script at `path`, compiled, and the `message` for its `main` (marshal's types).

    A script that Python is given by name is compiled at each start (2 to 5 ms of each call); this one comes out of the
    cache that imports use, and once a process.
    """
    data = marshal.dumps((compiled(path), message))
    return len(data).to_bytes(8, "big") + data


@functools.cache
def compiled(path: str) -> Any:
    """Return the code object of one of our own scripts; `marshal` can carry it to an interpreter of this version."""
    loader: Any = type(__spec__.loader)
    if hasattr(loader, "path_stats"):
        return loader("vespe", path).get_code("vespe")
    with open(path, "rb") as file:  # Vespe itself was not imported from files with a cache
        return compile(file.read(), path, "exec")
