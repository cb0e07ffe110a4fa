"""Programs by their names: where each really is, and what else has to start so that it can."""

import functools
import os
import time
from collections.abc import Iterable, Iterator

from vespe.processes.sandbox.protected import homes

_LOADERS = ("/lib64", "/lib", "/usr/lib", "/usr/lib64")


def search_path(path: str) -> tuple[str, ...]:
    """Return the directories of a PATH that programs come from and, for a `bin`, what it stands in;
    never a home directory.

    They are believed for a second: no protected place depends on them.
    """
    return _searched(path, homes(), int(time.monotonic()))


@functools.lru_cache(8)
def _searched(path: str, homes: tuple[str, ...], _: int) -> tuple[str, ...]:
    return tuple(_directories(path, homes))


def _directories(path: str, homes: tuple[str, ...]) -> Iterator[str]:
    for directory in dict.fromkeys(path.split(os.pathsep)):
        if not os.path.isabs(directory) or not os.path.isdir(directory):
            continue
        real = os.path.realpath(directory)
        yield real
        above = os.path.dirname(real)
        if (
            os.path.basename(real) == "bin"
            and above not in (*homes, "/")
            and not any(home.startswith(above + "/") for home in homes)
        ):
            yield above


def of_programs(names: Iterable[str], *, search: str, home: str) -> Iterator[str]:
    """Return the files that have to be startable for these programs: each, the interpreter of its
    first line, and the loader.
    """
    yield from loaders()
    waiting = list(names)
    seen: set[str] = set()
    while waiting:
        for place in _places(waiting.pop(), search, home):
            if place in seen:
                continue
            seen.add(place)
            yield place
            waiting += interpreters(place)


def _places(name: str, search: str, home: str) -> Iterator[str]:
    if "/" in name:
        found = os.path.join(home, os.path.expanduser(name))
    else:
        candidates = (
            os.path.join(directory, name)
            for directory in search.split(os.pathsep)
            if os.path.isabs(directory)
        )
        found = next(
            (path for path in candidates if os.access(path, os.X_OK) and not os.path.isdir(path)),
            "",
        )
    if found:
        yield os.path.realpath(found)


def interpreters(path: str) -> list[str]:
    """Return what a script's first line names: `#!/usr/bin/env NAME` names two programs."""
    try:
        with open(path, "rb") as file:
            first = file.readline(256)
    except OSError:
        return []
    if not first.startswith(b"#!"):
        return []
    words = os.fsdecode(first[2:]).split()
    named = [
        word
        for word in words[1:2]
        if os.path.basename(words[0]) == "env" and not word.startswith("-") and "=" not in word
    ]
    return [*words[:1], *named]


def loaders() -> Iterator[str]:
    """Return the dynamic loaders of this machine, without which no program starts that was linked
    for it.
    """
    for directory in dict.fromkeys(map(os.path.realpath, _LOADERS)):
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        for name in names:
            if name.startswith(("ld-linux", "ld-musl", "ld64.so", "ld.so")):
                yield os.path.realpath(os.path.join(directory, name))
