"""What a PATH given to lint is: a project, a kit, a directory of tools, one tool, a configuration,
or a file of definitions.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal, TypeAlias

from vespe import defaults
from vespe.errors import NotFound
from vespe.records import dataclass

Kind: TypeAlias = Literal["project", "project_config", "kit", "kit_config", "tools", "tool", "file"]
SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".yaml", ".yml")
_PREFIX: Final = "tool-"
PATHS_TAKEN: Final = (
    "`vespe lint` takes projects, kits, tool directories, names of tools and files of definitions; "
    "`vespe tool list` shows the names"
)


@dataclass(frozen=True, slots=True)
class LintPath:
    """One thing to lint: `path` as it is shown, which is a file for `file` and the
    configurations.
    """

    kind: Kind
    path: str

    @property
    def kit_id(self) -> str | None:
        """The kit that the tools of this place belong to."""
        directory = {"kit": self.path, "tool": os.path.dirname(os.path.abspath(self.path))}.get(
            self.kind
        )
        return (
            os.path.basename(os.path.abspath(directory))
            if directory and _is_kit(directory)
            else None
        )


def places(paths: Iterable[str]) -> Iterator[LintPath]:
    """Say what each path is, each thing once; raises NotFound for a path that does not exist or
    holds nothing to lint.
    """
    seen: set[LintPath] = set()
    for path in paths:
        for place in _places(path):
            if place not in seen:
                seen.add(place)
                yield place


def _places(path: str) -> Iterator[LintPath]:
    path = path.rstrip("/") or "/"
    if not os.path.lexists(path):
        raise NotFound(
            f"there is no file or directory {path}",
            hint=PATHS_TAKEN,
        )
    if os.path.isdir(path):
        found = list(_of_directory(path))
        if not found:
            raise NotFound(
                f"there is nothing to lint in {path}: no project, kit, tool or file of definitions"
            )
        yield from found
    else:
        yield _of_file(path)


def _of_directory(path: str) -> Iterator[LintPath]:
    if os.path.isdir(os.path.join(path, defaults.PROJECT_DIR)):
        yield LintPath("project", path)
    elif os.path.basename(os.path.abspath(path)) == defaults.PROJECT_DIR:
        yield LintPath("project", os.path.dirname(path) or ".")
    elif _is_kit(path):
        yield LintPath("kit", path)
    elif _is_tool(path):
        yield LintPath("tool", path)
    else:
        names = _names(path)
        if any(name.startswith(_PREFIX) for name in names):
            yield LintPath("tools", path)
        inner = [os.path.join(path, name) for name in names if not name.startswith(".")]
        yield from (LintPath("kit", kit) for kit in inner if _is_kit(kit))
        yield from (
            LintPath("file", file)
            for file in inner
            if file.endswith(SUFFIXES) and os.path.isfile(file)
        )


def _of_file(path: str) -> LintPath:
    """Say what a file belongs to: hooks are given the files that changed."""
    name, directory = os.path.basename(path), os.path.dirname(path) or "."
    if name == defaults.KIT_CONFIG_FILE:
        return LintPath("kit_config", path)
    if (
        os.path.basename(os.path.abspath(directory)) == defaults.PROJECT_DIR
        and name == defaults.CONFIG_FILE
    ):
        return LintPath("project_config", path)
    above = directory
    for _ in range(3):
        if _is_tool(above) and (
            os.path.basename(os.path.abspath(above)).startswith(_PREFIX)
            or not path.endswith(SUFFIXES)
        ):
            return LintPath("tool", above)
        above = os.path.dirname(above) or "."
    return LintPath("file", path)


def tool_directories(directory: str) -> list[str]:
    """Name the tool directories directly in `directory`, in order: those with a config.json, or a
    name that begins as a uid does.
    """
    return [
        name
        for name in _names(directory)
        if not name.startswith(".") and _is_tool(os.path.join(directory, name))
    ]


def touched(path: str, changed: Collection[str] | None) -> bool:
    """Whether a path is among the changed ones (real paths, and every directory above each); None
    is everything.
    """
    return changed is None or os.path.realpath(path) in changed


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _is_kit(path: str) -> bool:
    return os.path.lexists(os.path.join(path, defaults.KIT_CONFIG_FILE))


def _is_tool(path: str) -> bool:
    base = os.path.basename(os.path.abspath(path))
    return os.path.lexists(os.path.join(path, defaults.CONFIG_FILE)) or (
        base.startswith(_PREFIX) and not os.path.isfile(path)
    )
