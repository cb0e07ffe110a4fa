"""The tools of one scope as an immutable mapping from uid to entry; scanning builds it, and one
name is found without it.
"""

import functools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import replace
from typing import Final, cast

from vespe import defaults
from vespe.errors import StorageError
from vespe.files.digests import sha256
from vespe.files.stamps import Stamp, stamp, stamp_of
from vespe.models import Entry
from vespe.tools import directory as tool_directory
from vespe.tools import name_index
from vespe.tools.directory import Judged, Verdict
from vespe.tools.names import UID_PATTERN
from vespe.tools.validation_cache import Verdicts

_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_REGULAR: Final = 0o100000
_FORMAT: Final = 0o170000
_PREFIX: Final = "tool-"
_PEEK: Final = 64 * 1024
_NOT_LOOKED_AT: Final = (None, None)


class Catalog(Mapping[str, Entry]):
    """The tools of one scope by uid, in the order of their names and uids; those whose name is not
    known come last.

    Iterating gives uids; `catalog[uid]` is what a listing shows, where tools that share a name are
    broken.
    """

    __slots__ = ("_by_name", "_entries", "_found")

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        ordered = sorted(
            entries.values(), key=lambda entry: (entry.name is None, entry.name or "", entry.uid)
        )
        self._found = {entry.uid: entry for entry in ordered}
        self._by_name: dict[str, list[Entry]] = {}
        for entry in ordered:
            if entry.name is not None:
                self._by_name.setdefault(entry.name, []).append(entry)
        twins = (
            twin for same in self._by_name.values() if len(same) > 1 for twin in _told_apart(same)
        )
        self._entries = self._found | {twin.uid: twin for twin in twins}

    def __getitem__(self, uid: str) -> Entry:
        return self._entries[uid]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> ValuesView[Entry]:
        """Return the entries in order."""
        return self._entries.values()

    def __repr__(self) -> str:
        return f"<Catalog of {len(self)} tools, {len(self.problems)} of them broken>"

    def named(self, name: str) -> tuple[Entry, ...]:
        """Return the tools of that name as each one's directory says: several where they share it,
        () where none has it.
        """
        return tuple(self._by_name.get(name, ()))

    def lookup(self, wanted: str) -> tuple[Entry, ...]:
        """Return the tool whose uid is `wanted`, else those of that name: what `find` gives, from
        memory.
        """
        return (self._found[wanted],) if wanted in self._found else self.named(wanted)

    @property
    def found(self) -> Mapping[str, Entry]:
        """The tools as each one's directory says, by uid: one that shares its name with another is
        not broken here.
        """
        return self._found

    @property
    def problems(self) -> tuple[Entry, ...]:
        """The broken ones, in order."""
        return tuple(entry for entry in self._entries.values() if entry.problem is not None)


def scan(
    directory: str | os.PathLike[str],
    *,
    scope: str,
    kit_id: str | None,
    digests: dict[str, str] | None = None,
    judged: dict[str, Judged] | None = None,
    looked: Mapping[str, tuple[Stamp, Stamp]] | None = None,
) -> Catalog:
    """Read every tool in `directory`: each directory with a config.json, and each whose name begins
    as a uid does.

    Names that begin with a dot (what is being made) and stray files are ignored. One odd tool never
    hides, blocks or fails the others: its entry says what is wrong with it. A directory that does
    not exist holds no tools; one that cannot be read raises StorageError. What validation said is
    kept by the digest and the stamp of each config.json; `digests` is given the digests, by uid,
    and `judged` what was judged, so that a tool can be loaded without reading its files again.
    `looked` has the stamps of tools whose directory and config.json were looked at just now.
    """
    return Catalog(
        scan_entries(
            directory, scope=scope, kit_id=kit_id, digests=digests, judged=judged, looked=looked
        )
    )


