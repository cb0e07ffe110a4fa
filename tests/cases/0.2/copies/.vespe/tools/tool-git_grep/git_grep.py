"""Finds the lines that hold a literal text in the files of a commit."""

import subprocess

from vespe.files.confined import Directory
from vespe.git.status import grep


def git_grep(text: str, revision: str = "HEAD", path: str | None = None) -> list[str]:
    with Directory(".") as project:
        return grep(project, text, revision=revision, path=path, run=subprocess.run)
