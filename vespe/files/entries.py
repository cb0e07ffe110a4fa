"""The entries of a tree, as git and a kit's archive name them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

FILE: Final = 0o100644
EXECUTABLE: Final = 0o100755
DIRECTORY: Final = 0o040000


class TreeEntry(NamedTuple):
    """One entry of a kit: its path in the kit (with `/`), its mode as git writes it, its size in
    bytes.

    `key` is what its reader knows it by: a blob's id, a member's name. A directory has size 0.
    """

    path: str
    mode: int
    size: int
    key: str = ""

    @property
    def executable(self) -> bool:
        """Whether its owner may execute it."""
        return self.mode == EXECUTABLE


Read: TypeAlias = Callable[[Sequence[TreeEntry]], Iterator[tuple[TreeEntry, bytes]]]
"""Gives the bytes of files, in the order asked for; raises where they are not what the listing
said.
"""
