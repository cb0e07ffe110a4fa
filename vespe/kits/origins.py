"""What a kit's source looks like before its kits are known: a fetched commit or a folder, listed
one level deep and tree by tree.
"""

import contextlib
import errno
import itertools
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from typing import Final, Protocol

from vespe import defaults
from vespe.errors import NotFound, Refused, StorageError
from vespe.files import atomic
from vespe.files import entries as file_entries
from vespe.files.entries import TreeEntry
from vespe.git import objects
from vespe.git.session import Session
from vespe.kits import entry_rules
from vespe.kits import names as kit_names
from vespe.kits.entry_rules import KitTree
from vespe.records import dataclass


class Origin(Protocol):
    """One place that holds a kit, or kits as its direct subdirectories; "" stands for the place
    itself.
    """

    def directories(self) -> list[str]:
        """Return the names of the direct subdirectories that are safe to ask for."""

    def with_config(self, names: Sequence[str]) -> list[str]:
        """Return those of the directories that hold a kit_config.json."""

    def config(self, name: str) -> bytes:
        """Return the bytes of a directory's kit_config.json."""

    def tree(self, name: str, kit_id: str) -> KitTree:
        """List a directory as a kit, held to the rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOrigin:
    """A commit in a fetched repository, beneath `subdirectory`."""

    session: Session
    commit: str
    subdirectory: str = ""
    known: dict[str, tuple[TreeEntry, ...]] = field(default_factory=dict, compare=False)
    """What git was asked for already: the place's own entries at "", those of files at their
    paths.
    """

    def directories(self) -> list[str]:
        """Return the names of the direct subdirectories that are safe to ask for."""
        found = self._entries()
        return [
            entry.path
            for entry in found
            if entry.mode == file_entries.DIRECTORY and kit_names.unsafe(entry.path) is None
        ]

    def with_config(self, names: Sequence[str]) -> list[str]:
        """Return those of the directories that hold a kit_config.json."""
        wanted = {os.path.join(name, defaults.KIT_CONFIG_FILE): name for name in names}
        return [wanted[entry.path] for entry in self._configs(wanted) if entry.path in wanted]

    def config(self, name: str) -> bytes:
        """Return the bytes of a directory's kit_config.json."""
        path = os.path.join(name, defaults.KIT_CONFIG_FILE)
        entries = [entry for entry in self._configs([path]) if entry.path == path]
        small = [
            e
            for e in entries
            if e.mode in (file_entries.FILE, file_entries.EXECUTABLE)
            and e.size <= defaults.MAX_FILE_BYTES
        ]
        if not small:
            raise Refused(
                f"{self.session.what} holds {path!a}, which is not a regular file, "
                f"or larger than {defaults.MAX_FILE_BYTES} bytes"
            )
        return next(data for _, data in objects.read_blobs(self.session, small))

    def tree(self, name: str, kit_id: str) -> KitTree:
        """List a directory as a kit, held to the rules."""
        checker = entry_rules.Checker(f"{self.session.what} ({self.commit[:12]})")
        for entry in objects.list_tree(self.session, self._tree(name)):
            checker.take(entry)
        files = tuple(sorted(checker.files, key=lambda entry: entry.path))
        place = "/".join(part for part in (self.subdirectory, name) if part)
        return KitTree(
            kit_id=kit_id,
            subdirectory=place,
            entries=files,
            read=lambda wanted: objects.read_blobs(self.session, wanted),
        )

    def _entries(self) -> tuple[TreeEntry, ...]:
        """What is directly in the place; git is asked once."""
        if "" not in self.known:
            try:
                self.known[""] = tuple(
                    objects.list_tree(self.session, self._tree(""), recursive=False)
                )
            except NotFound:
                raise NotFound(
                    f"{self.session.what} has no directory {self.subdirectory!r} at "
                    f"{self.commit[:12]}"
                ) from None
        return self.known[""]

    def _configs(self, paths: Collection[str]) -> list[TreeEntry]:
        """The entries at some paths of kit_config.json; git is asked for those that are not known
        yet.
        """
        if set(paths) <= {defaults.KIT_CONFIG_FILE}:
            return [entry for entry in self._entries() if entry.path in paths]
        if unknown := [path for path in paths if path not in self.known]:
            self.known.update(dict.fromkeys(unknown, ()))
            for entry in objects.list_tree(self.session, self._tree(""), *unknown, recursive=False):
                self.known[entry.path] = (entry,)
        return [entry for path in paths for entry in self.known[path]]

    def _tree(self, name: str) -> str:
        return f"{self.commit}:{'/'.join(part for part in (self.subdirectory, name) if part)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOrigin:
    """A plain folder at `path`, beneath `subdirectory`."""

    path: str
    subdirectory: str = ""

    def directories(self) -> list[str]:
        """Return the names of the direct subdirectories that are safe to ask for."""
        self._refuse_links()
        try:
            with os.scandir(self._place("")) as listing:
                found = sorted(
                    entry.name for entry in listing if entry.is_dir(follow_symlinks=False)
                )
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"there is no directory {self._place('')}") from None
        except OSError as error:
            raise StorageError("read", self._place(""), error) from error
        return [name for name in found if kit_names.unsafe(name) is None]

    def with_config(self, names: Sequence[str]) -> list[str]:
        """Return those of the directories that hold a kit_config.json."""
        return [
            name
            for name in names
            if os.path.lexists(os.path.join(self._place(name), defaults.KIT_CONFIG_FILE))
        ]

    def config(self, name: str) -> bytes:
        """Return the bytes of a directory's kit_config.json."""
        path = os.path.join(self._place(name), defaults.KIT_CONFIG_FILE)
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Refused(f"{path} is not a regular file", hint="nothing of it was installed")
        return atomic.read_bytes(path)

    def tree(self, name: str, kit_id: str) -> KitTree:
        """List a directory as a kit, held to the rules."""
        place = "/".join(part for part in (self.subdirectory, name) if part)
        return folder_tree(self._place(name), kit_id, subdirectory=place)

    def _place(self, name: str) -> str:
        return os.path.join(self.path, *filter(None, (self.subdirectory, name)))

    def _refuse_links(self) -> None:
        """No link on the way to the subdirectory is followed, as git follows none."""
        place = self.path
        for name in filter(None, self.subdirectory.split("/")):
            place = os.path.join(place, name)
            if os.path.islink(place):
                raise Refused(
                    f"{place} is a symbolic link, and none is followed",
                    hint="nothing of it was installed",
                )


