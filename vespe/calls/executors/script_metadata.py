"""Inline metadata of a Python script (PEP 723): which Python and which distributions it says that it needs."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from vespe.errors import InvalidDocument
from vespe.lazy import deferred

if TYPE_CHECKING:
    import tomllib
else:
    tomllib = deferred("tomllib")

_OPEN, _CLOSE = "# /// script", "# ///"
_CLAUSE: Final = re.compile(r"\s*(==|!=|>=|<=|>|<)\s*(\d+(?:\.\d+){0,2})(\.\*)?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a script's `# /// script` block says: a `requires-python` specifier ("" for none) and `dependencies`."""

    requires_python: str = ""
    dependencies: tuple[str, ...] = ()


def read_metadata(source: bytes, *, path: str = "") -> Metadata:
    """Read the block of a script's source; one without a block needs nothing.

    Raises InvalidDocument for two blocks, a block that is no TOML, and values of another type than PEP 723 says.
    """
    if _OPEN.encode() not in source:
        return Metadata()
    blocks = _blocks(source.decode("utf-8", "replace").splitlines())
    if len(blocks) > 1:
        raise InvalidDocument("has two `# /// script` blocks", path=path, line=blocks[1][0])
    if not blocks:
        return Metadata()
    line, content = blocks[0]
    try:
        document = tomllib.loads(content)
    except ValueError as error:
        raise InvalidDocument(f"has a `# /// script` block that is no TOML: {error}", path=path, line=line) from None
    return _checked(document, path, line)


def python_satisfies(specifier: str, version: tuple[int, int, int]) -> bool | None:
    """Whether a Python version satisfies a specifier such as `>=3.11,<4`; None where it says more than is read here."""
    for clause in filter(str.strip, specifier.split(",")):
        found = _CLAUSE.fullmatch(clause)
        if found is None or (found[3] and found[1] not in ("==", "!=")):
            return None
        parts = tuple(int(part) for part in found[2].split("."))
        wanted = parts if found[3] else parts + (0,) * (3 - len(parts))
        if not _holds(found[1], version[: len(wanted)], wanted):
            return False
    return True


def _holds(operator: str, here: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    order = (here > wanted) - (here < wanted)
    return {"==": order == 0, "!=": order != 0, ">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0}[operator]


def _blocks(lines: list[str]) -> list[tuple[int, str]]:
    """Each block's first line, counted from 1, and its content; one that nothing closes is no block."""
    blocks, index = [], 0
    while index < len(lines):
        if lines[index].rstrip() == _OPEN:
            end = next((i for i in range(index + 1, len(lines)) if not (lines[i] == "#" or lines[i].startswith("# "))), len(lines))
            closes = [i for i in range(index + 1, end) if lines[i].rstrip() == _CLOSE]
            if closes:
                blocks.append((index + 1, "\n".join(line[2:] for line in lines[index + 1 : closes[-1]])))
                index = closes[-1]
        index += 1
    return blocks


def _checked(document: dict[str, Any], path: str, line: int) -> Metadata:
    requires, dependencies = document.get("requires-python", ""), document.get("dependencies", [])
    if not isinstance(requires, str):
        raise InvalidDocument("has a `requires-python` that is no string", path=path, line=line)
    if not isinstance(dependencies, list) or not all(isinstance(item, str) for item in dependencies):
        raise InvalidDocument("has `dependencies` that are no list of strings", path=path, line=line)
    for item in dependencies:
        if not re.match(r"[A-Za-z0-9]", item.strip()) or not item.isprintable():
            raise InvalidDocument(f"has the dependency {item!r}, which names no distribution", path=path, line=line)
    return Metadata(requires_python=requires, dependencies=tuple(sorted({item.strip() for item in dependencies})))
