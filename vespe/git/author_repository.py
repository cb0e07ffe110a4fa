"""The author's own repository, by GitPython: what is in it, which programs it runs at a commit and
a tag, and these two made, or nothing.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from vespe.errors import MissingExtra, Refused, ToolExecutionError
from vespe.files import atomic, ownership, unreviewed
from vespe.git import repository as bounded
from vespe.lazy import git, shlex, shutil
from vespe.processes.signals import uninterruptible

_QUIET: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "LC_ALL": "C",
}
_READING: Final = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""What commands that only read get too: a missing object would be fetched by a program that the
repository names. Commits and tags do not get it, since their hooks may fetch.
"""
_CHANGING: Final = frozenset(("add", "commit", "reset", "update-ref"))
_SETTINGS: Final = (
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "log.showSignature=false",
    "core.quotePath=false",
)
"""What would run beside what is announced: the same settings as everywhere else, but for hooks and
signing.
"""
_ELSEWHERE: Final = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
)
_HOOKS: Final = (
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-index-change",
    "reference-transaction",
)
"""What git runs at a commit and at a tag, where a repository has it."""
_UNDER_WAY: Final = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}
_SIGNERS: Final = {
    "openpgp": (("gpg.openpgp.program", "gpg.program"), "gpg"),
    "ssh": (("gpg.ssh.program",), "ssh-keygen"),
    "x509": (("gpg.x509.program",), "gpgsm"),
}
"""The settings that name the program, and the program without them, by the format of signatures."""
_KEY_COMMAND: Final = "gpg.ssh.defaultKeyCommand"
_DEADLINE_S: Final = 300.0
_SHORT_S: Final = 60.0
_MOST_NAMED: Final = 5
_MOST_SAID: Final = 2000


