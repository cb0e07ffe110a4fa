"""A kit as one file: a ZIP of stored entries in one form, so that the same content has the same
bytes; any other form is refused.
"""

import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, NotFound, Refused, StorageError
from vespe.files import atomic, digests, entries
from vespe.files.digests import File
from vespe.files.entries import EXECUTABLE, TreeEntry
from vespe.kits import entry_rules, origins, roots
from vespe.kits.entry_rules import KitTree
from vespe.records import dataclass

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_END: Final = struct.Struct("<4s4H2LH")
_SIGNATURES: Final = (b"PK\3\4", b"PK\1\2", b"PK\5\6")
_FORM: Final = (20, 0x0800, 0, 0, 0x0021)
"""Version 2.0, names in UTF-8, stored, midnight of 1980-01-01: nothing that a machine, a user or a
library could choose.
"""
_MADE_BY: Final = 3 << 8 | 20
_MAX_NAME: Final = 1000
_MAX_BYTES: Final = (
    entry_rules.MAX_TOTAL_BYTES
    + entry_rules.MAX_ENTRIES * (_LOCAL.size + _CENTRAL.size + 2 * _MAX_NAME)
    + _END.size
)
_WRITTEN: Final = "is not a kit archive as written by `vespe kit pack`"


@dataclass(frozen=True, slots=True)
class _Member:
    """One file of an archive: its name, its mode as git writes it, size, CRC-32 and the offset of
    its header.
    """

    name: bytes
    mode: int
    size: int
    crc: int
    offset: int

    def local(self) -> bytes:
        return (
            _LOCAL.pack(_SIGNATURES[0], *_FORM, self.crc, self.size, self.size, len(self.name), 0)
            + self.name
        )

    def central(self) -> bytes:
        sizes = (self.crc, self.size, self.size, len(self.name), 0, 0, 0, 0)
        return (
            _CENTRAL.pack(_SIGNATURES[1], _MADE_BY, *_FORM, *sizes, self.mode << 16, self.offset)
            + self.name
        )


def pack(tree: KitTree) -> bytes:
    """Return the archive of a kit: a function of its files' paths, bytes and executable bits
    alone.
    """
    pieces: list[bytes] = []
    members: list[_Member] = []
    offset = 0
    for entry, data in tree.read(sorted(tree.entries, key=lambda entry: entry.path.encode())):
        if len(data) != entry.size:
            raise InvalidDocument("was changed while it was read", path=entry.path)
        members.append(
            _Member(entry.path.encode(), entry.mode, len(data), zlib.crc32(data), offset)
        )
        pieces += (members[-1].local(), data)
        offset += _LOCAL.size + len(members[-1].name) + len(data)
    return b"".join([*pieces, *_tail(members, offset)])


