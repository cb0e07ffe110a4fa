"""The output of a batch: one line for each input, complete after any kill, and what was begun when
a batch was killed.
"""

import contextlib
import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from types import TracebackType
from typing import BinaryIO, Final

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.features.batch.items import Item, ItemId, ItemOutcome

BEGUN: Final = ".begun"
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class OutcomesFile:
    """Writes a line for each outcome, one `write` a line, and knows what an earlier run of the same
    batch did.

    With `journal` the id of each call is noted before the call begins, in a file beside the output
    that goes when the batch is done: for tools that must not run twice. Killing the process loses
    nothing that was written; a crash of the machine may. `failed` counts the failures that the file
    held when it was opened. Raises Refused if the file is there and `resume` is false, or another
    batch writes to it; InvalidDocument for a file that is not the output of a batch; StorageError.
    """

    def __init__(self, path: str, *, resume: bool = False, journal: bool = False) -> None:
        self.path = path
        if not resume and os.path.lexists(path):
            raise Refused(
                f"{path} already exists", hint="continue it with --resume, or choose another file"
            )
        with contextlib.ExitStack() as opened:
            self._descriptor = _opened(path)
            opened.callback(os.close, self._descriptor)
            self.done = self.failed = 0
            self._done = _Ids(self._earlier())
            self._begun = _Ids(_begun_ids(path + BEGUN)) if resume else _Ids(())
            self._journal: int | None = None
            if journal:
                # nobody named it: a link there would be another's file
                self._journal = _opened(path + BEGUN, os.O_NOFOLLOW)
                opened.callback(os.close, self._journal)
            self._opened = opened.pop_all()

    def __enter__(self) -> "OutcomesFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.close()
        self._done.close()
        self._begun.close()

    def _earlier(self) -> Iterator[ItemId]:
        for id, ok in _lines_of(self.path, self._descriptor):
            self.done += 1
            self.failed += not ok
            yield id

    def is_done(self, id: ItemId) -> bool:
        """Whether the output has a line for an input already."""
        return self._done.has(id)

    def was_begun(self, id: ItemId) -> bool:
        """Whether an earlier run began this call and did not write what became of it."""
        return self._begun.has(id)

    def begin(self, item: Item) -> None:
        """Note that a call is about to begin; safe from several threads."""
        if self._journal is not None:
            _write(self._journal, _id_text(item.id) + "\n", self.path + BEGUN)

    def write(self, outcome: ItemOutcome) -> None:
        """Add the line of one outcome."""
        _write(self._descriptor, strict_json.compact_json(outcome.to_line()) + "\n", self.path)

    def finish(self) -> None:
        """Forget what was begun, once every input has its line."""
        if os.path.lexists(self.path + BEGUN):
            os.unlink(self.path + BEGUN)


class _Ids:
    """A set of ids on disk: a batch may have more than fit into memory."""

    def __init__(self, ids: Iterator[ItemId] | tuple[()]) -> None:
        self._database = sqlite3.connect("", check_same_thread=False)
        self._database.execute("CREATE TABLE ids (id TEXT PRIMARY KEY) WITHOUT ROWID")
        self._database.executemany(
            "INSERT OR IGNORE INTO ids VALUES (?)", ((_id_text(id),) for id in ids)
        )
        (self._count,) = self._database.execute("SELECT count(*) FROM ids").fetchone()

    def close(self) -> None:
        self._database.close()

    def has(self, id: ItemId) -> bool:
        if not self._count:
            return False
        return (
            self._database.execute("SELECT 1 FROM ids WHERE id = ?", (_id_text(id),)).fetchone()
            is not None
        )

    def add(self, id: ItemId) -> bool:
        """Add an id and return whether it is new."""
        return (
            self._database.execute("INSERT OR IGNORE INTO ids VALUES (?)", (_id_text(id),)).rowcount
            == 1
        )


def without_repeats(items: Iterator[Item]) -> Iterator[tuple[Item, bool]]:
    """Yield each item with whether its id came before."""
    with contextlib.closing(_Ids(())) as seen:
        for item in items:
            yield item, not seen.add(item.id)


def _id_text(id: ItemId) -> str:
    return json.dumps(id)


def _opened(path: str, more: int = 0) -> int:
    try:
        descriptor = os.open(path, _FLAGS | more, 0o644)
    except OSError as error:
        raise StorageError("write", path, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise Refused(
            f"another batch writes to {path}", hint="wait for it, or choose another file"
        ) from None
    return descriptor


def _write(descriptor: int, text: str, path: str) -> None:
    data = memoryview(text.encode("utf-8", "replace"))
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError as error:
        raise StorageError("write", path, error) from error


def _lines_of(path: str, descriptor: int) -> Iterator[tuple[ItemId, bool]]:
    """Yield the id of each line of an output and whether its call succeeded, and cut off a last
    line that was not written to its end.
    """
    with open(path, "rb") as file:
        for number, line, whole in _lines(file):
            if not whole:
                os.ftruncate(descriptor, number)
                return
            try:
                document = json.loads(line)
                yield document["id"], document["ok"]
            except (ValueError, TypeError, KeyError):
                reason = "is not a line of a batch's output"
                raise InvalidDocument(
                    reason,
                    path=path,
                    hint="choose another file: --resume only continues the output of a batch",
                ) from None


def _begun_ids(path: str) -> Iterator[ItemId]:
    if not os.path.lexists(path):
        return
    with open(path, "rb") as file:
        for _, line, whole in _lines(file):
            if whole:
                yield json.loads(line)


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Yield each line with its place in bytes, and whether it ends."""
    place = 0
    for line in file:
        yield place, line, line.endswith(b"\n")
        place += len(line)
