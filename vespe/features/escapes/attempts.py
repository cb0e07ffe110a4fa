"""Tries sandbox escapes and their twins, each in its own process that is confined by a policy."""

# Runs in an interpreter of its own, below a supervisor that ends it with all that it started; it
# imports nothing of Vespe. On stdin one JSON object: `enter` (the path of enter.py), `uid` (whose
# processes to be), `message` (a policy's), `policy` (its name), `names` and `rows`. On stdout
# `rows`, what became of each attack and its twin (or an error), and `left`, whether something lies
# where all processes share memory. What the rows say is evaluated here: the functions below are
# their words.

import ctypes
import encodings.idna  # noqa: F401  # a held process may not be able to load it
import errno
import fcntl
import json
import mmap  # rows use it
import os
import resource  # noqa: F401  # rows use it
import select  # noqa: F401  # rows use it
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
BUFFER = ctypes.create_string_buffer(64)
IOV = ctypes.cast((ctypes.c_void_p * 2)(ctypes.addressof(BUFFER), 8), ctypes.c_void_p)
IDLE = (48).to_bytes(4, sys.byteorder) + (5).to_bytes(4, sys.byteorder) + bytes(40)
CAPS = (0x20080522).to_bytes(4, sys.byteorder) + bytes(4)
# What an event to be counted, a new process in a namespace of users, and a clock with a tick that
# no clock has are to the kernel.
EVENT = (1).to_bytes(4, sys.byteorder) + (128).to_bytes(4, sys.byteorder) + bytes(120)
NEW_USER = (
    (0x10000000).to_bytes(8, sys.byteorder)
    + bytes(24)
    + (17).to_bytes(8, sys.byteorder)
    + bytes(24)
)
TICK = (0x4000).to_bytes(4, sys.byteorder) + bytes(252)
GROWS_DOWN = 0x100
"""MAP_GROWSDOWN of mmap(2), which `mmap` does not name."""
_DUMPABLE, _DEATH_SIGNAL = 4, 1
_LIVES_S = 600
_PLACES = ("P", "H", "O", "S", "T", "D")
_REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
sys.modules["this_module_is_there"] = sys
listening = socket.socket(socket.AF_UNIX)
"""A server that another program of the user starts once the process runs."""
row_number = 0
"""The row that is being tried, which a message that gets out bears."""


# ---- what the rows say


def call(name: str, *arguments: Any) -> bool:
    """Call a function of the C library."""
    made = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    if getattr(LIBC, name)(*made) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def judged(function: Callable[..., Any], *arguments: Any) -> bool:
    """Make a call that fails whoever makes it; it got through where the kernel came to judge what
    it was called with, and did not refuse it.
    """
    try:
        function(*arguments)
    except OSError as error:
        if error.errno in _REFUSED:
            raise
    except ValueError:  # what `resource` makes of EINVAL
        pass
    return True


def opens(path: Any) -> bool:
    """Open a file, and read nothing of it."""
    os.close(os.open(path, os.O_RDONLY))
    return True


def read(path: Any) -> str:
    with open(path, "rb") as file:
        return file.read(4096).decode("latin-1")


def line(name: str) -> str:
    lines = read("/proc/self/status").splitlines()
    return next(one for one in lines if one.startswith(name)).split(":")[1].strip()


def write(path: Any) -> bool:
    with open(path, "ab") as file:
        return bool(file.write(b"x"))


def script(path: Path) -> None:
    path.write_bytes(b"#!/bin/sh\ntrue\n")
    path.chmod(0o755)


def link(target: Any, path: Any) -> None:
    os.symlink(target, path)


def at(directory: Any, name: str) -> bytes:
    held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    return os.read(os.open(name, os.O_RDONLY, dir_fd=held), 10)


def again(path: Any) -> str:
    return read(f"/proc/self/fd/{os.open(path, os.O_PATH)}")


def out(*argv: Any) -> bytes:
    """Return what a program prints; it must end well."""
    words = [str(one) for one in argv]
    env = {"PATH": "/usr/bin:/bin"}
    return subprocess.run(words, check=True, capture_output=True, timeout=10, env=env).stdout


