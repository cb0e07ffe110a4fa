"""The seccomp filter of a sandboxed process: system calls that lead out of a sandbox, as a BPF
program in bytes.
"""

import errno
import functools
import os
import sys
from collections.abc import Iterable
from typing import Final

_LOAD, _EQUAL, _AT_LEAST, _SET, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCH, _FIRST, _SECOND, _FOURTH = 0, 4, 16, 24, 40
"""Where seccomp_data has the call's number, the architecture, and the low halves of arguments."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NAMESPACES: Final = 0x7E020080
"""The flags of clone(2) that make namespaces."""
_DATAGRAM, _RAW, _TYPE = 2, 3, 0xF
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16

_AUDIT: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CALLS: Final = {
    # ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise
    "other processes": ((101, 310, 311, 438, 312, 440), (117, 270, 271, 438, 272, 440)),
    # mount umount2 pivot_root chroot unshare setns fsopen fsconfig fsmount fspick move_mount
    # open_tree mount_setattr
    "mounts and namespaces": (
        (165, 166, 155, 161, 272, 308, 430, 431, 432, 433, 429, 428, 442),
        (40, 39, 41, 51, 97, 268, 430, 431, 432, 433, 429, 428, 442),
    ),
    # io_uring_setup, _enter, _register: they open files and sockets that no filter sees
    "io_uring": ((425, 426, 427), (425, 426, 427)),
    # add_key request_key keyctl bpf userfaultfd perf_event_open open_by_handle_at name_to_handle_at
    "the kernel's own": (
        (248, 249, 250, 321, 323, 298, 304, 303),
        (217, 218, 219, 280, 282, 241, 265, 264),
    ),
    # init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct
    # syslog quotactl settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname,
    # and on x86 iopl ioperm
    "the machine": (
        (
            175,
            313,
            176,
            246,
            320,
            169,
            167,
            168,
            163,
            103,
            179,
            164,
            227,
            159,
            305,
            170,
            171,
            172,
            173,
        ),
        (105, 273, 106, 104, 294, 142, 224, 225, 89, 116, 60, 170, 112, 171, 266, 161, 162),
    ),
}
# prlimit64 sched_setparam sched_setscheduler sched_setaffinity sched_setattr migrate_pages
# move_pages: the first argument is a process, and 0 the caller itself
_OF_A_PROCESS: Final = (
    (302, 142, 144, 203, 314, 256, 279),
    (261, 118, 119, 122, 274, 238, 239),
)
# setpriority ioprio_set: the second argument is one, and the first says what it is; past this, all
# processes of a user
_OF_MANY: Final = (((141, 2), (251, 3)), ((140, 2), (30, 3)))
STARTER: Final = 0x7FFFFFFE
"""Stands in a filter for the thread that starts the program, whose number enter.py puts there; no
process has this one.
"""
_CLONE, _CLONE3, _SOCKET, _MEMFD, _IOCTL = (56, 220), (435, 435), (41, 198), (319, 279), (16, 29)
_PAIR: Final = (53, 199)
_FCNTL: Final = (72, 25)
_SETLEASE: Final = 1024
"""A lease lets every other process wait that opens the file, `.vespe/config.json` too."""
_MAP: Final = (9, 222)
# memfd_create memfd_secret shmget: memory that no limit of a process counts
_UNCOUNTED: Final = ((319, 447, 29), (279, 447, 194))
_ANONYMOUS, _SHARED, _GROWS_DOWN = 0x20, 0x01, 0x100
"""Flags of mmap(2). A mapping that grows down counts as stack, which RLIMIT_DATA does not bound."""
_TERMINAL: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""


def architecture() -> int | None:
    """Return the column of this machine's numbers; None where there are none, and so no filter."""
    machines = list(_AUDIT)
    return (
        machines.index(os.uname().machine)
        if sys.platform == "linux" and os.uname().machine in machines and sys.maxsize > 1 << 32
        else None
    )


