"""What a kit's source looks like before its kits are known: a fetched commit or a folder, listed one level deep and tree by tree."""

import os
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import NotFound, Refused, StorageError
from vespe.git import objects
from vespe.git.repository import Session
from vespe.kits import kit_folders, trees
from vespe.kits import names as kit_names
from vespe.kits.trees import KitTree, TreeEntry


class Origin(Protocol):
    """One place that holds a kit, or kits as its direct subdirectories; "" stands for the place itself."""

    def directories(self) -> list[str]:
        """Give the names of the direct subdirectories that are safe to ask for."""

    def with_config(self, names: Sequence[str]) -> list[str]:
        """Give those of the directories that hold a kit_config.json."""

    def config(self, name: str) -> bytes:
        """Give the bytes of a directory's kit_config.json."""

    def tree(self, name: str, kit_id: str) -> KitTree:
        """List a directory as a kit, held to the rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOrigin:
    """A commit in a fetched repository, beneath `subdirectory`."""

    session: Session
    commit: str
    subdirectory: str = ""
    known: dict[str, tuple[TreeEntry, ...]] = field(default_factory=dict, compare=False)
    """What git was asked for already: the place's own entries at "", those of files at their paths."""

    def directories(self) -> list[str]:
        """Give the names of the direct subdirectories that are safe to ask for."""
        found = self._entries()
        return [entry.path for entry in found if entry.mode == trees.DIRECTORY and kit_names.unsafe(entry.path) is None]

    def with_config(self, names: Sequence[str]) -> list[str]:
        """Give those of the directories that hold a kit_config.json."""
        wanted = {os.path.join(name, defaults.KIT_CONFIG_FILE): name for name in names}
        return [wanted[entry.path] for entry in self._configs(wanted) if entry.path in wanted]

    def config(self, name: str) -> bytes:
        """Give the bytes of a directory's kit_config.json."""
        path = os.path.join(name, defaults.KIT_CONFIG_FILE)
        entries = [entry for entry in self._configs([path]) if entry.path == path]
        small = [e for e in entries if e.mode in (trees.FILE, trees.EXECUTABLE) and e.size <= defaults.MAX_FILE_BYTES]
        if not small:
            raise Refused(f"{self.session.what} holds {path!a}, which is no regular file, or larger than {defaults.MAX_FILE_BYTES} bytes")
        return next(data for _, data in objects.read_blobs(self.session, small))

    def tree(self, name: str, kit_id: str) -> KitTree:
        """List a directory as a kit, held to the rules."""
        checker = trees.Checker(f"{self.session.what} ({self.commit[:12]})")
        for entry in objects.list_tree(self.session, self._tree(name)):
            checker.take(entry)
        files = tuple(sorted(checker.files, key=lambda entry: entry.path))
        place = "/".join(part for part in (self.subdirectory, name) if part)
        return KitTree(kit_id=kit_id, subdirectory=place, entries=files, read=lambda wanted: objects.read_blobs(self.session, wanted))

    def _entries(self) -> tuple[TreeEntry, ...]:
        """What is directly in the place; git is asked once."""
        if "" not in self.known:
            try:
                self.known[""] = tuple(objects.list_tree(self.session, self._tree(""), recursive=False))
            except NotFound:
                raise NotFound(f"{self.session.what} has no directory {self.subdirectory!r} at {self.commit[:12]}") from None
        return self.known[""]

    def _configs(self, paths: Collection[str]) -> list[TreeEntry]:
        """The entries at some paths of kit_config.json; git is asked for those that are not known yet."""
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
        """Give the names of the direct subdirectories that are safe to ask for."""
        self._refuse_links()
        try:
            with os.scandir(self._place("")) as listing:
                found = sorted(entry.name for entry in listing if entry.is_dir(follow_symlinks=False))
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"there is no directory {self._place('')}") from None
        except OSError as error:
            raise StorageError("read", self._place(""), error) from error
        return [name for name in found if kit_names.unsafe(name) is None]

    def with_config(self, names: Sequence[str]) -> list[str]:
        """Give those of the directories that hold a kit_config.json."""
        return [name for name in names if os.path.lexists(os.path.join(self._place(name), defaults.KIT_CONFIG_FILE))]

    def config(self, name: str) -> bytes:
        """Give the bytes of a directory's kit_config.json."""
        path = os.path.join(self._place(name), defaults.KIT_CONFIG_FILE)
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Refused(f"{path} is no regular file", hint="nothing of it was installed")
        return strict_json.read_bytes(path)

    def tree(self, name: str, kit_id: str) -> KitTree:
        """List a directory as a kit, held to the rules."""
        place = "/".join(part for part in (self.subdirectory, name) if part)
        return kit_folders.folder_tree(self._place(name), kit_id, subdirectory=place)

    def _place(self, name: str) -> str:
        return os.path.join(self.path, *filter(None, (self.subdirectory, name)))

    def _refuse_links(self) -> None:
        """No link on the way to the subdirectory is followed, as git follows none."""
        place = self.path
        for name in filter(None, self.subdirectory.split("/")):
            place = os.path.join(place, name)
            if os.path.islink(place):
                raise Refused(f"{place} is a symbolic link, and none is followed", hint="nothing of it was installed")
