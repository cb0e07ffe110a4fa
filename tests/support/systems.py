"""Machines that differ from this one, for a single command: a kernel that refuses some system calls,
a resolver that knows other names.
"""

import errno
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

_NUMBERS = {
    "connect": {"x86_64": 42, "aarch64": 203},
    "landlock_create_ruleset": {"x86_64": 444, "aarch64": 444},
    "socket": {"x86_64": 41, "aarch64": 198},
    "syncfs": {"x86_64": 306, "aarch64": 267},
    "unshare": {"x86_64": 272, "aarch64": 97},
}
NO_LANDLOCK = {"landlock_create_ruleset": errno.ENOSYS}
"""For `refusing`: a kernel without Landlock, and so without a sandbox."""
NO_NAMESPACES = {"unshare": errno.EPERM}
"""For `refusing`: a kernel that gives nobody namespaces, as in most containers."""
NO_NETWORK = {"connect": errno.ENETUNREACH}
"""For `refusing`: a machine that can reach no other, so no DNS server either."""
_REFUSE = """
import ctypes, os, struct, sys
rows = [(0x20, 0, 0, 0)]  # the number of the call
for call in sys.argv[1].split(","):
    number, error = map(int, call.split("="))
    rows += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error)]
rows.append((0x06, 0, 0, 0x7FFF0000))  # every other call is made
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
program = struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)  # no new privileges: what a filter without root needs
if libc.prctl(22, 2, ctypes.create_string_buffer(program, len(program)), 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
"""
_OFFLINE = """
import ctypes, os, struct, sys
number = int(sys.argv[1])
rows = [
    (0x20, 0, 0, 0),  # the number of the call
    (0x15, 0, 3, number),
    (0x20, 0, 0, 16),  # its first argument: the family
    (0x15, 2, 0, 2),
    (0x15, 1, 0, 10),
    (0x06, 0, 0, 0x7FFF0000),
    (0x06, 0, 0, 0x80000000),  # SIGSYS, which nothing can catch
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
program = struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.create_string_buffer(program, len(program)), 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
"""
_KNOW = """
mount --bind "$1" /etc/hosts || exit
test ! -e /etc/nsswitch.conf || mount --bind "$2" /etc/nsswitch.conf || exit
shift 2
exec "$@"
"""


def refusing(calls: Mapping[str, int], *command: str) -> list[str]:
    """Return a command that runs `command` where the kernel refuses some system calls, by name,
    each with its errno. Processes that it starts are refused them too.

    Skips the test where no seccomp filter can be set.
    """
    machine = platform.machine()
    if sys.platform != "linux" or any(machine not in _NUMBERS[name] for name in calls):
        pytest.skip("no seccomp filter for this machine: it makes real system calls fail")
    refused = ",".join(f"{_NUMBERS[name][machine]}={error}" for name, error in calls.items())
    return _tried([sys.executable, "-I", "-c", _REFUSE, refused], "seccomp filters", command)


def killed_with_a_socket(*command: str) -> list[str]:
    """Return a command that runs `command` where a process is killed that makes a socket of the
    internet, IPv4's or IPv6's, to whatever address; its parent sees SIGSYS.

    Skips the test where no seccomp filter can be set.
    """
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _NUMBERS["socket"]:
        pytest.skip("no seccomp filter for this machine: it makes real system calls fail")
    number = str(_NUMBERS["socket"][machine])
    return _tried([sys.executable, "-I", "-c", _OFFLINE, number], "seccomp filters", command)


def knowing(names: Mapping[str, str], place: Path, *command: str) -> list[str]:
    """Return a command that runs `command` where the resolver knows these names, each with its
    address, and no others; it asks no server. Its files are written in `place`.

    Skips the test where no user and mount namespaces can be made.
    """
    (place / "hosts").write_text(
        "".join(f"{address} {name}\n" for name, address in names.items()), encoding="utf-8"
    )
    (place / "nsswitch.conf").write_text("hosts: files\n", encoding="utf-8")
    made = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _KNOW, "sh"]
    made += [str(place / "hosts"), str(place / "nsswitch.conf")]
    return _tried(made, "namespaces of users and mounts", command)


def _tried(made: list[str], what: str, command: tuple[str, ...]) -> list[str]:
    try:
        subprocess.run([*made, "true"], capture_output=True, encoding="utf-8", check=True)
    except OSError as error:
        pytest.skip(f"no {what} here: {error}")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no {what} here: {error.stderr}")
    return [*made, *command]
