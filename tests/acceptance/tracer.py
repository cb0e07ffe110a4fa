"""Makes one system call that writes fail, or be the last: a tracer of processes for Linux on
x86-64, with nothing but Python.

A seccomp filter stops the traced processes, git's too, at the calls that change a file system and
at no other, so that a run under the tracer takes hardly longer than one without it.
"""

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

AVAILABLE = sys.platform == "linux" and platform.machine() == "x86_64"
FAULTS = ("KILL", "ENOSPC", "EIO")
KILLS = ("KILL", "ALONE")

_CALLS = {
    "write": 1,
    "pwrite64": 18,
    "writev": 20,
    "fsync": 74,
    "fdatasync": 75,
    "truncate": 76,
    "ftruncate": 77,
    "rename": 82,
    "mkdir": 83,
    "rmdir": 84,
    "creat": 85,
    "link": 86,
    "unlink": 87,
    "symlink": 88,
    "chmod": 90,
    "fchmod": 91,
    "mkdirat": 258,
    "unlinkat": 263,
    "renameat": 264,
    "linkat": 265,
    "symlinkat": 266,
    "fchmodat": 268,
    "utimensat": 280,
    "fallocate": 285,
    "syncfs": 306,
    "renameat2": 316,
    "copy_file_range": 326,
    "fchmodat2": 452,
}
_GETDENTS, _OPEN, _OPENAT = 217, 2, 257
_NAMES = {number: name for name, number in _CALLS.items()} | {
    _OPEN: "open",
    _OPENAT: "openat",
    _GETDENTS: "getdents64",
}
_ON_DESCRIPTOR = ("write", "pwrite64", "writev", "fsync", "fdatasync")
_FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_TRACEME, _CONT, _GETREGS, _SETREGS, _SETOPTIONS = 0, 7, 12, 13, 0x4200
_OPTIONS = 0x02 | 0x04 | 0x08 | 0x80 | 0x100000  # fork, vfork, clone, seccomp, exit-kill
_EVENT_SECCOMP = 7
_WALL = 0x40000000
_RAX, _RDX, _RSI, _RDI, _ORIG_RAX = 10, 12, 13, 14, 15
_RET_TRACE, _RET_ALLOW = 0x7FF00000, 0x7FFF0000
_MASK = (1 << 64) - 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Traced:
    """What became of a traced run: its exit code (negative: the signal), how many calls there were
    to fail, and which one did.
    """

    code: int
    calls: int
    failed: str


def run(action: Callable[[], int], *, fault: str | None = None, at: int = 0) -> Traced:
    """Run `action` in a forked process, whose result is its exit code; its `at`-th writing call
    (from 1) meets the fault.

    `KILL` ends all its processes there, before the call, and `ALONE` the first of them, which the
    others survive; `ENOSPC` and `EIO` are what the call gives
    instead of being made. `EIO` counts the reading of directories too.
    """
    child = os.fork()
    if child == 0:
        code = 98
        try:
            _become_traced()
            code = action()
        finally:
            os._exit(code)
    os.waitpid(child, _WALL)
    _ptrace(_SETOPTIONS, child, _OPTIONS)
    _ptrace(_CONT, child, 0)
    return _Tracing(child, fault, at).follow()


class _Tracing:
    """One run, from its first stop to the end of its last process."""

    def __init__(self, child: int, fault: str | None, at: int) -> None:
        self._child, self._fault, self._at = child, fault, at
        self._alive = {child}
        self._calls, self._failed, self._code = 0, "", 0

    def follow(self) -> Traced:
        while self._alive:
            try:
                pid, status = os.waitpid(-1, _WALL)
            except ChildProcessError:
                break
            if os.WIFSTOPPED(status):
                self._alive.add(pid)
                self._stopped(pid, os.WSTOPSIG(status), status >> 16)
            else:
                self._alive.discard(pid)
                if pid == self._child:
                    self._code = os.waitstatus_to_exitcode(status)
        return Traced(self._code, self._calls, self._failed)

    def _stopped(self, pid: int, number: int, event: int) -> None:
        passed_on = 0 if event or number in (signal.SIGSTOP, signal.SIGTRAP) else number
        if event == _EVENT_SECCOMP:
            self._called(pid)
        _ptrace(_CONT, pid, passed_on)

    def _called(self, pid: int) -> None:
        registers = (ctypes.c_uint64 * 27)()
        if _ptrace(_GETREGS, pid, ctypes.addressof(registers)) < 0:
            return
        name = _NAMES[registers[_ORIG_RAX]]
        if not self._counts(pid, name, registers):
            return
        self._calls += 1
        if self._calls != self._at or self._fault is None:
            return
        self._failed = f"{name} of {'vespe' if pid == self._child else 'its child'}"
        if self._fault in KILLS:
            for process in self._alive if self._fault == "KILL" else (self._child,):
                os.kill(process, signal.SIGKILL)
            return
        registers[_ORIG_RAX] = _MASK
        registers[_RAX] = -getattr(errno, self._fault) & _MASK
        _ptrace(_SETREGS, pid, ctypes.addressof(registers))

    def _counts(self, pid: int, name: str, registers: "ctypes.Array[ctypes.c_uint64]") -> bool:
        """Pipes, terminals and /dev are no state; a directory is only read, and so can only
        fail.
        """
        if name == "getdents64":
            return self._fault == "EIO"
        if name not in _ON_DESCRIPTOR:
            return True
        try:
            target = os.readlink(f"/proc/{pid}/fd/{registers[_RDI]}")
        except OSError:
            return False
        return target.startswith("/") and not target.startswith(("/dev/", "/proc/", "/memfd:"))


def _become_traced() -> None:
    _libc.ptrace(ctypes.c_long(_TRACEME), ctypes.c_long(0), ctypes.c_void_p(0), ctypes.c_void_p(0))
    os.kill(os.getpid(), signal.SIGSTOP)
    program = _filter()
    code = ctypes.create_string_buffer(program, len(program))
    filter_program = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _libc.prctl(38, 1, 0, 0, 0)  # no new privileges: what a filter without root needs
    if _libc.prctl(22, 2, ctypes.create_string_buffer(filter_program, len(filter_program)), 0, 0):
        os._exit(99)


def _filter() -> bytes:
    """Stop at the calls of the table, and at an `open` that may write; let all others pass."""
    rows = [(0x20, 0, 0, 0)]  # the number of the call
    numbers = [*_CALLS.values(), _GETDENTS]
    rows += [(0x15, len(numbers) - index + 7, 0, number) for index, number in enumerate(numbers)]
    rows += [
        (0x15, 2, 0, _OPEN),
        (0x15, 3, 0, _OPENAT),
        (0x06, 0, 0, _RET_ALLOW),
        (0x20, 0, 0, 16 + 8),  # flags of open
        (0x05, 0, 0, 1),
        (0x20, 0, 0, 16 + 16),  # flags of openat
        (0x45, 1, 0, _FOR_WRITING),
        (0x06, 0, 0, _RET_ALLOW),
        (0x06, 0, 0, _RET_TRACE),
    ]
    return b"".join(struct.pack("HBBI", *row) for row in rows)


def _ptrace(request: int, pid: int, data: int) -> int:
    return int(
        _libc.ptrace(
            ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(0), ctypes.c_void_p(data)
        )
    )
