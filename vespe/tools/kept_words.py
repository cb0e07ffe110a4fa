"""The words that search finds the tools of one directory by, kept in the user's cache; losing them
costs time only.

They are read from each config.json whether it is valid or not: to judge 10,000 of them takes a
second, and a search judges only those that it shows. As long as a file has the stamp that it had
then it is not read again, and as long as it has the same bytes it is not parsed again, as with
verdicts (`validation_cache.py`).
"""

import marshal
import os
import threading
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument
from vespe.files.stamps import Stamp
from vespe.lazy import hashlib
from vespe.tools import catalog
from vespe.tools.kept_rows import KeptRows, youngest_kept_ns
from vespe.tools.search import words_of_config
from vespe.tools.validation_cache import code_digest

_FORMAT: Final = 1
_MANY: Final = 2_000
"""From so many files on a second process parses half of them."""


class Words(NamedTuple):
    """What search knows of a config.json: its digest, its tool's name (None where it cannot be
    read), its words as `words_of_config` gives them, and the stamp that it had, None for one that
    is too young to be kept.
    """

    digest: bytes
    name: str | None
    words: bytes
    stamp: Stamp


def words_in(directory: str, uids: Sequence[str]) -> dict[str, Words]:
    """Return the words of these tools of a directory, but of those whose config.json cannot be
    read.
    """
    kept = KeptRows("words", directory, [_FORMAT, defaults.VERSION, code_digest()])
    known = kept.load()
    rows = {
        uid: row
        for uid, found in (catalog.stamped_in(directory, uids, None) if known else ())
        if (row := known.get(uid)) is not None and found is not None and row[3] == found
    }
    missing = [uid for uid in uids if uid not in rows]
    rows.update(_read_by_two(directory, missing, known) if missing else {})
    if missing or len(rows) != len(known):
        young_ns = youngest_kept_ns()
        now = {
            uid: row if row[3] is None or row[3][4] < young_ns else (*row[:3], None)
            for uid, row in rows.items()
        }
        if now != known:
            kept.save(now)
    return {uid: Words(*row) for uid, row in rows.items()}


_Row = tuple[bytes, str | None, bytes, Stamp]


def _read_by_two(directory: str, uids: Sequence[str], known: dict[str, _Row]) -> dict[str, _Row]:
    """Read config.json files, very many of them with the help of a second process."""
    if len(uids) < _MANY or threading.active_count() > 1 or _processors() < 2:
        return _read(directory, uids, known)
    half = len(uids) // 2
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(target, directory, uids[half:], known)
    os.close(target)
    try:
        rows = _read(directory, uids[:half], known)
        with open(source, "rb") as answer:
            told = answer.read()
    finally:
        _, status = os.waitpid(child, 0)
    answered = status == 0 and told
    rows.update(marshal.loads(told) if answered else _read(directory, uids[half:], known))
    return rows


def _answer(target: int, directory: str, uids: Sequence[str], known: dict[str, _Row]) -> None:
    """Be the second process: tell the rows and end, without anything of the first."""
    code = 1
    try:
        with open(target, "wb") as told:
            told.write(marshal.dumps(_read(directory, uids, known)))
        code = 0
    finally:
        os._exit(code)


def _read(directory: str, uids: Iterable[str], known: dict[str, _Row]) -> dict[str, _Row]:
    rows = {}
    for uid in uids:
        config, stamp = catalog.read_stamped(f"{directory}/{uid}/{defaults.CONFIG_FILE}")
        if config is None:
            continue
        digest = hashlib.sha256(config).digest()
        row = known.get(uid)
        if row is not None and row[0] == digest:
            rows[uid] = (*row[:3], stamp)
        else:
            rows[uid] = (digest, *_parsed(config), stamp)
    return rows


def _parsed(config: bytes) -> tuple[str | None, bytes]:
    try:
        document = strict_json.parse_object(config)
    except InvalidDocument:
        return None, b""
    name = document.get("name")
    return (name, words_of_config(document)) if isinstance(name, str) else (None, b"")


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1
