"""What changed in a git work tree since a revision, asked of git with fixed arguments."""

import os

from vespe.errors import NotFound, ToolExecutionError, UsageError
from vespe.processes import process
from vespe.processes.process import Command

_TIMEOUT_S = 60.0


def changed_paths(revision: str, *, cwd: str | None = None) -> frozenset[str]:
    """Return the real paths of the files that differ from `revision`, untracked ones too, and of every directory above each.

    Raises UsageError where there is no such revision, NotFound outside a git work tree or without git.
    """
    here = os.path.abspath(cwd or os.curdir)
    if not revision or revision.startswith("-"):
        raise UsageError(f"{revision!r} is no git revision")
    top = os.path.realpath(_git(here, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n"))
    commit = _git(here, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", what=revision).decode().strip()
    listed = _git(top, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit, "--")
    listed += _git(top, "ls-files", "--others", "--exclude-standard", "-z")
    found: set[str] = set()
    for name in filter(None, listed.decode("utf-8", "surrogateescape").split("\0")):
        path = os.path.join(top, name)
        while path not in found and path != os.path.dirname(path):
            found.add(path)
            path = os.path.dirname(path)
    return frozenset(found)


def _git(cwd: str, *arguments: str, what: str = "") -> bytes:
    env = process.child_environment(os.environ, {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"})
    argv = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments]
    try:
        done = process.run(Command(argv=argv, cwd=cwd, env=env, timeout_s=_TIMEOUT_S, name="git"))
    except ToolExecutionError as error:
        raise NotFound(f"git is not to be had: {error}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        if what:
            raise UsageError(f"{what!r} is no git revision here", hint="name a branch, a tag or a commit, such as origin/main")
        raise NotFound(f"{cwd} is in no git work tree: {said}" if "rev-parse" in arguments else f"git failed: {said}")
    return done.stdout