def memory(program: Any) -> None:
    """Become a program that is in memory alone."""
    descriptor = os.memfd_create("x")
    os.write(descriptor, Path(program).read_bytes())
    os.execve(descriptor, ["id"], {})


def exchange(one: Any, other: Any) -> bool:
    return call("renameat2", -100, bytes(one), -100, bytes(other), 2)


def stop_by_file(pid: int) -> bool:
    """Have the kernel send a process a signal because a pipe of this one can be read."""
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, pid)
    fcntl.fcntl(reader, fcntl.F_SETSIG, signal.SIGSTOP)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writer, b"x")
    stopped = _is_stopped(pid)
    fcntl.fcntl(reader, fcntl.F_SETSIG, signal.SIGCONT)
    os.write(writer, b"x")
    return stopped


def _is_stopped(pid: int) -> bool:
    """Whether a process has stopped within a tenth of a second."""
    for _ in range(10):
        if read(f"/proc/{pid}/stat").rpartition(")")[2].split()[0] == "T":
            return True
        time.sleep(0.01)
    return False


def child() -> int:
    """Return a child that ends at once."""
    return os.fork() or os._exit(0)


def in_thread(function: Callable[..., Any], *arguments: Any) -> bool:
    said: list[Any] = []
    thread = threading.Thread(target=lambda: said.append(function(*arguments)))
    thread.start()
    thread.join()
    return bool(said)


def pipe() -> bytes:
    reader, writer = os.pipe()
    os.write(writer, b"x")
    return os.read(reader, 1)


def beneath(root: Any, path: str) -> bytes:
    """Read a file that is looked for as if a directory were the root (openat2)."""
    how = os.O_RDONLY.to_bytes(8, sys.byteorder) + bytes(8) + (0x10).to_bytes(8, sys.byteorder)
    place = os.open(root, os.O_PATH)
    found = LIBC.syscall(437, place, path.encode(), how, ctypes.c_long(24))
    if found == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return os.read(found, 10)


def linked(path: Any, name: Any) -> bool:
    """Give what was opened as a place another name."""
    place = f"/proc/self/fd/{os.open(path, os.O_PATH)}".encode()
    return call("linkat", -100, place, -100, bytes(name), 0x400)


def native(number: int) -> bool:
    """Make a system call by instructions of this process."""
    return _instructed(b"\x89\xf8\x0f\x05\xc3", number) > 0


def native32(*arguments: int) -> bool:
    """Make a system call by the gate of 32-bit programs (int 0x80)."""
    code = b"\x53\x89\xf8\x89\xf3\x41\x89\xc9\x89\xd1\x44\x89\xca\x44\x89\xc6\xcd\x80\x5b\xc3"
    found = _instructed(code, *arguments)
    if found < 0:
        raise OSError(-found, os.strerror(-found))
    return True


def _instructed(code: bytes, *arguments: int) -> int:
    place = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    place.write(code)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_long] * len(arguments))
    return int(kind(ctypes.addressof(ctypes.c_char.from_buffer(place)))(*arguments))


def attached(segment: int) -> bool:
    """Attach a segment of System V's shared memory."""
    return call("shmat", segment, None, 0)


def unprotected(size: int) -> bool:
    """Map memory that nobody may write, and then let it be written."""
    LIBC.mmap.restype = ctypes.c_void_p
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    place = LIBC.mmap(None, ctypes.c_size_t(size), 0, flags, -1, ctypes.c_long(0))
    return call("mprotect", ctypes.c_void_p(place), size, mmap.PROT_READ | mmap.PROT_WRITE)


def copied(path: Any, size: int) -> bool:
    """Map a private copy of a file that can be written."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    os.ftruncate(descriptor, size)
    mmap.mmap(descriptor, size, mmap.MAP_PRIVATE)
    return True


def reach(family: int, address: Any, protocol: int = 0) -> bool:
    """Connect to an address, and say who it was."""
    with socket.socket(family, socket.SOCK_STREAM, protocol) as one:
        one.settimeout(2)
        one.connect(address)
        one.sendall(_said())
    return True


def flags_of(interface: bytes) -> bytes:
    """Ask for the flags of a network interface, as they can be set again."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return fcntl.ioctl(one, 0x8913, interface.ljust(40, b"\0"))


