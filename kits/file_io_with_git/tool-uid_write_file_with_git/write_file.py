"""Writes text to a file of the project and commits exactly that file."""

import subprocess
from typing import Any

from vespe.files.confined import Directory
from vespe.git.commit import commit_text


def write_file(path: str, content: str, message: str = "") -> dict[str, Any]:
    with Directory(".") as project:
        done = commit_text(
            project, path, lambda _: content, message=message or f"Write {path}", run=subprocess.run
        )
    return {
        "path": path,
        "bytes": done.size,
        "created": done.created,
        "commit": done.commit,
        "diff": done.diff,
    }
