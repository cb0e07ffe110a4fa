"""One file's change as one git commit, made beside the index, so that nobody's staged or unstaged work is touched."""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from vespe.errors import InvalidArguments, StorageError, ToolExecutionError
from vespe.files.confined import Directory

_SETTINGS: Final = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "i18n.commitEncoding=utf-8", "protocol.allow=never")
GIT: Final = (
    "git",
    *(word for setting in _SETTINGS for word in ("-c", setting)),
    *("--no-pager", "--no-optional-locks"),
)
"""What every command begins with: nothing that a repository's own configuration names is run, and nothing is fetched."""
MAX_DIFF: Final = 20_000
MAX_MESSAGE: Final = 10_000
_TRIES: Final = 40
_PAUSE_S: Final = 0.05
_NOBODY: Final = {"NAME": "Vespe", "EMAIL": "vespe@localhost"}
"""Who commits where the user has told git no name."""

Run = Callable[..., Any]
"""`subprocess.run`, or what behaves like it: starting processes is for the caller to allow."""


class Committed(NamedTuple):
    """What became of a change: the file's size in bytes, whether it is new, the commit's id and its unified diff.

    `commit` is None and `diff` empty where the file already had this text; a long diff ends in a line that says so.
    """

    size: int
    created: bool
    commit: str | None
    diff: str


