"""The smallest `permissions` that a tool's examples pass under, found by running them: what is not
needed is taken away.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from vespe.calls.path import CallPath
from vespe.errors import UsageError
from vespe.features.examples import examples
from vespe.models import PERMISSIONS, JsonObject, Tool
from vespe.records import dataclass
from vespe.tools.permissions import LISTS

_ORDER: Final = ("sends_out", "writes", "", "reads_private")
_KEYS: Final = sorted(
    (name for name in LISTS if not PERMISSIONS[name].is_closed),
    key=lambda name: _ORDER.index(PERMISSIONS[name].effect),
)
"""In the order in which they are taken away: what a tool does to others first, what it reads last.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a tool's examples need: `permissions` that they pass under, and for each key that is not
    empty the example that failed without.

    `spare` are the keys where the tool states more than that. `in_copy` says that they ran in a
    copy of the project, since they fail in a directory without its files.
    """

    permissions: JsonObject
    needed_by: JsonObject
    spare: tuple[str, ...]
    in_copy: bool = False


def observe(path: CallPath, tool: Tool) -> Observation:
    """Run a tool's examples again and again, each time in a fresh directory with one permission
    less, and keep what they pass under. Examples that need the project's files run in a copy of it.

    No protected place is ever proposed: nothing is tried that the default does not give. Raises
    UsageError where there are no examples, or they fail before anything is taken away, and what a
    call raises.
    """
    if not tool.examples:
        raise UsageError(
            f"{tool.name} has no examples to observe",
            hint=f"`vespe tool test {tool.name} --update` begins one",
        )
    in_copy = _failing(path, tool, {}) is not None
    failing = _failing(path, tool, {}, in_copy=True) if in_copy else None
    if failing is not None:
        raise UsageError(
            f"example {failing} of {tool.name} fails even with all permissions, in a fresh "
            "directory and in a copy of the project",
            hint=f"`vespe tool test {tool.name}` says why",
        )
    found: JsonObject = {}
    needed: JsonObject = {}
    for key in _KEYS:
        for value in _candidates(key, tool):
            failing = _failing(path, tool, found | {key: value}, in_copy=in_copy)
            if failing is None:
                found[key] = value
                break
            needed[key] = failing
    ordered: JsonObject = {key: found[key] for key in LISTS if key in found}
    return Observation(
        permissions=ordered,
        needed_by=needed,
        spare=tuple(_spare(tool.permissions, ordered)),
        in_copy=in_copy,
    )


def _failing(
    path: CallPath, tool: Tool, permissions: JsonObject, *, in_copy: bool = False
) -> int | None:
    """Return the index of the first example that fails under these permissions; None where all
    pass.
    """
    held = replace(path, permissions=permissions)
    ran = examples.run_examples(held, tool, in_copy=in_copy)
    return next((one.index for one in ran if not one.passed), None)


def _candidates(key: str, tool: Tool) -> Iterator[list[str]]:
    """Return values from the tightest on; past the last one the key stays unstated."""
    yield []
    one = PERMISSIONS[key]
    if one.default:
        yield list(one.default)
    elif one.values == "program":
        yield from ([name] for name in _programs(tool))
    stated = tool.permissions.get(key)
    if isinstance(stated, list) and stated and one.values != "path":
        yield [item for item in stated if isinstance(item, str)]


def _programs(tool: Tool) -> Sequence[str]:
    """Return the programs that the tool's own argv names, and git, which many tools start."""
    argv: Any = tool.implementation.args.get("argv", []) if tool.implementation else []
    named = [
        word for word in argv if isinstance(word, str) and os.sep not in word and shutil.which(word)
    ]
    return list(dict.fromkeys([*named, "git"]))


def _spare(stated: JsonObject, needed: JsonObject) -> Iterator[str]:
    for key in needed:
        if key in stated and not set(stated[key]) <= set(needed[key]):
            yield key
