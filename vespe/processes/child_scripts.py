"""Our own scripts for child interpreters: sent compiled over stdin, since a script given by name is
compiled at each start.
"""

import functools
import marshal
import os
from collections.abc import Mapping
from typing import Any, Final

from vespe.records import dataclass

SUPERVISOR: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "supervisor.py")
ZYGOTE: Final = os.path.join(os.path.dirname(SUPERVISOR), "zygote.py")
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
"""What `python -c` runs in a child: one of our scripts, which arrives compiled on stdin (see
`boot_message`).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """What a zygote is made from: calls share one where all of this is the same.

    `argv` is the interpreter with its options, `env` its whole environment, `preload` names
    distributions (PyPI's names) whose modules are imported before any call, and `scripts` are paths
    of our own scripts: the first one's `main` gets the message of a call, and the others as
    modules. `kind` tells an interpreter from another one that stood in the same place before; where
    it begins with "foreign", it is of another version than this one, and compiles our scripts
    itself.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    preload: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    kind: str = ""

    def key(self) -> tuple[object, ...]:
        """Return what tells it from others, with the rights of this process, which a zygote
        keeps.
        """
        return (
            self.argv,
            tuple(sorted(self.env.items())),
            self.preload,
            self.kind,
            os.geteuid(),
            os.getegid(),
        )

    def program(self) -> tuple[str, ...]:
        """Return the argv of an interpreter that is started for one call, and reads it on stdin."""
        return (*self.argv, "-c", BOOT)

    def stdin(self, message: Any, *, is_ready: bool) -> bytes:
        """Return what a call reads on stdin: the message, and where no zygote has them ready the
        scripts too.
        """
        if not is_ready:
            return self.boot(self.scripts[0], [message, *self.code(*self.scripts[1:])])
        return sized(message, version=self._marshal)

    def boot(self, path: str, message: Any) -> bytes:
        """Return what BOOT reads in this interpreter: one of our scripts, and the message for its
        `main`.
        """
        return sized((self.code(path)[0], message), version=self._marshal)

    @property
    def _marshal(self) -> int:
        return 4 if self.kind.startswith("foreign") else marshal.version

    def code(self, *paths: str) -> list[Any]:
        """Return our scripts as this interpreter can run them: compiled, or as they are written."""
        return [
            written(path) if self.kind.startswith("foreign") else compiled(path) for path in paths
        ]


def boot_message(path: str, message: Any) -> bytes:
    """Return what BOOT reads on stdin: the script at `path`, compiled, and the `message` for its
    `main` (marshal's types).

    A script that Python is given by name is compiled at each start (2 to 5 ms of each call); this
    one comes out of the cache that imports use, and once a process.
    """
    return sized((compiled(path), message))


def sized(value: Any, *, version: int = marshal.version) -> bytes:
    """Return a value as BOOT takes it: its size before it, in a version of marshal's format."""
    data = marshal.dumps(value, version)
    return len(data).to_bytes(8, "big") + data


@functools.cache
def written(path: str) -> str:
    """Return the source of one of our own scripts."""
    with open(path, encoding="utf-8") as file:
        return file.read()


@functools.cache
def compiled(path: str) -> Any:
    """Return the code object of one of our own scripts; `marshal` can carry it to an interpreter of
    this version.
    """
    loader: Any = type(__spec__.loader)
    if hasattr(loader, "path_stats"):
        return loader("vespe", path).get_code("vespe")
    with open(path, "rb") as file:  # Vespe itself was not imported from files with a cache
        return compile(file.read(), path, "exec")
