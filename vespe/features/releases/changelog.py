"""The changelog of a kit's tools: what `vespe tool diff` finds, as a section of a file; pure."""

import re
from collections.abc import Sequence
from typing import Final

from vespe.documents import strict_json
from vespe.kits.compared_versions import Comparison
from vespe.schemas.comparison.contracts import Change

FILE: Final = "CHANGELOG.md"
_TITLE: Final = "# Changelog\n"
_SECTION: Final = re.compile(r"^## .*$", re.MULTILINE)
_UNRELEASED: Final = re.compile(r"^## \[?unreleased\]?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_MOST_EXAMPLE: Final = 300


def lines_of(compared: Sequence[Comparison]) -> list[str]:
    """Return a line for each change of each tool, the breaking ones marked, with the value that
    shows one.
    """
    return [
        line for one in compared for line in (_line(one.tool, change) for change in one.changes)
    ]


def _line(tool: str, change: Change) -> str:
    mark = "**Breaking:** " if change.verdict == "breaking" else ""
    return f"- {mark}`{tool}` {_one_line(change.message)}{_example(change)}"


def _example(change: Change) -> str:
    if not change.has_example:
        return ""
    shown = strict_json.compact_json(change.example)
    is_said = "".join(shown.split()) in "".join(change.message.split())
    fits = len(shown) <= _MOST_EXAMPLE and "`" not in shown
    return f", such as `{shown}`" if fits and not is_said else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def has_section(text: str, version: str) -> bool:
    """Whether a changelog has a section for a version."""
    pattern = rf"^## \[?v?{re.escape(version)}\]?(?![0-9.])"
    return re.search(pattern, text, re.MULTILINE) is not None


def with_section(text: str, version: str, date: str, lines: Sequence[str]) -> str:
    """Return the changelog with a section for a version before those of others.

    What stands under "Unreleased" comes first in it, and the empty heading stays. The rest of the
    file stays as it is, with its line ends.
    """
    ends = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n") or _TITLE
    found = _UNRELEASED.search(plain)
    first = _SECTION.search(plain)
    start = found.end() if found else first.start() if first else len(plain)
    following = _SECTION.search(plain, start) if found else first
    end = following.start() if following else len(plain)
    written = plain[start:end].strip("\n") if found else ""
    body = "\n".join(filter(None, (written, "\n".join(lines))))
    before = plain[:start].rstrip("\n")
    made = f"{before}\n\n## {version} ({date})\n\n{body or 'No tool changed.'}\n"
    rest = plain[end:]
    return (made + (f"\n{rest}" if rest else "")).replace("\n", ends)