@dataclass(frozen=True, slots=True)
class AuthorRepository:
    """A repository of this user's own, asked from `directory`, where the kit is; `top` is its work
    tree, `repo` GitPython's.
    """

    directory: str
    top: str
    repo: Any

    def ask(self, *words: str, deadline_s: float = _SHORT_S) -> str:
        """Run one git command within a deadline and return what it prints; raises
        ToolExecutionError with its own words.
        """
        status, said, complaint = self._run(words, deadline_s)
        if status:
            why = (complaint or said or f"exit status {status}").strip()[-_MOST_SAID:]
            raise ToolExecutionError(f"git {words[0]} failed: {why}")
        return said

    def answers(self, *words: str) -> bool:
        """Whether a git command that only reads succeeds."""
        return self._run(words, _SHORT_S)[0] == 0

    def _run(self, words: Sequence[str], deadline_s: float) -> tuple[int, str, str]:
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        status, said, complaint = self.repo.git.execute(
            ["git", "-C", self.directory, *settings, "--no-pager", *words],
            env=_QUIET if _is_change(words) else _QUIET | _READING,
            with_extended_output=True,
            with_exceptions=False,
            kill_after_timeout=deadline_s,
            strip_newline_in_stdout=False,
        )
        return status, said, complaint

    def require_branch(self) -> str:
        """Return the branch that is checked out; raises Refused where none is, or it has no
        commit.
        """
        if self.repo.head.is_detached:
            raise Refused(
                "HEAD is detached: a commit here would be on no branch",
                hint="`git switch BRANCH` goes to the branch that you release from",
            )
        if not self.repo.head.is_valid():
            raise Refused(
                "the repository has no commit yet",
                hint='make the first one: `git add . && git commit -m "First version"`',
            )
        return str(self.repo.active_branch.name)

    @property
    def head(self) -> str:
        """The id of the last commit."""
        return self.ask("rev-parse", "--verify", "HEAD").strip()

    def tags(self) -> list[str]:
        """Return the names of the tags that lead to the last commit."""
        listed = self.ask("tag", "--list", "v*", "--merged", "HEAD")
        return [name for name in listed.split("\n") if name]

    def has_tag(self, name: str) -> bool:
        """Whether there is a tag of that name, wherever it leads."""
        return any(tag.name == name for tag in self.repo.tags)

    def changed_since(self, tag: str) -> bool:
        """Whether anything in the kit's directory is another than at a tag."""
        return not self.answers(
            "diff", "--quiet", *bounded.DIFF, f"refs/tags/{tag}", "HEAD", "--", "."
        )

    def check(self) -> None:
        """Raise Refused where a release cannot begin: no branch, something under way, nobody to
        commit as, files that are not committed.
        """
        self.require_branch()
        for name, what in _UNDER_WAY.items():
            if os.path.lexists(os.path.join(self.repo.git_dir, name)):
                raise Refused(f"{what} is in progress", hint="finish or abort it first")
        self.require_identity()
        if dirty := self._dirty():
            named = ", ".join(dirty[:_MOST_NAMED])
            more = f" and {len(dirty) - _MOST_NAMED} more" if len(dirty) > _MOST_NAMED else ""
            raise Refused(
                f"the working tree is not clean: {named}{more}",
                hint="commit these files, add them to .gitignore, or remove them: "
                "a release is exactly what is committed",
            )

    def require_identity(self) -> None:
        """Raise Refused where git knows nobody to commit as."""
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            if not self.answers("-c", "user.useConfigOnly=true", "var", who):
                raise Refused(
                    "git does not know who you are, so it cannot commit",
                    hint="`git config --global user.name NAME` and "
                    "`git config --global user.email ADDRESS`",
                )

    def _dirty(self) -> list[str]:
        said = self.ask(
            *("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal"),
            # To look into a submodule runs the programs that its own configuration names.
            "--ignore-submodules=dirty",
        )
        return [row[3:] for row in said.split("\0") if row]

    def programs(self, *, sign: bool) -> list[str]:
        """Say in a sentence each which programs git will run for the commit and the tag."""
        return [*self._hooks(), *self._configured_hooks(), *self._signer(sign=sign)]

    def _hooks(self) -> Iterator[str]:
        yield from (f"the hook {os.path.relpath(hook, self.top)}" for hook in self._hook_files())

    def _hook_files(self) -> Iterator[str]:
        place = self.ask("rev-parse", "--git-path", "hooks").strip()
        directory = os.path.join(self.directory, place)
        for name in _HOOKS:
            hook = os.path.join(directory, name)
            if os.path.isfile(hook) and os.access(hook, os.X_OK):
                yield hook

    def require_own(self) -> None:
        """Raise Refused where another user can change the kit, the repository, its configuration or
        its hooks.
        """
        directories = [*_between(self.top, self.directory), *_parents(self._hook_files())]
        for directory in dict.fromkeys(directories):
            if why := ownership.foreign_writer(directory):
                raise _not_own(directory, why, f"go-w {shlex.quote(directory)}")
        for place in dict.fromkeys((*self._own_places(), *self._hook_files())):
            real = os.path.realpath(place)
            if found := ownership.foreign_part(real):
                # Git creates its files with the same modes, so one command covers them all.
                raise _not_own(*found, f"-R go-w {shlex.quote(real)}")

    def _own_places(self) -> Iterator[str]:
        """Yield the git directories, and the files of the repository's own configuration."""
        yield from (self.repo.git_dir, self.repo.common_dir)
        said = self.ask("config", "--list", "--show-origin", "--show-scope", "--name-only", "-z")
        words = said.split("\0")
        for scope, origin in zip(words[::3], words[1::3], strict=False):
            if scope not in bounded.USERS and origin.startswith("file:"):
                yield os.path.join(self.top, origin.removeprefix("file:"))

    def _configured_hooks(self) -> Iterator[str]:
        status, said, _ = self._run(
            ("config", "-z", "--get-regexp", r"^hook\..*\.command$"), _SHORT_S
        )
        for row in said.split("\0") if status == 0 else ():
            name, _, command = row.partition("\n")
            if name:
                yield f"the hook {name.split('.', 1)[1].rpartition('.')[0]}: {command}"

    def _signer(self, *, sign: bool) -> Iterator[str]:
        if not (sign or self._says("commit.gpgSign") or self._says("tag.gpgSign")):
            return
        settings, program = _SIGNERS.get(
            self._value("gpg.format") or "openpgp", _SIGNERS["openpgp"]
        )
        key = self._value("user.signingKey")
        if program == "ssh-keygen" and not key and (finds := self._value(_KEY_COMMAND)):
            yield f"the program {finds}, which names the key to sign with"
        own = self._last_of(settings)
        yield f"the signing program {own or program}" + (f", with the key {key}" if key else "")

    def _says(self, setting: str) -> bool:
        return self._run(("config", "--type=bool", "--get", setting), _SHORT_S)[1].strip() == "true"

    def _last_of(self, settings: Sequence[str]) -> str:
        """Return the value of several settings for one thing, of which git takes the last."""
        pattern = "|".join(map(re.escape, settings))
        said = self._run(("config", "-z", "--get-regexp", f"^({pattern})$"), _SHORT_S)[1]
        return said.rstrip("\0").rpartition("\0")[2].partition("\n")[2]

    def _value(self, setting: str) -> str:
        return self._run(("config", "--get", setting), _SHORT_S)[1].strip()

    def released(self, files: dict[str, bytes], *, tag: str, message: str, sign: bool) -> str:
        """Write files, by their place in the kit's directory, commit exactly them, and tag the
        commit; return its id. Where one step fails, everything is as it was.

        Without files, the last commit is tagged. Raises ToolExecutionError with what git, a hook or
        the signing program said, StorageError.
        """
        before = {name: self._content(name) for name in files}
        head = self.head
        is_made = False
        # Ctrl-C reaches git and its hooks by itself; ours waits until they have ended.
        with uninterruptible():
            try:
                if files:
                    self._commit(files, message=message, sign=sign)
                    self._check_commit(files, head)
                words = ("-s",) if sign else ("-a",)
                self.ask("tag", *words, "-m", message, tag, deadline_s=_DEADLINE_S)
                is_made = True
            finally:
                if not is_made:
                    self._undo(before, head=head)
            return self.head

    def _commit(self, files: dict[str, bytes], *, message: str, sign: bool) -> None:
        for name, content in files.items():
            atomic.write_atomic(os.path.join(self.directory, name), content)
        self.ask("add", "--", *files)
        signed = ("-S",) if sign else ()
        self.ask("commit", "-q", *signed, "-m", message, "--", *files, deadline_s=_DEADLINE_S)
        changed = [name for name, content in files.items() if self._content(name) != content]
        if dirty := [*changed, *self._dirty()]:
            raise ToolExecutionError(
                f"a hook changed {', '.join(dirty[:_MOST_NAMED])} while the release was committed"
            )

    def _check_commit(self, files: dict[str, bytes], head: str) -> None:
        """Raise ToolExecutionError where the last commit is not exactly these files after `head`: a
        hook may commit, too.
        """
        said = self.ask("diff", "--name-only", "-z", *bounded.DIFF, head, "HEAD")
        place = os.path.relpath(os.path.realpath(self.directory), os.path.realpath(self.top))
        wanted = {os.path.normpath(os.path.join(place, name)) for name in files}
        parents = self.ask("rev-parse", "HEAD^@").split()
        others = [name for name in said.split("\0") if name and name not in wanted]
        if others or parents != [head]:
            named = ", ".join(others[:_MOST_NAMED]) or "a commit of its own"
            more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
            raise ToolExecutionError(
                f"a hook committed something else with the release: {named}{more}",
                hint="commit these files before the release, or change the hook"
                if others
                else "change the hook so that it makes no commit during a release",
            )

    def _undo(self, before: dict[str, bytes | None], *, head: str) -> None:
        """Put the branch, the index and the files back, by commands of their own: Ctrl-C has ended
        whatever of git's ran meanwhile.
        """
        if (now := self.head) != head:
            self.ask("update-ref", "-m", "vespe: release undone", "HEAD", head, now)
        for name, content in before.items():
            path = os.path.join(self.directory, name)
            if content is not None:
                atomic.write_atomic(path, content)
            elif os.path.lexists(path):
                os.unlink(path)
        # Whoever holds the lock of the index has kept these files out of it, too.
        if before and not self.answers("diff", "--cached", "--quiet", "HEAD", "--", *before):
            self.ask("reset", "-q", "--", *before)

    def _content(self, name: str) -> bytes | None:
        path = os.path.join(self.directory, name)
        return atomic.read_bytes(path) if os.path.lexists(path) else None

    def begun(self, message: str) -> str:
        """Commit everything in the directory as the first commit, and return its id."""
        with uninterruptible():
            self.ask("add", "--all")
            self.ask("commit", "-q", "-m", message, deadline_s=_DEADLINE_S)
            return self.head

    def push_command(self, branch: str, tag: str) -> str:
        """Return the command that publishes the release."""
        remotes = [remote.name for remote in self.repo.remotes]
        tracked = self._value(f"branch.{branch}.remote")
        remote = tracked or (remotes[0] if len(remotes) == 1 else "REMOTE")
        return f"git push --atomic {shlex.quote(remote)} {shlex.quote(branch)} {tag}"


