"""Finds the lines of the project's text files that contain a text or match a regular expression."""

from typing import Any

from vespe.files.confined import Directory
from vespe.files.confined_search import Query
from vespe.files.confined_views import search_lines


def search_text(
    query: str,
    path: str = ".",
    regex: bool = False,
    ignore_case: bool = False,
    files: str = "*",
    limit: int = 100,
) -> dict[str, Any]:
    with Directory(".") as project:
        return search_lines(
            project,
            Query(query, regex=regex, ignore_case=ignore_case, files=files),
            path=path,
            limit=limit,
        )