def own_socket(path: Any) -> bool:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
        one.listen()
        return reach(socket.AF_UNIX, str(path))


def own_server() -> bool:
    """Listen on this machine, and be reached."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return reach(socket.AF_INET, one.getsockname())


def send(family: int, address: Any) -> int:
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        return one.sendto(_said(), address)


def fast(address: Any) -> int:
    """Send with the first packet of a connection (TCP Fast Open)."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        return one.sendto(_said(), 0x20000000, address)


def resolves() -> int:
    return send(socket.AF_INET, ("127.0.0.53", 53))


def _said() -> bytes:
    return b"escaped %d." % row_number


# ---- who tries them


def tried(source: str, names: dict[str, Any]) -> str:
    """Run statements and a last expression in a process of its own; return `yes` where it got
    through, else `no` and why.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        # In a namespace of processes its number may be that of a victim outside.
        if os.getpid() not in (names["VICTIM"], names["PARENT"]):
            os.close(reader)
            _report(writer, source, names)
        os._exit(2)
    os.close(writer)
    data = b""
    while more := os.read(reader, 4096):
        data += more
    os.close(reader)
    status = os.waitpid(pid, 0)[1]
    if not data and os.WIFEXITED(status) and os.WEXITSTATUS(status) == 2:
        return tried(source, names)
    if not data and os.WIFSIGNALED(status):
        # as where this processor or kernel has no such instruction
        return f"no: its process was killed: {signal.strsignal(os.WTERMSIG(status))}"
    # A process that has become another program has said nothing.
    return data.decode("utf-8", "replace") or "yes: it became another program"


def _report(writer: int, source: str, names: dict[str, Any]) -> None:
    said = ""
    try:
        LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        *before, last = source.split("; ")
        space = {**globals(), **names}
        for one in before:
            exec(one, space)
        if last.startswith("import "):
            exec(last, space)
            answer: Any = True
        else:
            answer = eval(last, space)
        said = "no: it came to nothing" if answer is False else "yes"
    except BaseException as error:
        said = f"no: {type(error).__name__}: {error}"
    os.write(writer, said.encode("utf-8", "replace")[:500])
    os._exit(0)


def session(job: dict[str, Any], names: dict[str, Any], space: dict[str, Any]) -> Any:
    """Become the user, enter the policy, and try each row and its twin; return what became of
    both, or the error.
    """
    reader, writer = os.pipe()
    entered, enters = os.pipe()
    changed, changes = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            _be_silent()
            _become(job["uid"])
            _apart(job["message"], space, writer)
            _enter(job["message"], names, space)
            os.write(enters, b"x")
            os.read(changed, 1)
            found: Any = [_both(number, row, names) for number, row in enumerate(job["rows"])]
        except BaseException as error:
            found = repr(error)
        with open(writer, "w", encoding="utf-8") as file:
            json.dump(found, file)
        os._exit(0)
    os.close(writer)
    os.close(enters)
    if os.read(entered, 1) and "late" in job["policy"]:
        _change_home(names["H"]) if "home" in job["policy"] else _change(names, job["uid"])
    os.write(changes, b"x")
    with open(reader, encoding="utf-8") as file:
        said = file.read()
    os.waitpid(pid, 0)
    for descriptor in (entered, changed, changes):
        os.close(descriptor)
    return json.loads(said) if said else "its process was ended"


def _be_silent() -> None:
    """Let nothing that an attack prints be taken for an answer."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)


def _both(number: int, row: dict[str, str], names: dict[str, Any]) -> list[str]:
    global row_number
    row_number = number
    return [tried(row["attack"], names), tried(row["twin"], names)]


def _become(uid: int) -> None:
    LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if uid != os.getuid():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        # A change of user makes /proc/self root's until the next exec, and forgets the signal.
        LIBC.prctl(_DUMPABLE, 1, 0, 0, 0)
        LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _apart(message: dict[str, Any], space: dict[str, Any], writer: int) -> None:
    """Go into a namespace of processes where the policy has one, and on in a process there that is
    not the first; whoever waits for it outside ends with it.
    """
    if not (message["namespaces"] and message["namespaces"]["processes"]):
        return
    for fork in (space["fork_apart"], os.fork):
        if made := fork():
            os.close(writer)
            os.waitpid(made, 0)
            os._exit(0)
        LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    LIBC.prctl(_DUMPABLE, 1, 0, 0, 0)