_NO_REPOSITORY: Final = (
    "a release is a git tag: make a repository with `git init` in the kit's directory, and commit "
    "its files"
)


@contextmanager
def opened_repository(directory: str) -> Iterator[AuthorRepository]:
    """Open the repository of a kit that its author edits.

    Raises MissingExtra, ToolExecutionError without git or a repository, and Refused where another
    user can change the repository, where a tool's call has left something in it that nobody has
    looked at, and where its own configuration names programs that git would run over files.
    """
    _require_git()
    found = bounded.work_tree(directory, hint=_NO_REPOSITORY)
    if new := unreviewed.left(found.top):
        raise Refused(unreviewed.sentence(new))
    found.refuse_programs()
    repo = _opened(found.top, "`vespe kit release`")
    try:
        opened = AuthorRepository(directory=directory, top=found.top, repo=repo)
        opened.require_own()
        yield opened
    finally:
        repo.close()


def _not_own(part: str, why: str, change: str) -> Refused:
    """Return the error for a file or directory that another user can change; `change` are the
    arguments of the chmod that helps its owner.
    """
    is_own = ownership.is_own(part, follow_links=False)
    return Refused(
        f"{part} {why}, who could change what is released",
        hint=f"`chmod {change}`" if is_own else "clone it as the user that releases",
    )


