"""What is changed in a git repository, as git says it, while nothing runs that the repository's own configuration names."""

import os
from typing import Final

from vespe.errors import ToolExecutionError
from vespe.files.confined import Directory
from vespe.git.commit import GIT, Run, environment

_STATUS: Final = ("status", "--porcelain=v1", "--branch", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all")
_DIFF: Final = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--submodule=short", "--ignore-submodules=all")
_FILTERS: Final = r"^filter\..*\.(clean|smudge|process)$"
_USERS: Final = frozenset({"system", "global", "command"})
"""Where the user's own filters stand, which are the user's to run; a repository's come with it, or from whoever wrote in it."""


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
    return _ask(directory, *_DIFF, *options, path=path, run=run)


def _ask(directory: Directory, *arguments: str, path: str, run: Run) -> str:
    directory.kind(path)  # which refuses what leads out
    top = _git(directory, "rev-parse", "--show-toplevel", run=run)[1].removesuffix("\n")
    root = os.path.realpath(directory.root)
    if top and not f"{root}/".startswith(os.path.join(top, "")):
        raise ToolExecutionError(f"the repository's configuration (core.worktree) says that its files are in {top}, not in {root}")
    _refuse_filters(directory, run)
    code, output, said = _git(directory, "-c", "core.quotePath=false", *arguments, "--", path, run=run)
    if code:
        raise ToolExecutionError(f"git {arguments[0]} failed: {said or f'exit status {code}'}")
    return output


def _refuse_filters(directory: Directory, run: Run) -> None:
    """Look before git compares files: it has no flag against filters, and a config key can be anything."""
    code, output, said = _git(directory, "config", "--show-scope", "--name-only", "-z", "--get-regexp", _FILTERS, run=run)
    if code > 1:
        raise ToolExecutionError(f"git config failed: {said}")
    words = output.split("\0")
    named = [key for scope, key in zip(words[::2], words[1::2], strict=False) if scope not in _USERS]
    if named:
        raise ToolExecutionError(
            f"the repository's own configuration names a program, {named[0]}, that git would run over changed files",
            hint=f"where you trust it, keep it in your own: `git config --global {named[0]} …`, and `--unset` it in the repository",
        )


def _git(directory: Directory, *arguments: str, run: Run) -> tuple[int, str, str]:
    try:
        done = run([*GIT, *arguments], cwd=directory.root, env=environment(), input=b"", capture_output=True, check=False)
    except FileNotFoundError:
        raise ToolExecutionError("git is not installed, or not on PATH") from None
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace").strip()
