"""What git says of a repository that tools are asked about: nothing that its configuration names
runs, and no kept file is read.
"""

import os
import re
from collections.abc import Iterable
from typing import Final

from vespe.errors import InvalidArguments, ToolExecutionError
from vespe.files.confined import KEPT, Directory, PathRefused
from vespe.git import repository
from vespe.git.repository import Run, WorkTree

_STATUS: Final = (
    "status",
    "--porcelain=v1",
    "--branch",
    "--no-renames",
    "--untracked-files=normal",
    "--ignore-submodules=all",
)
_SHOW: Final = (
    "show",
    "--no-show-signature",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--submodule=short",
    "--date=iso-strict",
)
_GREP: Final = ("grep", "--no-color", "--no-textconv", "-I", "--fixed-strings")
_IGNORED: Final = "blame.ignoreRevsFile"
_IN_COMMIT: Final = re.compile(r"((?:[^{:]|\{[^}]*\})*):(.*)", re.DOTALL)
"""A file as git names it, `HEAD~1:path`: a colon in braces is one of a text that is searched
for.
"""
_KEEPS: Final = ", and your configuration (`files.never_read`) keeps files from tools"
_PATHSPECS: Final = {"GIT_LITERAL_PATHSPECS": "0"}
_MOST_KEPT: Final = 2000


def status(directory: Directory, *, path: str = ".", run: Run) -> list[str]:
    """Return the branch and the files beneath `path` that are changed, staged or not in git, in
    git's short format.

    `run` is `subprocess.run`. Raises ToolExecutionError where git fails, where there is no
    repository, and where the repository's own configuration names filter programs, which git would
    run over the files that it compares; PathRefused as Directory does.
    """
    return _ask(directory, *_STATUS, path=path, run=run).split("\n")[:-1]


def diff(directory: Directory, *options: str, path: str = ".", run: Run) -> str:
    """Return a unified diff of what is beneath `path`; `options` are git's own: `--cached`,
    revisions. Raises as `status` does.

    An option can make git write or run something: what comes from a model must be checked not to be
    one. What the user keeps from tools is left out.
    """
    directory.kind(path)  # which refuses what leads out
    found = _opened(directory, path, run=run)
    found.refuse_programs()
    if directory.has_secrets:
        for revision in (option for option in options if not option.startswith("-")):
            _refuse_nameless(found, revision)
    # `--no-optional-locks` does not keep `git diff` from writing the index anew; this does.
    found = found._replace(settings=(*found.settings, "diff.autoRefreshIndex=false"))
    asked = ("diff", *repository.DIFF, *options)
    names = (
        found.tell(*asked, "--name-only", "-z", "--", path).output if directory.has_secrets else b""
    )
    return _without(directory, found, *asked, path=path, names=names.split(b"\0"))


def show(directory: Directory, revision: str = "HEAD", *, path: str | None = None, run: Run) -> str:
    """Return a commit with its message and diff, or a file as it was then (`revision:path`), as git
    shows them.

    What the user keeps from tools is left out of a diff, and refused as a file. Raises as `diff`
    does.
    """
    found = _opened(directory, path or ".", run=run)
    if not directory.has_secrets:
        return found.tell(
            *_SHOW, "--format=fuller", "--stat", "--patch", revision, "--", *filter(None, (path,))
        ).text
    _refuse_secret_file(directory, found, revision)
    listed = found.tell(*_SHOW, "-m", "--format=", "--name-only", "-z", revision, "--").output
    asked = (*_SHOW, "--format=fuller", "--stat", "--patch", revision)
    return _without(directory, found, *asked, path=path, names=listed.split(b"\0"))


def grep(
    directory: Directory, text: str, *, revision: str = "HEAD", path: str | None = None, run: Run
) -> list[str]:
    """Return the lines of a commit's files that hold a literal text, as
    `revision:path:number:line`. Raises as `diff` does.
    """
    found, at = _opened(directory, path or ".", run=run), path or "."
    asked, names = (f"-e{text}", revision, "--"), b""
    if directory.has_secrets:
        _refuse_nameless(found, revision)
        names = _matched(
            found,
            "--files-with-matches",
            "--full-name",
            "-z",
            *asked,
            *_pathspecs(directory, found, path=at, names=()),
        )
    from_top = [name.removeprefix(os.fsencode(f"{revision}:")) for name in names.split(b"\0")]
    kept = _pathspecs(directory, found, path=at, names=from_top)
    shown = _matched(found, "--line-number", *asked, *kept).decode("utf-8", "replace")
    return shown.removesuffix("\n").split("\n") if shown else []


