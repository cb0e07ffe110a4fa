"""Shows one commit of the project's repository, or a file as it was in one."""

import subprocess

from vespe.files.confined import Directory
from vespe.git.status import show


def git_show(revision: str = "HEAD", path: str | None = None) -> str:
    with Directory(".") as project:
        return show(project, revision, path=path, run=subprocess.run)
