"""Which directory it is, however it is called: the identity that an approval of a place is bound
to.
"""

import fcntl
import os
import sys
from typing import Final

from vespe.files.walk import open_beneath
from vespe.lazy import ctypes
from vespe.records import dataclass

_FS_IOC_GETVERSION: Final = 0x80087601
_AT_EMPTY_PATH: Final = 0x1000
_STATX_BTIME: Final = 0x800
_STATX_BYTES: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which directory it is, however it is called: strong where its inode also tells its generation
    or its birth.

    Inode numbers come back within a second on ext4: a directory that is deleted and cloned again at
    the same path has the same device and inode. Its generation (Linux: ext4, XFS, btrfs, F2FS) or
    its time of birth (macOS; Linux: overlay, tmpfs) differs. Elsewhere (some network file systems)
    the path must match too, and a reused inode is the residual risk. `device` is the id of the file
    system (`f_fsid`, which outlasts a restart), or the device's number where it has none; `owner`
    is the user's number: who owns a directory can set its generation (FS_IOC_SETVERSION).
    """

    path: str
    inode: int
    device: int
    owner: int = 0
    generation: int | None = None
    birth_ns: int | None = None

    @property
    def name(self) -> str:
        """The stem of the record's file name."""
        told = [("g", self.generation), ("b", self.birth_ns), ("u", self.owner)]
        return f"{self.inode:x}-d{self.device:x}" + "".join(
            f"-{letter}{value:x}" for letter, value in told if value is not None
        )

    @property
    def strong(self) -> bool:
        """Whether the identity holds without the path."""
        return self.generation is not None or self.birth_ns is not None


def place_of(root: str, *names: str) -> Place | None:
    """Identify the directory at `names` beneath `root`, following no link on the way; None where
    there is none.
    """
    try:
        descriptor = open_beneath(root, *names)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        generation = _generation(descriptor)
        return Place(
            path=os.path.join(os.path.realpath(root), *names),
            inode=status.st_ino,
            device=os.fstatvfs(descriptor).f_fsid or status.st_dev,
            owner=status.st_uid,
            generation=generation,
            birth_ns=_birth(descriptor, status) if generation is None else None,
        )
    finally:
        os.close(descriptor)


def _generation(descriptor: int) -> int | None:
    """Return the inode's generation, or None where the file system keeps none: 0 is what one that
    only pretends to says.
    """
    if sys.platform != "linux":
        return None
    answer = bytearray(8)
    try:
        fcntl.ioctl(descriptor, _FS_IOC_GETVERSION, answer)
    except OSError:
        return None
    return int.from_bytes(answer[:4], sys.byteorder) or None


def _birth(descriptor: int, status: os.stat_result) -> int | None:
    """Return the time of birth in ns, or None where the system does not keep it; Python's own stat
    does not tell it on Linux.
    """
    told = getattr(status, "st_birthtime", None)
    if told is not None or sys.platform != "linux":
        return None if told is None else int(told * 1e9)
    answer = ctypes.create_string_buffer(_STATX_BYTES)
    try:
        failed = ctypes.CDLL(None).statx(descriptor, b"", _AT_EMPTY_PATH, _STATX_BTIME, answer)
    except (AttributeError, OSError):
        return None
    mask, seconds, nanoseconds = (
        int.from_bytes(answer.raw[a:b], sys.byteorder) for a, b in ((0, 4), (80, 88), (88, 92))
    )
    return (
        (seconds * 1_000_000_000 + nanoseconds or None)
        if not failed and mask & _STATX_BTIME
        else None
    )
