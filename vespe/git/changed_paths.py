"""What changed in a git work tree since a revision, while nothing runs that its configuration
names.
"""

import os

from vespe.errors import NotFound, ToolExecutionError, UsageError
from vespe.git import repository


def changed_paths(revision: str, *, cwd: str | None = None) -> frozenset[str]:
    """Return the real paths of the files that differ from `revision`, untracked ones too, and of
    every directory above each.

    A file whose content only a filter program could compare counts as changed. Raises UsageError
    where there is no such revision, NotFound outside a git work tree or without git.
    """
    if not revision or revision.startswith("-"):
        raise UsageError(f"{revision!r} is not a git revision")
    try:
        found = repository.work_tree(os.path.abspath(cwd or os.curdir)).at_top().without_programs()
        commit = found.ask(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
        if commit.status:
            raise UsageError(
                f"{revision!r} is not a git revision here",
                hint="name a branch, a tag or a commit, such as origin/main",
            )
        listed = found.tell(
            "diff", *repository.DIFF, "--name-only", "-z", commit.text.strip(), "--"
        ).output
        listed += found.tell("ls-files", "--others", "--exclude-standard", "-z").output
    except ToolExecutionError as error:
        raise NotFound(f"cannot find out what changed since {revision}: {error}") from None
    return _with_directories_above(os.path.realpath(found.top), os.fsdecode(listed).split("\0"))


def _with_directories_above(top: str, names: list[str]) -> frozenset[str]:
    found: set[str] = set()
    for name in filter(None, names):
        path = os.path.join(top, name)
        while path not in found and path != os.path.dirname(path):
            found.add(path)
            path = os.path.dirname(path)
    return frozenset(found)
