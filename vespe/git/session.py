"""A kit's source asked through one bare repository of ours: bounded in time, output and disk; no
checkout, no prompt.
"""

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Final, NamedTuple

from vespe.errors import (
    Interrupted,
    NotFound,
    Refused,
    SourceUnavailable,
    TimedOut,
    ToolExecutionError,
    VespeError,
)
from vespe.git import repository
from vespe.processes import process
from vespe.records import dataclass

TIMEOUT_S: Final = 120.0
"""For all that one source is asked for together."""
MAX_FETCHED_BYTES: Final = 512 * 1024 * 1024
"""On disk, of one repository's one commit."""
_PROTOCOLS: Final = {"https": "https:ssh", "ssh": "ssh", "path": "file"}
"""By a source's kind; a user may let https addresses stand for ssh ones (`url.….insteadOf`), and
nothing else.
"""
_POLL_S: Final = 0.1
_SAY_S: Final = 2.0


class Object(NamedTuple):
    """One object of git's: its kind (`blob`, `tree`, `commit`, `tag`) and its bytes."""

    kind: bytes
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What is asked of one source: `directory` for a bare repository of ours, and the time by which
    all has to be done.

    `what` is what sentences call the source, `kind` its kind; `progress` is told what takes long.
    `objects` are those of the repository by their ids, where they are few enough to be held in
    memory; it is empty otherwise.
    """

    directory: str
    what: str
    kind: str
    progress: Callable[[str], None] | None = None
    objects: dict[str, Object] = field(default_factory=dict, compare=False, repr=False)
    deadline: float = field(default_factory=lambda: time.monotonic() + TIMEOUT_S)

    @property
    def left_s(self) -> float:
        """Seconds that are left."""
        return max(self.deadline - time.monotonic(), 0.001)


def run(
    session: Session, *arguments: str, stdin: bytes = b"", cap_bytes: int, then: Sequence[str] = ()
) -> bytes:
    """Run one git command in the session's repository, where it succeeds another one `then`, and
    give what they printed.

    Raises Refused for what git's own checks refuse, NotFound where the source lacks what was asked
    for, SourceUnavailable, TimedOut, OutputTooLarge past `cap_bytes`. Whatever it started has ended
    then.
    """
    argv = (*repository.FETCHING, f"--git-dir={session.directory}")
    try:
        command = process.Command(
            argv=(*argv, *arguments),
            cwd=os.path.dirname(session.directory),
            env=environment(session),
            stdin=stdin,
            timeout_s=session.left_s,
            cap_bytes=cap_bytes,
            name="git",
            then=((*argv, *then),) if then else (),
        )
        with _watched(session) as cancel:
            done = process.run(command, cancel=cancel)
    except TimedOut:
        raise _late(session) from None
    except Interrupted:
        most = MAX_FETCHED_BYTES // 2**20
        raise Refused(
            f"{session.what} sends more than {most} MiB for one commit, so the download was "
            "stopped",
            hint="nothing was changed",
        ) from None
    except ToolExecutionError as error:
        if error.details.get("errno") == errno.ENOENT and "directory" not in error.details:
            raise SourceUnavailable(
                "git is not installed, or not on PATH", hint="install git 2.30 or newer"
            ) from None
        raise
    if done.returncode:
        raise _failure(session, done.stderr.decode("utf-8", "replace"), done.returncode)
    return done.stdout


def check_time(session: Session) -> None:
    """Raise TimedOut where the session's time is over: for what is done without git."""
    if time.monotonic() > session.deadline:
        raise _late(session)


def _late(session: Session) -> TimedOut:
    late = TimedOut(f"asking {session.what}", seconds=TIMEOUT_S)
    late.hint = "try again later; nothing was changed"
    return late


def environment(session: Session) -> dict[str, str]:
    """Return the environment that git runs in, which lets it speak the protocols of the source's
    kind and no other. For ssh the user's own program is asked for. Raises as `process.run` does.
    """
    protocols = _PROTOCOLS.get(session.kind, "none")
    if session.kind == "ssh":
        return repository.environment_for_ssh(protocols, run=repository.run_bounded)
    return repository.environment(protocols)


@contextmanager
def _watched(session: Session) -> Iterator[threading.Event]:
    """Look at the size of the repository while git runs: past the limit git is ended, and now and
    then somebody hears of it.
    """
    cancel, done = threading.Event(), threading.Event()
    watcher = threading.Thread(target=_watch, args=(session, cancel, done), daemon=True)
    watcher.start()
    try:
        yield cancel
    finally:
        done.set()
        watcher.join()


def _watch(session: Session, cancel: threading.Event, done: threading.Event) -> None:
    said = time.monotonic()
    while not done.wait(_POLL_S):
        size = _size(os.path.join(session.directory, "objects"))
        if size > MAX_FETCHED_BYTES:
            cancel.set()
            return
        if session.progress and time.monotonic() - said > _SAY_S:
            said = time.monotonic()
            session.progress(f"fetching {session.what}: {size / 2**20:.1f} MiB so far")


def _size(directory: str) -> int:
    total = 0
    try:
        for path, _, names in os.walk(directory):
            total += sum(os.lstat(os.path.join(path, name)).st_blocks * 512 for name in names)
    except OSError:
        return total
    return total


def _failure(session: Session, said: str, status: int) -> VespeError:
    """The sentence for what git complained of."""
    lines = _cause(said)
    reason = "; ".join(lines)[:400] or f"git ended with status {status}"
    kind, hint = next(
        ((kind, hint) for words, kind, hint in _MEANINGS if any(word in said for word in words)),
        (SourceUnavailable, ""),
    )
    return kind(
        f"{session.what}: {reason}",
        hint=hint or "check the address, the network, and whether you have access",
    )


def _cause(said: str) -> list[str]:
    """Return the lines that say why. Where git could not read from a remote, what it ran said it in
    the lines before.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    unread = next((n for n, line in enumerate(lines) if line.startswith(_UNREAD)), 0)
    if before := [line for line in lines[:unread] if not line.startswith("Warning: ")]:
        return [*before[-2:], lines[unread]]
    return [line for line in lines if line.startswith(_SERIOUS)][:3] or lines[:3]


_UNREAD: Final = "fatal: Could not read from remote repository"
_SERIOUS: Final = ("fatal:", "error:", "ERROR", "remote:", "ssh:")
_MEANINGS: Final[Sequence[tuple[Sequence[str], type[VespeError], str]]] = (
    (
        ("fsck error", "error in object", "in tree entry", "repository corruption"),
        Refused,
        "git's check of the objects failed; nothing was installed",
    ),
    (
        ("not our ref", "unadvertised object", "find remote ref"),
        NotFound,
        "it may have been removed by a force push",
    ),
    (
        ("expected commit type",),
        NotFound,
        "that id is not the id of a commit; name a branch, a tag or a full commit id",
    ),
    (
        ("valid object name", "not a tree object"),
        NotFound,
        "look at what the source holds at that commit",
    ),
    (
        (
            "terminal prompts disabled",
            "could not read Username",
            "Authentication failed",
            "Permission denied",
            "Host key verif",
        ),
        SourceUnavailable,
        "git has no credentials that work without asking: set up a credential helper, or an ssh "
        "key and its host",
    ),
    (
        ("dubious ownership",),
        Refused,
        "the repository belongs to another user; copy it, or add it to git's safe.directory",
    ),
    (("fatal: transport '",), Refused, "Vespe lets git use only https and ssh"),
)
