"""Which level of sandbox this machine has: found by trying each part in a child, once for each
start of the machine.
"""

import errno
import functools
import os
import sys
from typing import Final

from vespe.errors import VespeError
from vespe.processes import child_scripts, process
from vespe.processes.child_scripts import ENTER
from vespe.processes.sandbox import seatbelt
from vespe.records import dataclass

LEVELS: Final = ("namespaces", "landlock", "seatbelt", "off")
"""The best first."""
_FORMAT: Final = "3"
_BOOT_ID: Final = "/proc/sys/kernel/random/boot_id"
_PASSING: Final = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""Errors of a machine that is short of something at the moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What this machine's kernel offers to this user.

    `landlock` is the version of it, 0 for none. `namespaces`, `processes` (a namespace of them,
    with a /proc of its own) and `filter` are 0 where they work, else the number of the error.
    """

    landlock: int = 0
    namespaces: int = 255
    processes: int = 255
    filter: int = 255
    seatbelt: bool = False

    @property
    def level(self) -> str:
        """The best level that there is."""
        if self.landlock and self.filter == 0:
            return "landlock" if self.namespaces else "namespaces"
        return "seatbelt" if self.seatbelt else "off"


@functools.cache
def machine(cache: str = "") -> Machine:
    """Return what there is, out of a file in the directory `cache` where this start of the machine
    has been asked before.

    What failed for the moment is not kept in that file: it would leave every later process without
    a sandbox until the next start.
    """
    if sys.platform == "darwin":
        return Machine(seatbelt=_works(seatbelt.trial()))
    if sys.platform != "linux":
        return Machine()
    key = f"{_FORMAT} {_boot()} {os.getuid()} {os.uname().release} {_confinement()}"
    kept = os.path.join(cache, "sandbox") if cache else ""
    if known := _read(kept, key):
        return known
    found = tried()
    if found is None:
        return Machine()
    return found if _may_pass(found) else _write(kept, key, found)


def tried() -> Machine | None:
    """Try each part in a child, as a tool's process would have it; None where the trial itself
    failed or took too long.
    """
    argv = (sys.executable, "-I", "-S", "-B", "-c", child_scripts.BOOT)
    command = process.Command(
        argv=argv, cwd="/", env={}, stdin=child_scripts.boot_message(ENTER, None), timeout_s=20.0
    )
    try:
        said = process.run(command).stdout.decode("ascii", "replace")
    except VespeError:
        return None
    return _parsed(said)


def _may_pass(found: Machine) -> bool:
    """Whether a part failed for the moment: of a shortage, or since a signal ended its child."""
    return any(
        number < 0 or number in _PASSING
        for number in (found.namespaces, found.processes, found.filter)
    )


def _works(argv: tuple[str, ...]) -> bool:
    try:
        return (
            process.run(process.Command(argv=argv, cwd="/", env={}, timeout_s=20.0)).returncode == 0
        )
    except VespeError:
        return False


def _parsed(said: str) -> Machine | None:
    values = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    try:
        return Machine(
            landlock=int(values["landlock"]),
            namespaces=int(values["namespaces"]),
            processes=int(values["processes"]),
            filter=int(values["filter"]),
        )
    except (KeyError, ValueError):
        return None


def _boot() -> str:
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return "unknown"


def _confinement() -> str:
    """Return what this process is confined by itself: a container, or the sandbox of an editor,
    shares the home directory and the start of the machine, and may refuse namespaces.
    """
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            lines = file.read().splitlines()
        user = os.readlink("/proc/self/ns/user")
    except OSError:
        return "unknown"
    kept = ("NoNewPrivs:", "Seccomp", "CapBnd:")
    return " ".join([user, *("".join(line.split()) for line in lines if line.startswith(kept))])


def _read(path: str, key: str) -> Machine | None:
    try:
        # A named pipe there must not make this wait.
        with open(
            path, encoding="ascii", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)
        ) as file:
            status = os.fstat(file.fileno())
            first, _, rest = file.read(4096).partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return _parsed(rest) if first == key and status.st_uid == os.getuid() else None


def _write(path: str, key: str, found: Machine) -> Machine:
    """Keep what was found; where that cannot be, the next process tries again."""
    aside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(
            aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(
                f"{key}\nlandlock={found.landlock}\nnamespaces={found.namespaces}\n"
                f"processes={found.processes}\nfilter={found.filter}\n"
            )
        os.replace(aside, path)
    except OSError:
        pass
    return found