def scan_entries(
    directory: str | os.PathLike[str],
    *,
    scope: str,
    kit_id: str | None,
    digests: dict[str, str] | None = None,
    judged: dict[str, Judged] | None = None,
    looked: Mapping[str, tuple[Stamp, Stamp]] | None = None,
) -> dict[str, Entry]:
    """Read every tool as `scan` does; return the entries as each tool's directory says, by uid, in
    no order.
    """
    where = os.fspath(directory)
    verdicts = Verdicts(where, kit_id=kit_id)
    read = _Reader(where, scope, kit_id, verdicts.of)
    directories, links = list_tools(where)
    entries: dict[str, Entry | None] = {}
    # whoever takes what was judged needs the bytes, and reading them tells the stamp, too
    stamped = (
        stamped_in(where, directories, looked)
        if judged is None
        else ((uid, None) for uid in directories)
    )
    for uid, found in stamped:
        if (known := verdicts.standing(uid, found)) is not None:
            entries[uid] = read.judged(uid, known)
            continue
        config, found = read_stamped(f"{where}/{uid}/{defaults.CONFIG_FILE}")
        if config is None:
            entries[uid] = read.entry(uid, None)
            continue
        entries[uid] = read.judged(uid, verdicts.of(uid, config, found))
        if judged is not None:
            judged[uid] = Judged(config, verdicts.limits)
    entries.update((uid, read.entry(uid, None)) for uid in links)
    if verdicts.save():
        name_index.forget(where)
    if digests is not None:
        digests.update(verdicts.digests)
    if any(entry is None for entry in entries.values()):
        return {uid: entry for uid, entry in entries.items() if entry is not None}
    return cast(dict[str, Entry], entries)  # a copy of 100,000 would take 5 MB


def read_one(
    directory: str, uid: str, *, scope: str, kit_id: str | None
) -> tuple[Entry | None, str]:
    """Return what `scan` would make of one name in `directory`, and the digest of its config.json;
    (None, "") for what is no tool.
    """
    path = f"{directory}/{uid}"
    if uid.startswith(".") or not (
        os.path.isdir(path) if not os.path.islink(path) else uid.startswith(_PREFIX)
    ):
        return None, ""
    limits = None if kit_id is None else tool_directory.limits_above(directory)
    read = _Reader(
        directory,
        scope,
        kit_id,
        lambda uid, config: tool_directory.verdict(config, uid=uid, kit_id=kit_id, limits=limits),
    )
    config = _config_of(directory, uid)
    return read.entry(uid, config), "" if config is None else sha256(config).hexdigest()


def find(
    directory: str | os.PathLike[str],
    wanted: str,
    *,
    scope: str,
    kit_id: str | None,
    beside: Iterable[str] = (),
) -> tuple[Entry, ...]:
    """Return the tool of `directory` whose uid is `wanted`, else those of that name, in the order
    of their uids.

    A uid goes straight to its directory. So does a name where `name_index` knows it; else every
    config.json is read, but only one that can hold the name is parsed. `beside` names directories
    that are read whatever the index says, since they may have changed in their place. Raises
    StorageError as `scan` does.
    """
    where = os.fspath(directory)
    # asked for what is found alone
    limits = functools.cache(lambda: None if kit_id is None else tool_directory.limits_above(where))
    read = _Reader(
        where,
        scope,
        kit_id,
        lambda uid, config: tool_directory.verdict(config, uid=uid, kit_id=kit_id, limits=limits()),
    )
    if UID_PATTERN.fullmatch(wanted) and _is_directory_or_link(f"{where}/{wanted}"):
        entry = read.entry(wanted, _config_of(where, wanted))
        return () if entry is None else (entry,)
    hinted = name_index.holders(
        where, wanted, listed=lambda: list_tools(where)[0], named=lambda uid: _name_in(where, uid)
    )
    near = None if hinted is None else sorted({*hinted, *beside})
    for uids in (near, None):
        entries = (
            read.entry(uid, _config_of(where, uid)) for uid in _that_can_hold(wanted, where, uids)
        )
        if found := tuple(entry for entry in entries if entry is not None and entry.name == wanted):
            break
    if uids is None and found and hinted is not None:
        # a config.json was changed in its place: the index does not know its name
        name_index.forget(where)
    return found


def find_to_change(
    directory: str, wanted: str, *, scope: str, kit_id: str | None
) -> tuple[Entry, ...]:
    """Return what `find` does, for who edits or deletes a tool; where none has the name, the one
    whose directory has it and whose own name cannot be read.
    """
    found = find(directory, wanted, scope=scope, kit_id=kit_id)
    if found:
        return found
    named = find(directory, f"{_PREFIX}{wanted.lower()}", scope=scope, kit_id=kit_id)
    return tuple(entry for entry in named if entry.name is None)


def why_unlistable(directory: str) -> str | None:
    """Say why no tool of `directory` can be listed; None where they can be, or where there is no
    such directory.
    """
    try:
        os.scandir(directory).close()
    except FileNotFoundError:
        return None
    except OSError as error:
        return error.strerror
    return None


def read_config(path: str) -> bytes | None:
    """Read an ordinary file in four calls of the system; None for anything else, which is for
    `tooldir` to name.
    """
    return read_stamped(path)[0]


