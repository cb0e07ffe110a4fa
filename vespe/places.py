"""Which directory it is, however it is called: the identity that an approval of a place is bound to."""

import fcntl
import os
import sys
from dataclasses import dataclass
from typing import Final

from vespe.file_walk import open_beneath

_FS_IOC_GETVERSION: Final = 0x80087601


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which directory it is, however it is called: strong where its inode also tells its generation or its birth.

    Inode numbers come back within a second on ext4: a directory that is deleted and cloned again at the same path has the same
    device and inode. Its generation (Linux: ext4, XFS, btrfs, F2FS) or its time of birth (macOS) differs. Elsewhere (tmpfs,
    overlay, network) the device and the path must match too, and a reused inode number is the residual risk.
    """

    path: str
    inode: int
    device: int
    generation: int | None = None
    birth_ns: int | None = None

    @property
    def name(self) -> str:
        """The stem of the record's file name."""
        if self.generation is not None:
            return f"{self.inode:x}-g{self.generation:x}"
        return f"{self.inode:x}-d{self.device:x}" + (f"-b{self.birth_ns:x}" if self.birth_ns is not None else "")

    @property
    def strong(self) -> bool:
        """Whether the identity holds without the path."""
        return self.generation is not None or self.birth_ns is not None


def place_of(root: str, *names: str) -> Place | None:
    """Identify the directory at `names` beneath `root`, following no link on the way; None where there is none."""
    try:
        descriptor = open_beneath(root, *names)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        birth = getattr(status, "st_birthtime", None)
        return Place(
            path=os.path.join(os.path.realpath(root), *names),
            inode=status.st_ino,
            device=status.st_dev,
            generation=_generation(descriptor),
            birth_ns=None if birth is None else int(birth * 1e9),
        )
    finally:
        os.close(descriptor)


def _generation(descriptor: int) -> int | None:
    if sys.platform != "linux":
        return None
    answer = bytearray(8)
    try:
        fcntl.ioctl(descriptor, _FS_IOC_GETVERSION, answer)
    except OSError:
        return None
    return int.from_bytes(answer[:4], sys.byteorder)
