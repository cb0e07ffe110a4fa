"""Programs by their names: where each really is, and what else has to start so that it can."""

import os
from collections.abc import Iterable, Iterator

from vespe.processes.sandbox import looked
from vespe.processes.sandbox.protected import homes

_LOADERS = ("/lib64", "/lib", "/usr/lib", "/usr/lib64")


def search_path(path: str) -> tuple[str, ...]:
    """Return the directories of a PATH that programs come from and, for a `bin`, what it stands in;
    never a home directory.
    """
    return tuple(_directories(path, homes()))


def _directories(path: str, homes: tuple[str, ...]) -> Iterator[str]:
    for directory in dict.fromkeys(path.split(os.pathsep)):
        if not os.path.isabs(directory) or not looked.isdir(directory):
            continue
        real = looked.realpath(directory)
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
            (
                path
                for path in candidates
                if looked.access(path, os.X_OK) and not looked.isdir(path)
            ),
            "",
        )
    if found:
        yield looked.realpath(found)


def interpreters(path: str) -> list[str]:
    """Return what a script's first line names: `#!/usr/bin/env NAME` names two programs."""
    try:
        first = looked.first_line(path, 256)
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
    for directory in dict.fromkeys(map(looked.realpath, _LOADERS)):
        try:
            names = looked.listdir(directory)
        except OSError:
            continue
        for name in names:
            if name.startswith(("ld-linux", "ld-musl", "ld64.so", "ld.so")):
                yield looked.realpath(os.path.join(directory, name))
