"""What the file tools of the shipped kits share: pages of a file, listings and search results as a
model reads them.
"""

from itertools import islice
from typing import Any, Final

from vespe.errors import InvalidArguments
from vespe.files.confined import Directory
from vespe.files.confined_search import Query, search

MAX_READ: Final = 200_000
"""How many characters one reading gives; a model asks for the lines that it wants of a longer
file.
"""


def read_lines(
    directory: Directory, path: str, *, start_line: int = 1, line_count: int | None = None
) -> str:
    """Return a file's text, or `line_count` of its lines from `start_line` (from 1), line ends as
    they are.

    Raises InvalidArguments where the file has fewer lines, or the text has more than MAX_READ
    characters: never a cut one.
    """
    text = directory.read_text(path)
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    total = len(lines) - (not lines[-1])
    if start_line > max(total, 1):
        raise InvalidArguments(
            f"{path} has {total} line{'' if total == 1 else 's'}, and start_line is {start_line}"
        )
    end = None if line_count is None else start_line - 1 + line_count
    page = "".join(lines[start_line - 1 : end])
    if len(page) > MAX_READ:
        what = (
            f"{path} has {total} lines and {len(text)} characters, "
            f"but at most {MAX_READ} characters are returned at once"
        )
        raise InvalidArguments(f"{what}: ask for fewer with start_line and line_count")
    return page


def list_entries(
    directory: Directory, path: str = ".", *, recursive: bool = False, limit: int = 1000
) -> dict[str, Any]:
    """Return `{"entries": [{"path", "type", "size"?, "problem"?}], "truncated"}`: what is in a
    directory, or all beneath it.
    """
    found = directory.walk(path) if recursive else iter(directory.list(path))
    entries = []
    for entry in islice(found, limit):
        shown: dict[str, Any] = {"path": entry.path, "type": entry.kind}
        if entry.kind == "file":
            shown["size"] = entry.size
        if entry.problem:
            shown["problem"] = entry.problem
        entries.append(shown)
    return {"entries": entries, "truncated": next(found, None) is not None}


def search_lines(
    directory: Directory, query: Query, *, path: str = ".", limit: int = 100
) -> dict[str, Any]:
    """Return `{"matches": [{"path", "line", "text"}], "files_searched", "files_skipped",
    "truncated"}`.
    """
    found = search(directory, query, path=path, limit=limit)
    return {
        "matches": [match._asdict() for match in found.matches],
        "files_searched": found.searched,
        "files_skipped": found.skipped,
        "truncated": found.truncated,
    }
