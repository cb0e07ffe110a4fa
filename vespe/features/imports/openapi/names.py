"""What tools and inputs are called: what an operation says of itself, whatever stands beside it, so
that names outlast the API's growth.
"""

import re
from collections.abc import Iterable
from typing import Final

from vespe.features.imports.made import digest, slug

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OUTSIDE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_INPUT: Final = 64


def tool_names(operations: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return a name for each (operationId, method, path), in their order.

    A name is a function of its own operation; where two would have one name, it goes to the one
    that wrote it so, then to the one whose path comes first, and the others end in a digest of
    method and path.
    """
    wanted = [
        (slug(said) if said else _from_path(method, path), said, method, path)
        for said, method, path in operations
    ]
    ranked = sorted(
        range(len(wanted)),
        key=lambda index: (
            wanted[index][0] != wanted[index][1],
            wanted[index][3],
            wanted[index][2],
        ),
    )
    made: dict[int, str] = {}
    taken: set[str] = set()
    for index in ranked:
        name, _, method, path = wanted[index]
        if name in taken:
            name = f"{name[:57]}_{digest(f'{method} {path}')[:6]}"
        while name in taken:
            name = f"{name[:55]}_{digest(name)[:8]}"
        taken.add(name)
        made[index] = name
    return [made[index] for index in range(len(wanted))]


def _from_path(method: str, path: str) -> str:
    return slug(f"{method.lower()} {path}", fallback=method.lower())


def input_name(name: str, place: str, taken: Iterable[str]) -> str:
    """Return what the input for a parameter is called: its own name, where that is free and APIs
    take it.
    """
    made = _OUTSIDE.sub("_", name).strip("_") or place
    made = made if len(made) <= _MAX_INPUT else f"{made[: _MAX_INPUT - 9]}_{digest(name)[:8]}"
    known = set(taken)
    if made not in known:
        return made
    made = f"{made[: _MAX_INPUT - 12]}_{place}"
    return (
        made if made not in known else f"{made[: _MAX_INPUT - 9]}_{digest(f'{place} {name}')[:8]}"
    )


def secret_name(*words: str) -> str:
    """Return the name of an environment variable that says the words."""
    made = (
        re.sub(r"[^A-Za-z0-9]+", "_", "_".join(_CAMEL.sub("_", word) for word in words if word))
        .strip("_")
        .upper()
    )
    return made if made[:1].isalpha() else f"API_{made}"
