"""Directories as a git revision has them, written out to be read like any other; nothing of the
repository's runs.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from vespe.errors import InvalidDocument, NotFound, ToolExecutionError, UsageError
from vespe.files import atomic
from vespe.git import repository
from vespe.git.repository import WorkTree
from vespe.lazy import tempfile

_MOST_FILES: Final = 20_000
_REGULAR: Final = ("100644", "100755")
_HEADER: Final = re.compile(rb"[0-9a-f]+ blob ([0-9]{1,12})\n")


class _File(NamedTuple):
    path: str
    executable: bool
    digest: str


@contextmanager
def checked_out(name: str, *, cwd: str | None = None, called: str = "") -> Iterator[str]:
    """Return a private directory with what `REV:path` names (as git reads it: from the top, or
    `REV:./path` from here).

    It is called as the last part of the path is, since a tool's directory must have its uid's name,
    or as `called` says.
    Links and submodules are left out; no filter or hook runs. Raises UsageError where git knows no
    such revision or directory, NotFound where there is no git repository here, InvalidDocument
    where it holds too many files.
    """
    here = os.path.abspath(cwd or os.curdir)
    revision, _, path = name.partition(":")
    if not revision or revision.startswith("-"):
        raise UsageError(
            f"{name!r} does not name a git revision",
            hint="write REV:path, such as main:.vespe/tools/tool-…",
        )
    with tempfile.TemporaryDirectory(prefix="vespe-revision-", ignore_cleanup_errors=True) as made:
        top = os.path.join(
            os.path.realpath(made),
            called or (os.path.basename(os.path.normpath(path)) if path.strip("./") else "root"),
        )
        os.mkdir(top)
        try:
            found = repository.work_tree(here)
            _write(found, _files(found, _tree(found, name), name=name), top)
        except ToolExecutionError as error:
            raise NotFound(f"{name} is not available: {error}") from None
        yield top


def _tree(found: WorkTree, name: str) -> str:
    """Return the id of the directory's tree object."""
    revision = name.partition(":")[0]
    if found.ask(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}"
    ).status:
        raise UsageError(
            f"{revision!r} is not a git revision here",
            hint="name a branch, a tag or a commit, such as origin/main",
        )
    named = found.ask("rev-parse", "--verify", "--quiet", "--end-of-options", name).text.strip()
    tree = found.ask("rev-parse", "--verify", "--quiet", f"{named}^{{tree}}") if named else None
    if tree is None or tree.status:
        raise UsageError(
            f"git has no directory {name!r}",
            hint="write REV:path, with the path from the top of the repository",
        )
    return tree.text.strip()


def _files(found: WorkTree, tree: str, *, name: str) -> list[_File]:
    rows = [
        row
        for row in found.tell("ls-tree", "-r", "-z", "--full-tree", tree).output.split(b"\0")
        if row
    ]
    if len(rows) > _MOST_FILES:
        raise InvalidDocument(f"holds more than {_MOST_FILES} files", path=name)
    files = []
    for row in rows:
        facts, _, path = row.partition(b"\t")
        mode, _, digest = facts.decode("ascii").split(" ")
        if mode in _REGULAR and not {"", ".", ".."} & set(os.fsdecode(path).split("/")):
            files.append(_File(os.fsdecode(path), mode == "100755", digest))
    return files


def _write(found: WorkTree, files: list[_File], top: str) -> None:
    """Write the files out, asking git once for all of them."""
    given = found.tell(
        "cat-file",
        "--batch",
        "--buffer",
        stdin="".join(f"{file.digest}\n" for file in files).encode("ascii"),
    ).output
    at = 0
    for file in files:
        header = _HEADER.match(given, at)
        if header is None:
            raise ToolExecutionError(
                f"git has no content for {file.path}: the repository is a partial clone, and Vespe "
                "does not fetch missing objects here"
            )
        start, at = header.end(), header.end() + int(header[1]) + 1
        target = os.path.join(top, file.path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        atomic.write_atomic(
            target, given[start : at - 1], mode=0o755 if file.executable else 0o644, durable=False
        )