_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LEFT_OUT: Final = ("__pycache__",)
"""What running a tool there may have made."""


def folder_tree(
    directory: str, kit_id: str, *, subdirectory: str = "", left_out: Collection[str] = ()
) -> KitTree:
    """List a folder as a kit, but for what is called as `left_out` says; contents are read when
    they are asked for.

    Raises Refused, which names the entry, and StorageError.
    """
    checker = entry_rules.Checker(directory)
    with _opened(directory) as descriptor:
        for entry in _entries(descriptor, "", frozenset(left_out)):
            checker.take(entry)
    files = tuple(sorted(checker.files, key=lambda entry: entry.path))
    return KitTree(
        kit_id=kit_id,
        subdirectory=subdirectory,
        entries=files,
        read=lambda wanted: _read(directory, wanted),
    )


@contextlib.contextmanager
def _opened(directory: str) -> Iterator[int]:
    try:
        descriptor = os.open(directory, _DIRECTORY)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise Refused(
                f"{directory} is a symbolic link or no directory, so no kit is installed from it"
            ) from None
        raise StorageError("read", directory, error) from error
    try:
        yield descriptor
    except OSError as error:
        raise (
            error
            if isinstance(error, (Refused, StorageError))
            else StorageError("read", directory, error)
        ) from error
    finally:
        os.close(descriptor)


def _entries(descriptor: int, prefix: str, left_out: frozenset[str]) -> Iterator[TreeEntry]:
    with os.scandir(descriptor) as listing:
        names = (
            entry.name
            for entry in listing
            if entry.name not in _LEFT_OUT and entry.name not in left_out
        )
        found = list(itertools.islice(names, entry_rules.MAX_ENTRIES + 1))
    for name in sorted(found):
        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        mode = _mode(status.st_mode)
        yield TreeEntry(
            path=prefix + name,
            mode=mode,
            size=status.st_size if stat.S_ISREG(status.st_mode) else 0,
        )
        if mode == file_entries.DIRECTORY:
            deeper = os.open(name, _DIRECTORY, dir_fd=descriptor)
            try:
                yield from _entries(deeper, f"{prefix}{name}/", left_out)
            finally:
                os.close(deeper)


def _mode(mode: int) -> int:
    """The mode as git writes it; what git has none for stays what it is, and is refused as such."""
    if stat.S_ISREG(mode):
        return file_entries.EXECUTABLE if mode & stat.S_IXUSR else file_entries.FILE
    return file_entries.DIRECTORY if stat.S_ISDIR(mode) else stat.S_IFMT(mode)


def _read(directory: str, wanted: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
    with _opened(directory) as root:
        for entry in wanted:
            yield entry, _contents(root, entry, directory)


def _contents(root: int, entry: TreeEntry, directory: str) -> bytes:
    """Read one file, opening one directory after the other, so that no link that came since is
    followed.
    """
    *above, name = entry.path.split("/")
    place = os.dup(root)
    try:
        for part in above:
            deeper = os.open(part, _DIRECTORY, dir_fd=place)
            os.close(place)
            place = deeper
        descriptor = os.open(name, _FILE, dir_fd=place)
    except OSError as error:
        raise StorageError("read", os.path.join(directory, entry.path), error) from error
    finally:
        os.close(place)
    with open(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused(f"{os.path.join(directory, entry.path)} is not a regular file any more")
        return stream.read(entry.size + 1)
