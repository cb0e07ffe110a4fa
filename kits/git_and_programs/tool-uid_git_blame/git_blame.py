"""Says for each line of a file in which commit, when and by whom it was last changed."""

import subprocess

from vespe.files.confined import Directory
from vespe.git.status import blame


def git_blame(
    path: str, revision: str = "HEAD", start_line: int = 0, end_line: int = 0
) -> list[str]:
    lines = [f"-L{start_line},{end_line}"] if start_line else []
    with Directory(".") as project:
        return blame(project, *lines, path=path, revision=revision, run=subprocess.run)
