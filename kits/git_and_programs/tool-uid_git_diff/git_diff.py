"""Shows what is changed in the project: in the files, in what is staged, or between two
revisions.
"""

import subprocess
from typing import Any

from vespe.files.confined import Directory
from vespe.git.status import diff


def git_diff(
    path: str = ".", context: int = 3, mode: str | None = None, to: str | None = None, **inputs: Any
) -> str:
    options = [
        f"--unified={context}",
        *([f"--{mode}"] if mode else []),
        *filter(None, (inputs.get("from"), to)),
    ]
    with Directory(".") as project:
        return diff(project, *options, path=path, run=subprocess.run)
