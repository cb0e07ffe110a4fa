"""Lists a directory of the project, or everything beneath it."""

from typing import Any

from vespe.files.confined import Directory
from vespe.files.confined_views import list_entries


def list_directory(path: str = ".", recursive: bool = False, limit: int = 1000) -> dict[str, Any]:
    with Directory(".") as project:
        return list_entries(project, path, recursive=recursive, limit=limit)
