"""One file's change as one git commit, made beside the index, so that nobody's staged or unstaged
work is touched.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from vespe.errors import InvalidArguments, StorageError, ToolExecutionError
from vespe.files.confined import Directory
from vespe.git import repository
from vespe.git.repository import Run, WorkTree

MAX_DIFF: Final = 20_000
MAX_MESSAGE: Final = 10_000
_TRIES: Final = 40
_PAUSE_S: Final = 0.05
_NOBODY: Final = {"NAME": "Vespe", "EMAIL": "vespe@localhost"}
"""Who commits where the user has told git no name."""


class Committed(NamedTuple):
    """What became of a change: the file's size in bytes, whether it is new, the commit's id and its
    unified diff.

    `commit` is None and `diff` empty where the file already had this text; a long diff ends in a
    line that says so.
    """

    size: int
    created: bool
    commit: str | None
    diff: str


class _Place(NamedTuple):
    """A file in a repository: its path as it was given and from the top, and the mode that git has
    for it.
    """

    path: str
    name: str
    mode: str


def commit_text(
    directory: Directory, path: str, change: Callable[[str | None], str], *, message: str, run: Run
) -> Committed:
    """Write a file and commit exactly that: `change` gets the text that is there (None: no file)
    and gives the new one.

    `run` is `subprocess.run`. Only `path` changes in the commit, in the index and in the work tree;
    hooks, filters, signing and whatever else the repository's configuration would run are not run.
    Raises PathRefused as Directory does, InvalidArguments where the path is ignored, in another
    repository, or has changes that are not committed, and ToolExecutionError where git fails or
    there is no repository; nothing is changed then.
    """
    exists = directory.check_writable(path)
    tree = _open(directory, run)
    with _locked(tree.git_dir):
        _require_own(directory, path)
        place = _place(tree, path, exists=exists)
        old = directory.read_text(path) if exists else None
        new = change(old)
        if new == old:
            return Committed(len(new.encode("utf-8")), created=False, commit=None, diff="")
        head, commit = _prepare(tree, place, new, message=message)
        written = directory.write_text(path, new)
        if commit is None:  # the repository's rule for line ends makes it the same text
            _update_index(tree, place, head)
            return Committed(written.size, written.created, None, "")
        try:
            tree.tell(
                "update-ref",
                "-m",
                f"vespe: {message.strip().split(chr(10))[0][:200]}",
                "HEAD",
                commit,
                head,
            )
        except ToolExecutionError:
            _undo(directory, path, old)
            raise
        _update_index(tree, place, commit)
        return Committed(written.size, written.created, commit, _diff(tree, place, commit))


def _open(directory: Directory, run: Run) -> WorkTree:
    """Open the repository from its top. No file with a filter is committed; git would filter others
    that it looks at.
    """
    found = repository.work_tree(directory.root, run=run).at_top().without_programs()
    if os.path.lexists(os.path.join(found.git_dir, "MERGE_HEAD")):
        raise ToolExecutionError(
            "a merge is in progress, and a commit now would become part of it: "
            "finish or abort it first"
        )
    return found


def _require_own(directory: Directory, path: str) -> None:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for depth in range(1, len(parts)):
        above = "/".join(parts[:depth])
        if directory.kind(f"{above}/.git") is not None:
            raise InvalidArguments(f"{path} is in {above}, which is a git repository of its own")


def _place(tree: WorkTree, path: str, *, exists: bool) -> _Place:
    name = tree.prefix + "/".join(part for part in path.split("/") if part not in ("", "."))
    ignored = tree.ask(
        "check-ignore", "-q", "--", f"./{name}", extra={"GIT_LITERAL_PATHSPECS": "0"}
    )
    if ignored.status > 1:
        raise ToolExecutionError(f"git check-ignore failed: {ignored.said}")
    if ignored.status == 0:
        raise InvalidArguments(f"git ignores {path}, so a change of it cannot be committed")
    attributes = tree.tell(
        "check-attr", "-z", "filter", "working-tree-encoding", "--", name
    ).text.split("\0")
    for attribute, value in zip(attributes[1::3], attributes[2::3], strict=False):
        if value not in ("unspecified", "unset"):
            raise InvalidArguments(
                f"{path} has the git attribute {attribute}={value}, and Vespe does not run "
                "programs that git is configured to run on files"
            )
    state = tree.tell(
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=all",
        "--",
        name,
    ).text[:2]
    if state == "??":
        raise InvalidArguments(
            f"{path} is not in git yet: commit it first, so that its current content is not lost"
        )
    if state:
        where = "staged" if state[0] != " " else "not committed"
        raise InvalidArguments(
            f"{path} has changes that are {where}: commit or undo them first, "
            "so that they are not mixed in"
        )
    entry = tree.tell("ls-files", "--stage", "-z", "--", name).text if exists else ""
    return _Place(path, name, entry[:6] or "100644")


def _prepare(tree: WorkTree, place: _Place, text: str, *, message: str) -> tuple[str, str | None]:
    """Make the commit without a reference to it; gives HEAD's id ("" before the first commit) and
    the new commit's.
    """
    found = tree.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    head = "" if found.status else found.text.strip()
    blob = tree.tell(
        "hash-object", "-w", "--stdin", f"--path={place.name}", stdin=text.encode("utf-8")
    ).text.strip()
    made = _tree(tree, head, f"{place.mode} {blob}\t{place.name}\0")
    if head:
        changed = tree.tell("diff-tree", "-r", "-z", "--name-only", "--no-renames", head, made).text
        if not changed:
            return head, None
        if changed != f"{place.name}\0":
            raise InvalidArguments(
                f"{place.path} cannot be committed alone: "
                f"it would also change {changed.split(chr(0))[0]}"
            )
    words = message.replace("\0", "").strip()[:MAX_MESSAGE].encode("utf-8")
    commit = tree.tell(
        "commit-tree",
        made,
        *(["-p", head] if head else []),
        "-F",
        "-",
        stdin=words,
        extra=_identity(tree),
    )
    return head, commit.text.strip()


def _tree(tree: WorkTree, head: str, entry: str) -> str:
    index = os.path.join(tree.git_dir, f"vespe-{os.getpid():x}-{time.monotonic_ns():x}.index")
    extra = {"GIT_INDEX_FILE": index}
    try:
        tree.tell("read-tree", head or "--empty", extra=extra)
        tree.tell("update-index", "-z", "--index-info", stdin=entry.encode("utf-8"), extra=extra)
        return tree.tell("write-tree", extra=extra).text.strip()
    finally:
        for leftover in (index, f"{index}.lock"):
            with contextlib.suppress(OSError):
                os.unlink(leftover)


def _undo(directory: Directory, path: str, old: str | None) -> None:
    if old is None:
        directory.remove(path)
    else:
        directory.write_text(path, old)


def _update_index(tree: WorkTree, place: _Place, commit: str) -> None:
    """Let the user's index have the new text of this one path, waiting for whoever has locked
    it.
    """
    entry = tree.tell("ls-tree", "-z", "--full-tree", commit, "--", place.name).output
    for _ in range(_TRIES):
        answer = tree.ask("update-index", "-z", "--index-info", stdin=entry)
        if not answer.status:
            return
        if "index.lock" not in answer.said:
            break
        time.sleep(_PAUSE_S)
    raise ToolExecutionError(
        f"{place.path} is committed as {commit[:12]}, but the index could not be updated: "
        f"{answer.said}",
        hint=f"`git reset -q -- {place.path}` does it once nothing else uses the repository",
    )


def _diff(tree: WorkTree, place: _Place, commit: str) -> str:
    diff = tree.tell(
        "diff-tree",
        "--no-commit-id",
        "--root",
        "--patch",
        *repository.DIFF,
        commit,
        "--",
        place.name,
    ).text
    if len(diff) <= MAX_DIFF:
        return diff
    return (
        f"{diff[:MAX_DIFF]}\n[cut by vespe: {len(diff) - MAX_DIFF} of {len(diff)} characters "
        "are left out]\n"
    )


def _identity(tree: WorkTree) -> dict[str, str]:
    """Who commits: whoever the user told git to be, else a fallback; git must not guess a name from
    the machine's.
    """
    if not tree.ask("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT").status:
        return {}
    return {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in _NOBODY.items()
    }


@contextlib.contextmanager
def _locked(git_dir: str) -> Iterator[None]:
    """Let the commits of Vespe's tools in one work tree wait for each other; git's own locks make
    others fail.
    """
    try:
        descriptor = os.open(git_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StorageError("lock", git_dir, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
