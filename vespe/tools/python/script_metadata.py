"""What a script says that it needs: its `# /// script` block (PEP 723)."""

import re
from typing import Any

from vespe.errors import InvalidDocument
from vespe.lazy import packaging_requirements, packaging_specifiers, tomllib
from vespe.records import dataclass

_OPEN, _CLOSE = "# /// script", "# ///"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a script's `# /// script` block says: a `requires-python` specifier ("" for none) and
    `dependencies`.
    """

    requires_python: str = ""
    dependencies: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The distributions' names, without versions, extras and markers."""
        return tuple(
            sorted(
                {re.split(r"[^A-Za-z0-9._-]", item, maxsplit=1)[0] for item in self.dependencies}
            )
        )

    def asked(self) -> "list[Asked]":
        """Return the dependencies, taken apart; raises InvalidDocument for what is no
        requirement.
        """
        return [asked(item) for item in self.dependencies]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One requirement (PEP 508), taken apart; names in the one form that all their spellings
    have.
    """

    name: str
    extras: tuple[str, ...] = ()
    specifier: str = ""
    url: str = ""
    marker: str = ""

    @property
    def text(self) -> str:
        """What it asks for, without its marker: the same text for the same thing."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{self.name}{extras}{f' @ {self.url}' if self.url else self.specifier}"

    @property
    def is_pinned(self) -> bool:
        """Whether it names the bytes: by an exact version, or by a hash in its address."""
        if self.url:
            return "#sha256=" in self.url
        return any(
            one.startswith("==") and not one.endswith(".*") for one in self.specifier.split(",")
        )


def asked(text: str) -> Asked:
    """Take a requirement apart; raises InvalidDocument, a ValueError, for what is none."""
    try:
        made = packaging_requirements.Requirement(text)
    except packaging_requirements.InvalidRequirement as error:
        raise InvalidDocument(
            f"has the dependency {text!r}, which is not a requirement: {str(error).splitlines()[0]}"
        ) from None
    return Asked(
        name=normal(made.name),
        extras=tuple(sorted(map(normal, made.extras))),
        specifier=",".join(sorted(str(one) for one in made.specifier)),
        url=made.url or "",
        marker=str(made.marker or ""),
    )


def normal(name: str) -> str:
    """Return a distribution's name in the one form that all its spellings have (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def holds(marker: str, *, extra: str = "") -> bool:
    """Whether a marker holds on this machine; "" always does."""
    made = packaging_requirements.Requirement(f"x; {marker}").marker if marker else None
    return made is None or made.evaluate({"extra": extra})


def same_versions(one: str, other: str) -> bool:
    """Whether two specifiers of versions say the same."""
    return packaging_specifiers.SpecifierSet(one) == packaging_specifiers.SpecifierSet(other)


def read_metadata(source: bytes, *, path: str = "") -> Metadata:
    """Read the block of a script's source; one without a block needs nothing.

    Raises InvalidDocument for two blocks, a block that is no TOML, and values of another type than
    PEP 723 says.
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
        raise InvalidDocument(
            f"has a `# /// script` block that is no TOML: {error}", path=path, line=line
        ) from None
    return _checked(document, path, line)


def python_satisfies(specifier: str, version: tuple[int, int, int]) -> bool | None:
    """Whether a Python version satisfies a version specifier such as `~=3.11`; None if it is not
    one (PEP 440).
    """
    try:
        return packaging_specifiers.SpecifierSet(specifier).contains(
            ".".join(map(str, version)), prereleases=True
        )
    except packaging_specifiers.InvalidSpecifier:
        return None


def _blocks(lines: list[str]) -> list[tuple[int, str]]:
    """Each block's first line, counted from 1, and its content; one that nothing closes is no
    block.
    """
    blocks, index = [], 0
    while index < len(lines):
        if lines[index].rstrip() == _OPEN:
            end = next(
                (
                    i
                    for i in range(index + 1, len(lines))
                    if not (lines[i] == "#" or lines[i].startswith("# "))
                ),
                len(lines),
            )
            closes = [i for i in range(index + 1, end) if lines[i].rstrip() == _CLOSE]
            if closes:
                blocks.append(
                    (index + 1, "\n".join(line[2:] for line in lines[index + 1 : closes[-1]]))
                )
                index = closes[-1]
        index += 1
    return blocks


def _checked(document: dict[str, Any], path: str, line: int) -> Metadata:
    requires, dependencies = document.get("requires-python", ""), document.get("dependencies", [])
    if not isinstance(requires, str):
        raise InvalidDocument("has a `requires-python` that is not a string", path=path, line=line)
    if not isinstance(dependencies, list) or not all(
        isinstance(item, str) for item in dependencies
    ):
        raise InvalidDocument(
            "has `dependencies` that are not a list of strings", path=path, line=line
        )
    for item in dependencies:
        if not re.match(r"[A-Za-z0-9]", item.strip()) or not item.isprintable():
            raise InvalidDocument(
                f"has the dependency {item!r}, which names no distribution", path=path, line=line
            )
    return Metadata(
        requires_python=requires,
        dependencies=tuple(sorted({item.strip() for item in dependencies})),
    )
