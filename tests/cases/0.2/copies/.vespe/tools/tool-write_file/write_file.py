"""Writes text to a file of the project."""

from typing import Any

from vespe.files.confined import Directory


def write_file(path: str, content: str) -> dict[str, Any]:
    with Directory(".") as project:
        written = project.write_text(path, content)
    return {"path": path, "bytes": written.size, "created": written.created}
