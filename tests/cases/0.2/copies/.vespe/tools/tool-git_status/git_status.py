"""Says which files of the project are changed, staged or not in git."""

import subprocess

from vespe.files.confined import Directory
from vespe.git.status import status


def git_status(path: str = ".") -> list[str]:
    with Directory(".") as project:
        return status(project, path=path, run=subprocess.run)