def read_stamped(path: str) -> tuple[bytes | None, Stamp]:
    """Read an ordinary file, as `read_config` does, with the stamp that it had before."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return None, None
    try:
        status = os.fstat(descriptor)
        if status.st_mode & _FORMAT != _REGULAR or status.st_size > defaults.MAX_FILE_BYTES:
            return None, None
        data = os.read(descriptor, status.st_size + 1)
    except OSError:
        return None, None
    finally:
        os.close(descriptor)
    return (data, stamp_of(status)) if len(data) == status.st_size else (None, None)


class _Reader:
    """Makes the entries of one directory; `judge` says what the bytes of a config.json mean."""

    __slots__ = ("_directory", "_judge", "_kit_id", "_scope")

    def __init__(
        self, directory: str, scope: str, kit_id: str | None, judge: Callable[[str, bytes], Verdict]
    ) -> None:
        self._directory, self._scope, self._kit_id, self._judge = directory, scope, kit_id, judge

    def entry(self, uid: str, config: bytes | None) -> Entry | None:
        """Return the entry of a tool directory; None for a directory that is no tool's."""
        path = f"{self._directory}/{uid}"
        if config is None:
            is_tool = uid.startswith(_PREFIX) or os.path.lexists(f"{path}/{defaults.CONFIG_FILE}")
            return (
                tool_directory.read_entry(path, scope=self._scope, kit_id=self._kit_id)
                if is_tool
                else None
            )
        return self.judged(uid, self._judge(uid, config))

    def judged(self, uid: str, verdict: Verdict) -> Entry:
        """Return the entry of a tool directory whose config.json was judged."""
        path = f"{self._directory}/{uid}"
        name, description, kind, problem, script = verdict
        if script is not None and problem is None:
            problem = tool_directory.script_problem(path, script, kind=kind)
        return Entry(
            uid=uid,
            name=name,
            scope=self._scope,
            kit_id=self._kit_id,
            type=kind,
            description=description,
            path=path,
            problem=problem,
        )


def _is_directory_or_link(path: str) -> bool:
    return os.path.isdir(path) or os.path.islink(path)


def _config_of(directory: str, uid: str) -> bytes | None:
    path = f"{directory}/{uid}"
    return None if os.path.islink(path) else read_config(f"{path}/{defaults.CONFIG_FILE}")


def list_tools(directory: str) -> tuple[list[str], list[str]]:
    """Name, sorted, the directories that may be tools, and the links that pose as one and so are
    broken.
    """
    directories, links = [], []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    directories.append(entry.name)
                elif entry.is_symlink() and entry.name.startswith(_PREFIX):
                    links.append(entry.name)
    except FileNotFoundError:
        return [], []
    except OSError as error:
        raise StorageError("read", directory, error) from error
    return sorted(directories), sorted(links)


def stamped_in(
    directory: str, uids: Sequence[str], looked: Mapping[str, tuple[Stamp, Stamp]] | None
) -> Iterator[tuple[str, Stamp]]:
    """Yield each tool directory with the stamp of its config.json, which is looked at before it is
    read.
    """
    if looked is not None:
        for uid in uids:
            yield uid, looked.get(uid, _NOT_LOOKED_AT)[1]
        return
    for uid in uids:
        yield uid, stamp(f"{directory}/{uid}/{defaults.CONFIG_FILE}", follow=False)


def _name_in(directory: str, uid: str) -> str | None:
    try:
        found = json.loads(_config_of(directory, uid) or b"{}").get("name")
    except (ValueError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, str) else None


def _that_can_hold(name: str, directory: str, uids: Sequence[str] | None) -> Iterator[str]:
    """Name the tool directories (`uids`, or all) whose config.json can hold the name: as it stands,
    or behind one of JSON's escapes.
    """
    needle = name.encode("utf-8", "surrogatepass")
    escape = b"\\u" if name.replace("_", "").replace("-", "").isalnum() else b"\\"
    for uid in list_tools(directory)[0] if uids is None else uids:
        try:
            descriptor = os.open(f"{directory}/{uid}/{defaults.CONFIG_FILE}", _FLAGS)
        except OSError:
            continue
        try:
            config = os.read(descriptor, _PEEK)
        except OSError:
            continue
        finally:
            os.close(descriptor)
        # One byte is found ten times as fast as two, and few files hold a backslash at all.
        if needle in config or (b"\\" in config and escape in config) or len(config) == _PEEK:
            yield uid


def _told_apart(same: list[Entry]) -> Iterator[Entry]:
    for entry in same:
        other = same[1] if entry is same[0] else same[0]
        more = (
            f" and {len(same) - 2} more (`vespe tool resolve {entry.name}` shows all)"
            if len(same) > 2
            else ""
        )
        shared = f"shares its name with {other.uid}{more}"
        yield replace(entry, problem=f"{entry.problem}; {shared}" if entry.problem else shared)