def _is_change(words: Sequence[str]) -> bool:
    return words[0] in _CHANGING or words[:2] in (("tag", "-a"), ("tag", "-s"))


def _between(top: str, directory: str) -> Iterator[str]:
    """Yield a directory and those above it, up to the top of the work tree."""
    place, top = os.path.realpath(directory), os.path.realpath(top)
    while place != top and os.path.dirname(place) != place:
        yield place
        place = os.path.dirname(place)
    yield top


def _parents(paths: Iterator[str]) -> Iterator[str]:
    return (os.path.dirname(os.path.realpath(path)) for path in paths)


@contextmanager
def new_repository(directory: str) -> Iterator[AuthorRepository]:
    """Make a directory of the author's own a git repository, on the branch that they begin with.

    Where the work in it fails, the repository goes again. Raises MissingExtra, ToolExecutionError
    without git, and Refused where another user can change the directory, or git knows nobody to
    commit as.
    """
    _require_git()
    if why := ownership.foreign_writer(directory):
        raise Refused(f"{directory} {why}, who could change what is committed")
    place, is_done = os.path.join(directory, ".git"), False
    try:
        repo = _opened(directory, "`vespe kit create --git`", make=True)
        try:
            made = AuthorRepository(directory=directory, top=directory, repo=repo)
            made.require_identity()
            yield made
            is_done = True
        finally:
            repo.close()
    finally:
        if not is_done:
            shutil.rmtree(place, ignore_errors=True)


def _require_git() -> None:
    if not shutil.which("git"):
        raise ToolExecutionError("git is not installed, or not on PATH")
    if named := [name for name in _ELSEWHERE if name in os.environ]:
        raise Refused(
            f"environment variables change where git finds its files ({', '.join(named)})",
            hint=f"`unset {' '.join(named)}` and run the command again",
        )


def _opened(top: str, command: str, *, make: bool = False) -> Any:
    """Open a repository by GitPython, or make one on the branch that the author begins with."""
    try:
        if not make:
            return git.Repo(top)
        begun = git.Git(top)
        configured = begun.execute(
            ["git", "config", "--get", "init.defaultBranch"], with_exceptions=False
        )
        branch = str(configured).strip() or "main"
        begun.execute(
            ["git", "init", "-q", f"--initial-branch={branch}", "."],
            env=_QUIET,
            kill_after_timeout=_SHORT_S,
        )
        return git.Repo(top)
    except ImportError as error:
        module = re.sub(r"[^A-Za-z0-9_.].*", "", error.name or "git")
        raise MissingExtra(command, extra="release", module=module) from None
    except git.exc.GitError as error:
        raise ToolExecutionError(f"git cannot open {top}: {error}") from None
