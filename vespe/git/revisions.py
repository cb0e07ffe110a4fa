"""Directories as a git revision has them, written out to be read like any other; git is asked with fixed arguments."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from vespe import defaults
from vespe.errors import InvalidDocument, NotFound, ToolExecutionError, UsageError
from vespe.files import atomic
from vespe.lazy import tempfile
from vespe.processes import process

_TIMEOUT_S: Final = 60.0
_MOST_FILES: Final = 20_000
_REGULAR: Final = ("100644", "100755")


@contextmanager
def checked_out(name: str, *, cwd: str | None = None) -> Iterator[str]:
    """Return a private directory with what `REV:path` names (as git reads it: from the top, or `REV:./path` from here).

    It is called as the last part of the path is, since a tool's directory must have its uid's name. Links and submodules are
    left out; no filter or hook runs. Raises UsageError where git knows no such directory, NotFound where there is no git
    repository here, InvalidDocument where it holds too many files.
    """
    here = os.path.abspath(cwd or os.curdir)
    revision, _, path = name.partition(":")
    if not revision or revision.startswith("-"):
        raise UsageError(f"{name!r} names no git revision", hint="say REV:path, such as main:.vespe/tools/tool-…")
    found = _git(here, "rev-parse", "--verify", "--quiet", "--end-of-options", name, asked=name).decode("ascii").strip()
    tree = _git(here, "rev-parse", "--verify", "--quiet", f"{found}^{{tree}}", asked=name).decode("ascii").strip()
    with tempfile.TemporaryDirectory(prefix="vespe-revision-", ignore_cleanup_errors=True) as made:
        top = os.path.join(os.path.realpath(made), os.path.basename(os.path.normpath(path)) if path.strip("./") else "root")
        os.mkdir(top)
        _write(here, tree, top, name=name)
        yield top


def _write(here: str, tree: str, top: str, *, name: str) -> None:
    listed = [row for row in _git(here, "ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0") if row]
    if len(listed) > _MOST_FILES:
        raise InvalidDocument(f"holds more than {_MOST_FILES} files", path=name)
    for row in listed:
        facts, _, file = row.partition(b"\t")
        mode, _, digest = facts.decode("ascii").split(" ")
        if mode in _REGULAR and not {"", ".", ".."} & set(os.fsdecode(file).split("/")):
            target = os.path.join(top, os.fsdecode(file))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            data = _git(here, "cat-file", "blob", digest)
            atomic.write_atomic(target, data, mode=0o755 if mode == "100755" else 0o644, durable=False)


def _git(cwd: str, *arguments: str, asked: str = "") -> bytes:
    extra = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    environment = process.child_environment(os.environ, extra)
    argv = ("git", "-c", "core.fsmonitor=false", *arguments)
    command = process.Command(argv=argv, cwd=cwd, env=environment, timeout_s=_TIMEOUT_S, cap_bytes=64 * defaults.MAX_FILE_BYTES, name="git")
    try:
        done = process.run(command)
    except ToolExecutionError as error:
        raise NotFound(f"git is not to be had: {error}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        if "not a git repository" in said:
            raise NotFound(f"{cwd} is in no git repository, so {asked or 'a revision'} is not to be had")
        raise UsageError(f"git has no directory {asked!r}" + (f": {said}" if said else ""), hint="say REV:path, with the path from the top")
    return done.stdout