class _Repository(NamedTuple):
    """Where git works: the top of the work tree, the project's place in it ("" or "sub/"), and the git directory."""

    top: str
    prefix: str
    git_dir: str
    run: Run

    def ask(self, *arguments: str, stdin: str = "", extra: Mapping[str, str] | None = None) -> tuple[int, str, str]:
        """Run one git command; gives its status, what it printed and what it complained of."""
        try:
            done = self.run(
                [*GIT, *arguments],
                cwd=self.top,
                env=environment() | dict(extra or {}),
                input=stdin.encode("utf-8"),
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            raise ToolExecutionError("git is not installed, or not on PATH") from None
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace").strip()

    def tell(self, *arguments: str, stdin: str = "", extra: Mapping[str, str] | None = None) -> str:
        """Run one git command that has to succeed."""
        code, output, said = self.ask(*arguments, stdin=stdin, extra=extra)
        if code:
            raise ToolExecutionError(f"git {arguments[0]} failed: {said or f'exit status {code}'}")
        return output


class _Place(NamedTuple):
    """A file in a repository: its path as it was given and from the top, and the mode that git has for it."""

    path: str
    name: str
    mode: str


def commit_text(directory: Directory, path: str, change: Callable[[str | None], str], *, message: str, run: Run) -> Committed:
    """Write a file and commit exactly that: `change` gets the text that is there (None: no file) and gives the new one.

    `run` is `subprocess.run`. Only `path` changes in the commit, in the index and in the work tree; hooks, filters, signing
    and whatever else the repository's configuration would run are not run. Raises PathRefused as Directory does,
    InvalidArguments where the path is ignored, in another repository, or has changes that are not committed, and
    ToolExecutionError where git fails or there is no repository; nothing is changed then.
    """
    exists = directory.check_writable(path)
    repository = _open(directory, run)
    with _locked(repository.git_dir):
        _require_own(directory, path)
        place = _place(repository, path, exists=exists)
        old = directory.read_text(path) if exists else None
        new = change(old)
        if new == old:
            return Committed(len(new.encode("utf-8")), created=False, commit=None, diff="")
        head, commit = _prepare(repository, place, new, message=message)
        written = directory.write_text(path, new)
        if commit is None:  # the repository's rule for line ends makes it the same text
            _update_index(repository, place, head)
            return Committed(written.size, written.created, None, "")
        try:
            repository.tell("update-ref", "-m", f"vespe: {message.strip().split(chr(10))[0][:200]}", "HEAD", commit, head)
        except ToolExecutionError:
            _undo(directory, path, old)
            raise
        _update_index(repository, place, commit)
        return Committed(written.size, written.created, commit, _diff(repository, place, commit))


def _open(directory: Directory, run: Run) -> _Repository:
    here = _Repository(directory.root, "", "", run)
    code, output, said = here.ask("rev-parse", "--show-toplevel", "--show-prefix", "--absolute-git-dir")
    lines = output.split("\n")
    if code or len(lines) != 4:
        raise ToolExecutionError(
            f"{directory.root} is not in the work tree of a git repository: {said.removeprefix('fatal: ')}",
            hint="make one with `git init`, or use the kit file_io_without_git",
        )
    found = _Repository(lines[0], lines[1], lines[2], run)
    if os.path.lexists(os.path.join(found.git_dir, "MERGE_HEAD")):
        raise ToolExecutionError("a merge is in progress, and a commit now would become part of it: finish or abort it first")
    return found


def _require_own(directory: Directory, path: str) -> None:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for depth in range(1, len(parts)):
        above = "/".join(parts[:depth])
        if directory.kind(f"{above}/.git") is not None:
            raise InvalidArguments(f"{path} is in {above}, which is a git repository of its own")


def _place(repository: _Repository, path: str, *, exists: bool) -> _Place:
    name = repository.prefix + "/".join(part for part in path.split("/") if part not in ("", "."))
    ignored, _, said = repository.ask("check-ignore", "-q", "--", f"./{name}", extra={"GIT_LITERAL_PATHSPECS": "0"})
    if ignored > 1:
        raise ToolExecutionError(f"git check-ignore failed: {said}")
    if ignored == 0:
        raise InvalidArguments(f"git ignores {path}, so that a write of it cannot be committed")
    attributes = repository.tell("check-attr", "-z", "filter", "working-tree-encoding", "--", name).split("\0")
    for attribute, value in zip(attributes[1::3], attributes[2::3], strict=False):
        if value not in ("unspecified", "unset"):
            raise InvalidArguments(f"{path} has the git attribute {attribute}={value}, and programs for files are not run here")
    state = repository.tell("status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--", name)[:2]
    if state == "??":
        raise InvalidArguments(f"{path} is not in git yet: commit it first, so that what is in it now is not lost")
    if state:
        where = "staged" if state[0] != " " else "not committed"
        raise InvalidArguments(f"{path} has changes that are {where}: commit or undo them first, so that they are not mixed in")
    entry = repository.tell("ls-files", "--stage", "-z", "--", name) if exists else ""
    return _Place(path, name, entry[:6] or "100644")


def _prepare(repository: _Repository, place: _Place, text: str, *, message: str) -> tuple[str, str | None]:
    """Make the commit without a reference to it; gives HEAD's id ("" before the first commit) and the new commit's."""
    code, output, _ = repository.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    head = "" if code else output.strip()
    blob = repository.tell("hash-object", "-w", "--stdin", f"--path={place.name}", stdin=text).strip()
    tree = _tree(repository, head, f"{place.mode} {blob}\t{place.name}\0")
    if head:
        changed = repository.tell("diff-tree", "-r", "-z", "--name-only", "--no-renames", head, tree)
        if not changed:
            return head, None
        if changed != f"{place.name}\0":
            raise InvalidArguments(f"{place.path} cannot be committed alone: it would also change {changed.split(chr(0))[0]}")
    text = message.replace("\0", "").strip()[:MAX_MESSAGE]
    commit = repository.tell("commit-tree", tree, *(["-p", head] if head else []), "-F", "-", stdin=text, extra=_identity(repository))
    return head, commit.strip()


def _tree(repository: _Repository, head: str, entry: str) -> str:
    index = os.path.join(repository.git_dir, f"vespe-{os.getpid():x}-{time.monotonic_ns():x}.index")
    extra = {"GIT_INDEX_FILE": index}
    try:
        repository.tell("read-tree", head or "--empty", extra=extra)
        repository.tell("update-index", "-z", "--index-info", stdin=entry, extra=extra)
        return repository.tell("write-tree", extra=extra).strip()
    finally:
        for leftover in (index, f"{index}.lock"):
            with contextlib.suppress(OSError):
                os.unlink(leftover)


def _undo(directory: Directory, path: str, old: str | None) -> None:
    if old is None:
        directory.remove(path)
    else:
        directory.write_text(path, old)


def _update_index(repository: _Repository, place: _Place, commit: str) -> None:
    """Let the user's index have the new text of this one path, waiting for whoever has locked it."""
    entry = repository.tell("ls-tree", "-z", "--full-tree", commit, "--", place.name)
    for _ in range(_TRIES):
        code, _output, said = repository.ask("update-index", "-z", "--index-info", stdin=entry)
        if not code:
            return
        if "index.lock" not in said:
            break
        time.sleep(_PAUSE_S)
    raise ToolExecutionError(
        f"{place.path} is committed as {commit[:12]}, but the index could not be brought up to date: {said}",
        hint=f"`git reset -q -- {place.path}` does it once nothing else uses the repository",
    )


def _diff(repository: _Repository, place: _Place, commit: str) -> str:
    options = ("--no-commit-id", "--root", "--patch", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")
    diff = repository.tell("diff-tree", *options, commit, "--", place.name)
    if len(diff) <= MAX_DIFF:
        return diff
    return f"{diff[:MAX_DIFF]}\n[cut by vespe: {len(diff) - MAX_DIFF} of {len(diff)} characters are left out]\n"


def environment() -> dict[str, str]:
    """The environment that every command runs in: the caller's without what points git elsewhere, and nothing is asked or fetched."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return mine | {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"}


def _identity(repository: _Repository) -> dict[str, str]:
    """Who commits: whoever the user told git to be, else a fallback; git must not guess a name from the machine's."""
    code, _, _ = repository.ask("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
    return {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _NOBODY.items()} if code else {}


@contextlib.contextmanager
def _locked(git_dir: str) -> Iterator[None]:
    """Let the commits of Vespe's tools in one work tree wait for each other; git's own locks make others fail."""
    try:
        descriptor = os.open(git_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StorageError("lock", git_dir, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
