"""Versions of kits: read, compared, and made from what changed; pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from vespe.kits.compared_versions import Comparison

Bump: TypeAlias = Literal["major", "minor", "patch"]
BUMPS: Final[tuple[Bump, ...]] = ("major", "minor", "patch")
"""The largest first."""
_NUMBER: Final = "(0|[1-9][0-9]{0,8})"
_VERSION: Final = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}")
_RUNS: Final = ("command", "description")
"""Parts of a tool whose change leaves what callers send and get as it was."""


class Version(NamedTuple):
    """A version X.Y.Z."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def tag(self) -> str:
        """The name of its tag."""
        return f"v{self}"

    def bumped(self, bump: Bump) -> "Version":
        """Return the next version."""
        if bump == "major":
            return Version(self.major + 1, 0, 0)
        if bump == "minor":
            return Version(self.major, self.minor + 1, 0)
        return Version(self.major, self.minor, self.patch + 1)


def read_version(text: object) -> Version | None:
    """Return the version X.Y.Z that a text is, or None."""
    found = _VERSION.fullmatch(text) if isinstance(text, str) else None
    return Version(*map(int, found.groups())) if found else None


def latest(tags: Iterable[str]) -> Version | None:
    """Return the highest version among the names of tags; other tags are left out."""
    found = [read_version(tag.removeprefix("v")) for tag in tags if tag.startswith("v")]
    return max((version for version in found if version is not None), default=None)


def required_bump(compared: Sequence[Comparison], version: Version) -> Bump:
    """Return the smallest bump that says what changed for callers since a version.

    Below 1.0 a minor version may break callers, and a patch is all the rest.
    """
    changes = [change for one in compared for change in one.changes]
    if any(change.verdict == "breaking" for change in changes):
        return "major" if version.major else "minor"
    is_new = any(change.part not in _RUNS for change in changes)
    return "minor" if is_new and version.major else "patch"


def is_enough(old: Version, new: Version, needed: Bump) -> bool:
    """Whether the step from one version to another is at least as large as what is needed."""
    return new >= old.bumped(needed)
