"""Replaces a text in a file of the project and commits exactly that file."""

import subprocess
from typing import Any

from vespe.files.confined import Directory, replaced
from vespe.git.commit import commit_text


def edit_file(
    path: str, old_text: str, new_text: str, replace_all: bool = False, message: str = ""
) -> dict[str, Any]:
    count = 0

    def change(text: str | None) -> str:
        nonlocal count
        if text is None:
            raise FileNotFoundError(f"there is no file {path}")
        changed, count = replaced(text, old_text, new_text, replace_all=replace_all, path=path)
        return changed

    with Directory(".") as project:
        done = commit_text(
            project, path, change, message=message or f"Edit {path}", run=subprocess.run
        )
    return {
        "path": path,
        "bytes": done.size,
        "replacements": count,
        "commit": done.commit,
        "diff": done.diff,
    }
