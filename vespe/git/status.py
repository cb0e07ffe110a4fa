"""What is changed in a git repository, as git says it, while nothing runs that the repository's own configuration names."""

import os
from typing import Final

from vespe.errors import ToolExecutionError
from vespe.files.confined import Directory
from vespe.git import repository
from vespe.git.repository import Run

_STATUS: Final = ("status", "--porcelain=v1", "--branch", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all")
_IGNORED: Final = "blame.ignoreRevsFile"


def status(directory: Directory, *, path: str = ".", run: Run) -> list[str]:
    """Return the branch and the files beneath `path` that are changed, staged or not in git, in git's short format.

    `run` is `subprocess.run`. Raises ToolExecutionError where git fails, where there is no repository, and where
    the repository's own configuration names filter programs, which git would run over the files that it compares;
    PathRefused as Directory does.
    """
    return _ask(directory, *_STATUS, path=path, run=run).split("\n")[:-1]


def diff(directory: Directory, *options: str, path: str = ".", run: Run) -> str:
    """Return a unified diff of what is beneath `path`; `options` are git's own: `--cached`, revisions. Raises as `status` does.

    An option can make git write or run something: what comes from a model must be checked not to be one.
    """
    return _ask(directory, "diff", *repository.DIFF, *options, path=path, run=run)


def blame(directory: Directory, *options: str, path: str, revision: str = "HEAD", run: Run) -> list[str]:
    """Return one line for each line of a file: the commit's short id, author, date, number and the line; `options` are git's own.

    Raises as `status` does, and where `blame.ignoreRevsFile` is outside the work tree: git would quote that file's first line.
    """
    directory.kind(path)
    found = repository.work_tree(directory.root, run=run)
    listed = found.ask("config", "--show-scope", "--path", "-z", "--get-all", _IGNORED).text.split("\0")
    for scope, file in zip(listed[::2], listed[1::2], strict=False):
        real = os.path.realpath(os.path.join(found.top, file))
        if scope not in repository.USERS and not real.startswith(os.path.join(os.path.realpath(found.top), "")):
            raise ToolExecutionError(f"the repository's own configuration names a list of revisions ({_IGNORED}) that is not in it: {file}")
    return found.tell("blame", "--date=short", "--no-textconv", *options, revision, "--", path).text.split("\n")[:-1]


def _ask(directory: Directory, *arguments: str, path: str, run: Run) -> str:
    directory.kind(path)  # which refuses what leads out
    found = repository.work_tree(directory.root, run=run)
    found.refuse_programs()
    return found.tell(*arguments, "--", path).text