def blame(
    directory: Directory, *options: str, path: str, revision: str = "HEAD", run: Run
) -> list[str]:
    """Return one line for each line of a file: the commit's short id, author, date, number and the
    line; `options` are git's own.

    Raises as `status` does, and where `blame.ignoreRevsFile` is outside the work tree: git would
    quote that file's first line.
    """
    directory.kind(path)
    found = _opened(directory, path, run=run)
    listed = found.ask("config", "--show-scope", "--path", "-z", "--get-all", _IGNORED).text.split(
        "\0"
    )
    for scope, file in zip(listed[::2], listed[1::2], strict=False):
        real = os.path.realpath(os.path.join(found.top, file))
        if scope not in repository.USERS and not real.startswith(
            os.path.join(os.path.realpath(found.top), "")
        ):
            raise ToolExecutionError(
                f"the repository's own configuration names a list of revisions ({_IGNORED}) that "
                f"is not in it: {file}"
            )
    return found.tell(
        "blame", "--date=short", "--no-textconv", *options, revision, "--", path
    ).text.split("\n")[:-1]


def _ask(directory: Directory, *arguments: str, path: str, run: Run) -> str:
    directory.kind(path)
    found = _opened(directory, path, run=run)
    found.refuse_programs()
    return found.tell(*arguments, "--", path).text


def _opened(directory: Directory, path: str, *, run: Run) -> WorkTree:
    """Find the repository; a path that leads out of the directory, or is kept from tools, is
    refused before.
    """
    directory.refuse_secret(path)
    return repository.work_tree(directory.root, run=run)


def _without(
    directory: Directory, found: WorkTree, *arguments: str, path: str | None, names: Iterable[bytes]
) -> str:
    """Ask for what is beneath `path`, without those of the `names` (from the repository's top) that
    are kept from tools.
    """
    kept = _pathspecs(directory, found, path=path, names=names)
    return found.tell(*arguments, "--", *kept, extra=_PATHSPECS).text


def _pathspecs(
    directory: Directory, found: WorkTree, *, path: str | None, names: Iterable[bytes]
) -> list[str]:
    real, top = os.path.realpath(directory.root), os.path.realpath(found.top)
    secret = [
        name
        for name in map(os.fsdecode, dict.fromkeys(names))
        if name and directory.is_secret(os.path.relpath(f"{top}/{name}", real))
    ]
    if len(secret) > _MOST_KEPT:
        raise ToolExecutionError(
            f"{len(secret)} of the files cannot be read by tools because of the configuration: ask "
            "for one path"
        )
    return [
        f":(literal){path}" if path else ":(top)",
        *(f":(top,exclude,literal){name}" for name in secret),
    ]


def _matched(found: WorkTree, *arguments: str) -> bytes:
    """Run a search, which may find nothing."""
    answer = found.ask(*_GREP, *arguments, extra=_PATHSPECS)
    if answer.status > 1:
        raise ToolExecutionError(
            f"git grep failed: {answer.said or f'exit status {answer.status}'}"
        )
    return bytes(answer.output)


def _are_commits(found: WorkTree, revision: str) -> bool:
    """Whether a revision, or a range, stands for commits alone, so that paths in it are those from
    the repository's top.
    """
    ids = found.tell("rev-parse", "--revs-only", revision, "--").text.split()
    asked = "".join(f"{one.lstrip('^')}^{{}}\n" for one in ids).encode()
    return bool(ids) and set(
        found.tell("cat-file", "--batch-check=%(objecttype)", stdin=asked).text.split()
    ) == {"commit"}


def _refuse_nameless(found: WorkTree, revision: str) -> None:
    """Refuse a directory or file of a commit in place of the commit: beneath it paths have lost
    their beginnings.
    """
    if not _are_commits(found, revision):
        raise InvalidArguments(
            f"{revision!r} is not a commit{_KEEPS}",
            hint="name the commit, and the directory as `path`",
        )


def _refuse_secret_file(directory: Directory, found: WorkTree, revision: str) -> None:
    """Refuse a file or directory of a commit that is kept from tools, and one that is not named by
    its path, so that nobody can say.
    """
    if _are_commits(found, revision):
        return
    named = _IN_COMMIT.fullmatch(revision)
    if not named or (
        named[1] and found.ask("rev-parse", "--verify", "-q", f"{named[1]}^{{commit}}").status
    ):
        raise InvalidArguments(
            f"{revision!r} names no path in a commit, and your configuration (`files.never_read`) "
            "keeps files from tools"
        )
    path = named[2] if named[1] else re.sub(r"^[0-3]:", "", named[2])
    real = os.path.realpath(directory.root)
    at = os.path.join(real if path.startswith(("./", "../")) else os.path.realpath(found.top), path)
    if directory.is_secret(os.path.relpath(at, real)):
        raise PathRefused(path, KEPT)
