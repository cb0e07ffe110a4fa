"""Replaces a text in a file of the project by another one."""

from typing import Any

from vespe.files.confined import Directory


def edit_file(path: str, old_text: str, new_text: str, replace_all: bool = False) -> dict[str, Any]:
    with Directory(".") as project:
        written = project.replace_text(path, old_text, new_text, replace_all=replace_all)
    return {"path": path, "bytes": written.size, "replacements": written.replacements}