def _enter(message: dict[str, Any], names: dict[str, Any], space: dict[str, Any]) -> None:
    os.setsid()
    os.chdir(names["P"])
    rules = [(path.encode(), rights) for path, rights in message["rules"]]
    made = {**message, "rules": rules, "filter": bytes.fromhex(message["filter"])}
    if made["namespaces"]:
        made["namespaces"] = {key: _encoded(one) for key, one in made["namespaces"].items()}
    # Where hosts are stated, the socket of a proxy goes out by it, which nobody serves here.
    proxy, channel = socket.socketpair()
    space["enter"](made, channel.detach())
    os.set_inheritable(proxy.detach(), False)
    LIBC.prctl(_DUMPABLE, 1, 0, 0, 0)  # as the exec of a program does


def _encoded(value: Any) -> Any:
    if isinstance(value, list):
        return [one.encode() for one in value]
    return value.encode() if isinstance(value, str) else value


def _change(names: dict[str, Any], uid: int) -> None:
    """Be the user's other programs, which go on while a tool runs."""
    home, state = names["H"], names["S"]
    hooks = names["P"] / "since/.git/hooks"
    hooks.mkdir(parents=True)
    for made in (hooks, *hooks.parents[:2]):
        # This may be root for another user; an ordinary user's group has a number of its own.
        os.chown(made, uid, -1)
    for name in (
        ".netrc",
        ".npmrc",
        ".aws/credentials",
        ".config/gh/hosts.yml",
        ".cargo/credentials.toml",
        "docs/late",
        ".config/app/late",
    ):
        _replace(home / name)
    for place, name in ((home / ".ssh", "id"), (state, "trust.json")):
        place.rename(place.with_name(place.name + ".before"))
        _replace(place / name)
    (home / "moved").rename(home / ".kube")
    late = home / "docs/late-socket"
    listening.bind(str(late))
    late.chmod(0o777)  # this may be root, and the tool another user
    listening.listen()


def _change_home(home: Path) -> None:
    _replace(home / ".azure/token")


def _replace(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".new")
    aside.write_text("new", encoding="utf-8")
    aside.replace(path)


def victim(uid: int) -> int:
    """Start a process that does nothing, and return its number once it does."""
    reader, writer = os.pipe()
    sleep = shutil.which("sleep", path="/usr/bin:/bin")
    code = f"import time; time.sleep({_LIVES_S})"
    argv = [sleep, str(_LIVES_S)] if sleep else [sys.executable, "-I", "-S", "-c", code]
    pid = os.fork()
    if pid == 0:
        try:
            _become(uid)
            os.execve(argv[0], argv, {"TOKEN": "x"})
        finally:
            os._exit(1)
    os.close(writer)
    os.read(reader, 1)  # closed by exec
    os.close(reader)
    return pid


def shared_segment() -> int:
    """Return a segment of System V's shared memory that anybody may attach while this process
    lives.
    """
    segment = int(LIBC.shmget(0, 4096, 0o1666))
    LIBC.shmat(segment, None, 0)
    LIBC.shmctl(segment, 0, None)  # gone with the last process that has it
    return segment


def main() -> None:
    """Try the rows on stdin; whatever is started ends with this process."""
    job = json.load(sys.stdin)
    space: dict[str, Any] = {"__name__": "enter"}
    exec(compile(Path(job["enter"]).read_text(encoding="utf-8"), "enter.py", "exec"), space)
    pid = victim(job["uid"])
    names = {key: Path(one) if key in _PLACES else one for key, one in job["names"].items()}
    here = {"VICTIM": pid, "PARENT": os.getpid(), "SEGMENT": shared_segment()}
    rows = session(job, names | here, space)
    json.dump({"rows": rows, "left": os.path.lexists(names["LEFT"])}, sys.stdout)
    os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