def archive_tree(path: str) -> KitTree:
    """List an archive as a kit; raises InvalidDocument for what is none, Refused, which names the
    entry, and StorageError.

    Contents are read, and compared with their checksums, when they are asked for.
    """
    with _Archive(path) as archive:
        members = archive.members()
        checker = entry_rules.Checker(path)
        for entry in _entries(members):
            checker.take(entry)
        kit_id = _kit_id(archive, members, path)
    known = {member.name.decode(): member for member in members}

    def read(wanted: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
        with _Archive(path) as again:
            for entry in wanted:
                yield entry, again.contents(known[entry.path])

    return KitTree(
        kit_id=kit_id,
        subdirectory="",
        entries=tuple(sorted(checker.files, key=lambda entry: entry.path)),
        read=read,
    )


def _tail(members: Sequence[_Member], offset: int) -> Iterator[bytes]:
    central = b"".join(member.central() for member in members)
    yield central
    yield _END.pack(_SIGNATURES[2], 0, 0, len(members), len(members), len(central), offset, 0)


def _entries(members: Sequence[_Member]) -> Iterator[TreeEntry]:
    """The members as entries of a tree, each directory before what is in it."""
    made: set[str] = {""}
    for member in members:
        path = member.name.decode()
        parts = path.split("/")
        for depth in range(1, len(parts)):
            if (directory := "/".join(parts[:depth])) not in made:
                made.add(directory)
                yield TreeEntry(path=directory, mode=entries.DIRECTORY, size=0)
        yield TreeEntry(path=path, mode=member.mode, size=member.size)


def _kit_id(archive: "_Archive", members: Sequence[_Member], path: str) -> str:
    config = next(
        (member for member in members if member.name == defaults.KIT_CONFIG_FILE.encode()), None
    )
    if config is None:
        raise InvalidDocument(
            f"contains no {defaults.KIT_CONFIG_FILE}, so it is not a kit", path=path
        )
    kit_id = strict_json.parse_object(
        archive.contents(config), path=f"{path}/{defaults.KIT_CONFIG_FILE}"
    ).get("kit_id")
    if not isinstance(kit_id, str):
        raise InvalidDocument(
            "names no `kit_id`", path=f"{path}/{defaults.KIT_CONFIG_FILE}", pointer="/kit_id"
        )
    return kit_id


class _Archive:
    """An open archive, read within bounds: every byte of it is accounted for."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> "_Archive":
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise StorageError("read", self._path, error) from error
        status = os.fstat(self._descriptor)
        self._size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            os.close(self._descriptor)
            raise InvalidDocument("is not a regular file", path=self._path)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def members(self) -> list[_Member]:
        """Return the members in order; whatever is not exactly as `pack` writes it is refused."""
        if self._size > _MAX_BYTES:
            raise Refused(
                f"{self._path} has {self._size} bytes, more than any kit",
                hint="nothing of it was installed",
            )
        end = self._read(self._size - _END.size, _END.size) if self._size >= _END.size else b""
        if not end.startswith(_SIGNATURES[2]):
            raise self._wrong("its end is missing")
        _, _, _, _, count, size, offset, _ = _END.unpack(end)
        if count > entry_rules.MAX_ENTRIES:
            raise Refused(
                f"{self._path} has more than {entry_rules.MAX_ENTRIES} files",
                hint="nothing of it was installed",
            )
        if offset + size + _END.size != self._size:
            raise self._wrong("it has extra bytes, or some are missing")
        central = self._read(offset, size)
        found = list(self._listed(central, count))
        if b"".join(_tail(found, offset)) != central + end:
            raise self._wrong("its directory contains unexpected fields")
        return found

    def contents(self, member: _Member) -> bytes:
        """Return a member's bytes; raises InvalidDocument where they do not fit its checksum."""
        header = member.local()
        data = self._read(member.offset, len(header) + member.size)
        if not data.startswith(header) or zlib.crc32(data[len(header) :]) != member.crc:
            raise self._wrong(f"{member.name.decode()!a} is damaged")
        return data[len(header) :]

    def _listed(self, central: bytes, count: int) -> Iterator[_Member]:
        at, offset, before = 0, 0, b""
        for _ in range(count):
            if len(central) - at < _CENTRAL.size:
                raise self._wrong("its directory is truncated")
            row = _CENTRAL.unpack_from(central, at)
            name = central[at + _CENTRAL.size : at + _CENTRAL.size + row[10]]
            member = _Member(name, row[15] >> 16, row[9], row[7], offset)
            try:
                name.decode("utf-8")
            except UnicodeDecodeError:
                raise self._wrong("a name in it is no UTF-8") from None
            if member.mode == entries.DIRECTORY:
                raise self._wrong("it contains directory entries")
            if name <= before:
                raise self._wrong(f"{name.decode()!a} is contained twice, or out of order")
            yield member
            at, before = at + _CENTRAL.size + len(name), name
            offset += _LOCAL.size + len(name) + member.size

    def _read(self, offset: int, size: int) -> bytes:
        try:
            data = os.pread(self._descriptor, size, offset) if size else b""
        except OSError as error:
            raise StorageError("read", self._path, error) from error
        if len(data) != size:
            raise self._wrong("it is truncated")
        return data

    def _wrong(self, why: str) -> InvalidDocument:
        return InvalidDocument(f"{_WRITTEN}: {why}", path=self._path)


SUFFIX = ".kit"


_HEAD_BYTES: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An archive that was written: `digest` is that of the kit's content, as a lock has it; `size`
    is the archive's, in bytes; `heads` are the beginnings of its files, by path.
    """

    kit_id: str
    path: str
    files: int
    heads: Mapping[str, bytes]
    size: int
    digest: str


def pack_kit(which: str, target: str | None = None) -> Packed:
    """Write the kit in the directory `which`, or of that id, into `target` (default: `<kit_id>.kit`
    in the working directory).

    All files of the directory are in it but `.git`, byte code and other archives. Raises
    KitNotFound, NotFound, InvalidDocument for a broken kit, Refused for an entry that could not be
    installed, StorageError.
    """
    directory = kit_directory(which)
    config = os.path.join(directory, defaults.KIT_CONFIG_FILE)
    document = strict_json.read_object(config)
    kit_id = document.get("kit_id")
    if not isinstance(kit_id, str):
        raise InvalidDocument("names no `kit_id`", path=config, pointer="/kit_id")
    if problem := roots.config_problem(document, kit_id):
        raise InvalidDocument(problem.reason, path=config, pointer=problem.pointer)
    try:
        archives = {name for name in os.listdir(directory) if name.endswith(SUFFIX)}
    except OSError as error:
        raise StorageError("read", directory, error) from error
    tree = origins.folder_tree(directory, kit_id, left_out={".git", *archives})
    data = pack(tree)
    path = os.path.abspath(target or f"{kit_id}{SUFFIX}")
    atomic.write_atomic(path, data)
    packed, heads = {}, {}
    for entry, contents in archive_tree(path).read(tree.entries):
        heads[entry.path] = contents[:_HEAD_BYTES]
        packed[entry.path] = File(
            executable=entry.mode == EXECUTABLE, sha256=hashlib.sha256(contents).hexdigest()
        )
    return Packed(
        kit_id=kit_id,
        path=path,
        files=len(packed),
        heads=heads,
        size=len(data),
        digest=digests.digest_of(packed),
    )


def kit_directory(which: str) -> str:
    """Return the directory of the kit that is there, or has that id; raises KitNotFound,
    NotFound.
    """
    if os.sep not in which and not which.startswith(".") and not os.path.isdir(which):
        return roots.find_kit(which).path
    if not os.path.lexists(os.path.join(which, defaults.KIT_CONFIG_FILE)):
        raise NotFound(
            f"{which} is not a kit: it has no {defaults.KIT_CONFIG_FILE}",
            hint="name a kit's directory, or its id",
        )
    return os.path.realpath(which)