@functools.cache
def program(
    families: tuple[int, ...], *, memfd: bool = True, apart: bool = False, bounded: bool = False
) -> bytes:
    """Return the filter: sockets of these families alone, none of them raw, and `memfd_create`
    where `memfd` is true. Limits, priorities and places of a process are changed by the process
    itself alone; `apart`, in a namespace of processes, also by others there, but for those of the
    first one, which is ours, and of the thread of it that starts the program. Where memory is
    `bounded`, there is none that no limit of a process counts.

    Returns b"" on a machine whose numbers are not known.
    """
    column = architecture()
    if column is None:
        return b""
    machine = list(_AUDIT)[column]
    lines = [
        _one(_LOAD, _ARCH),
        _jump(_EQUAL, _AUDIT[machine], 1, 0),
        _refuse(errno.EPERM),
        _one(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        lines += [_jump(_AT_LEAST, 0x40000000, 0, 1), _refuse(errno.ENOSYS)]
    for group in _CALLS.values():
        lines += _refused(group[column])
    lines += () if memfd else _refused((_MEMFD[column],))
    lines += _of_processes(column, apart=apart)
    if bounded:
        lines += _refused(_UNCOUNTED[column])
        stacks = _jump(_SET, _GROWS_DOWN, 2, 0)
        shared = [_jump(_SET, _ANONYMOUS, 0, 2), _jump(_SET, _SHARED, 0, 1), _refuse(errno.ENOMEM)]
        lines += _when(_MAP[column], [_one(_LOAD, _FOURTH), stacks, *shared, _one(_RETURN, _ALLOW)])
    # glibc takes clone(2) where there is no clone3, whose flags no filter can read.
    lines += [_jump(_EQUAL, _CLONE3[column], 0, 1), _refuse(errno.ENOSYS)]
    clone = [
        _one(_LOAD, _FIRST),
        _jump(_SET, _NAMESPACES, 0, 1),
        _refuse(errno.EPERM),
        _one(_RETURN, _ALLOW),
    ]
    lines += _when(_CLONE[column], clone)
    lines += _when(
        _IOCTL[column], [_one(_LOAD, _SECOND), *_refused(_TERMINAL), _one(_RETURN, _ALLOW)]
    )
    lease = [_one(_LOAD, _SECOND), *_refused((_SETLEASE,)), _one(_RETURN, _ALLOW)]
    lines += _when(_FCNTL[column], lease)
    lines += _when(_SOCKET[column], _sockets(families))
    if UNIX not in families:
        # One of a pair of datagrams sends to any path; of streams it has its other end for good.
        pair = [_one(_LOAD, _SECOND), _one(_AND, _TYPE), _jump(_EQUAL, _DATAGRAM, 0, 1)]
        lines += _when(_PAIR[column], [*pair, _refuse(errno.EACCES), _one(_RETURN, _ALLOW)])
    return b"".join((*lines, _one(_RETURN, _ALLOW)))


def _sockets(families: Iterable[int]) -> list[bytes]:
    known = list(families)
    lines = [_one(_LOAD, _FIRST)]
    # Each that fits jumps past the rest and the refusal.
    lines += [_jump(_EQUAL, family, len(known) - index, 0) for index, family in enumerate(known)]
    lines += [_refuse(errno.EACCES), _one(_LOAD, _SECOND), _one(_AND, _TYPE)]
    # A raw socket of NETLINK is the only kind that there is.
    lines += [
        _jump(_EQUAL, _RAW, 0, 3),
        _one(_LOAD, _FIRST),
        _jump(_EQUAL, NETLINK, 1, 0),
        _refuse(errno.EPERM),
        _one(_RETURN, _ALLOW),
    ]
    return lines


def _of_processes(column: int, *, apart: bool) -> list[bytes]:
    """Return lines that refuse what names another process: by any number but 0, so that a thread of
    this process is refused too, or `apart` by that of the first process or of its thread.
    """
    ours = [_jump(_EQUAL, 1, 1, 0), _jump(_EQUAL, STARTER, 0, 1)]
    named = ours if apart else [_jump(_EQUAL, 0, 1, 0)]
    own = [*named, _refuse(errno.EPERM), _one(_RETURN, _ALLOW)]
    lines: list[bytes] = []
    for number in _OF_A_PROCESS[column]:
        lines += _when(number, [_one(_LOAD, _FIRST), *own])
    for number, users in _OF_MANY[column]:
        all_of_a_user = [_jump(_AT_LEAST, users, 0, 1), _refuse(errno.EPERM)]
        lines += _when(number, [_one(_LOAD, _FIRST), *all_of_a_user, _one(_LOAD, _SECOND), *own])
    return lines


def _when(number: int, lines: list[bytes]) -> list[bytes]:
    """Return lines that only the call of this number comes to; they end with an answer."""
    return [_jump(_EQUAL, number, 0, len(lines)), *lines]


def _refused(numbers: Iterable[int]) -> list[bytes]:
    return [
        line for number in numbers for line in (_jump(_EQUAL, number, 0, 1), _refuse(errno.EPERM))
    ]


def _refuse(number: int) -> bytes:
    return _one(_RETURN, _REFUSE | number)


def _one(code: int, value: int) -> bytes:
    return _jump(code, value, 0, 0)


def _jump(code: int, value: int, right: int, wrong: int) -> bytes:
    return (
        code.to_bytes(2, sys.byteorder) + bytes((right, wrong)) + value.to_bytes(4, sys.byteorder)
    )
