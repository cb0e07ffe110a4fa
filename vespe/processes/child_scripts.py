"""Our own scripts for child interpreters: sent compiled over stdin, since a script given by name is compiled at each start."""

import functools
import marshal
from typing import Any, Final

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
