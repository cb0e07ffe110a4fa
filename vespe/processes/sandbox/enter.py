"""Puts the process that it runs in under a policy, for good: what the process becomes, and all that
it starts, is held to it.
"""

# Runs in the child, between fork and exec (supervisor.py), or in the fork of a process that waits
# for calls; it imports nothing of Vespe, and `_ctypes` instead of `ctypes`, which saves 4 ms. What
# is decided is decided in policy.py; this file only does it. Nothing here may be undone by the
# tool: no capability is left that mounts, no_new_privs is set, and seccomp refuses the calls.

import _ctypes
import _thread
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ENDIAN = sys.byteorder
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _MOUNT_SETATTR, _OPENAT2 = 444, 445, 446, 442, 437
_OPEN_TREE, _MOVE_MOUNT = 428, 429
"""The same on every architecture that Landlock is on."""
_TRIES = 20
"""How often what is replaced again and again is covered anew."""
_PATH_BENEATH, _NO_SYMLINKS = 1, 4
# execute, write, read, truncate, ioctl: what a rule on a file may name
_FILE_RIGHTS = 0b1100_0000_0000_0111
_OWN_DIRECTORIES = 0x00000200
"""CLONE_FS"""
_NEW_MOUNTS = 0x00020000
_NEW_IPC = 0x08000000
_NEW_NAMESPACES = _NEW_MOUNTS | _NEW_IPC
_NEW_USER, _NEW_PROCESSES, _NEW_NET = 0x10000000, 0x20000000, 0x40000000
_CLONE = 56 if os.uname().machine == "x86_64" else 220
_SIGCHLD = 17
_BIND, _RECURSIVE, _PRIVATE, _NOSUID, _NODEV, _NOEXEC, _READ_ONLY = 4096, 16384, 1 << 18, 2, 4, 8, 1
_AT_FDCWD, _AT_RECURSIVE, _AT_EMPTY_PATH = -100, 0x8000, 0x1000
_COPY_TREE, _FROM_AND_TO_DESCRIPTORS = 1, 0x44
_SET_CHILD_SUBREAPER = 36
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_SECCOMP, _DROP_BOUNDING, _NO_NEW_PRIVS = 1, 4, 22, 24, 38
_STARTER = (0x7FFFFFFE).to_bytes(4, _ENDIAN)
"""`STARTER` of filter.py."""
_DATA_LIMIT, _STACK_LIMIT = 2, 3
_GET_ATTRIBUTES = 0x801C581F
"""FS_IOC_FSGETXATTR"""
_LISTED = os.O_DIRECTORY | getattr(os, "O_NOATIME", 0)
"""To look at a directory leaves no time in it."""
_STACK = 8 << 20
"""What Linux gives a stack by default."""


class _Long(_ctypes._SimpleCData):  # type: ignore[type-arg]  # what ctypes.c_long is made of
    _type_ = "l"


class _Bytes(_ctypes._SimpleCData):  # type: ignore[type-arg]  # typeshed has it generic, and it is not
    _type_ = "z"


class _Short(_ctypes._SimpleCData):  # type: ignore[type-arg]  # typeshed has it generic, and it is not
    _type_ = "H"


class _Word(_ctypes._SimpleCData):  # type: ignore[type-arg]  # typeshed has it generic, and it is not
    _type_ = "I"


class _Capabilities(_ctypes.Array):  # type: ignore[type-arg]  # the low and the high halves of effective, permitted, inheritable
    _type_ = _Word
    _length_ = 6


class _Attributes(_ctypes.Array):  # type: ignore[type-arg]  # struct fsxattr: flags, three sizes, a project, eight bytes
    _type_ = _Word
    _length_ = 7


class _Program(_ctypes.Structure):
    _fields_ = [("length", _Short), ("filter", _Bytes)]  # noqa: RUF012  # as _ctypes wants it


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Long


_LIBRARY = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None is this program itself; typeshed wants a name


_NAMES = (
    "prctl",
    "syscall",
    "unshare",
    "setns",
    "chroot",
    "mount",
    "socket",
    "ioctl",
    "setrlimit",
    "capget",
    "capset",
)
_FUNCTIONS = {
    name: _Function(_ctypes.dlsym(_LIBRARY, name)) for name in _NAMES if sys.platform == "linux"
}
"""Found before any fork, each of which would look for them again."""


def _call(name: str, *arguments: "Any") -> int:
    """Call a function of the C library; raises OSError."""
    made = [
        _Long(item) if isinstance(item, int) else _Bytes(item) if isinstance(item, bytes) else item
        for item in arguments
    ]
    # What is a C int has 32 bits of the answer.
    answer = _FUNCTIONS[name](*made) & 0xFFFFFFFF
    if answer == 0xFFFFFFFF:
        number = _ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(answer)


def landlock_version() -> int:
    """Return the version of Landlock that this kernel has; 0 for none."""
    try:
        return _call("syscall", _CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def enter(policy: "dict[str, Any]", channel: int = -1) -> None:
    """Hold this process to a policy, as `Policy.message` makes it. Raises OSError where it cannot
    be; the process is then to end.

    The listening socket of a proxy goes out through `channel`, a Unix socket.
    """
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    for path in policy["made"]:
        os.makedirs(path, mode=0o700, exist_ok=True)
    if policy["namespaces"] is not None:
        _namespaces(policy["namespaces"], channel)
    if policy["rules"]:
        _restrict(policy["rules"], policy["handled"], policy["scoped"])
    _give_up_the_rest(policy)


def share(policy: "dict[str, Any]") -> int:
    """Make this process's mounts those that all calls under a policy begin with. Returns the
    policy's rules on files as a descriptor. Raises OSError.

    Where calls have a namespace of mounts, this is the first process of a namespace of processes.
    """
    if policy["namespaces"] is not None:
        _call("unshare", _NEW_MOUNTS)
        _shared_mounts(policy["namespaces"])
    # None of its children is to have them, and it becomes no program itself.
    _drop_bounding(policy["capabilities"])
    return ruleset(policy)


def ruleset(policy: "dict[str, Any]") -> int:
    """Return the rules on files of a policy as a descriptor; raises OSError."""
    return _ruleset(policy["rules"], policy["handled"], policy["scoped"])


def begin_shared(policy: "dict[str, Any]") -> None:
    """Do of `enter_shared` what is the same for each call, before there is a call: no code, input
    or secret of a tool is known yet. Raises OSError.
    """
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    wanted = policy["namespaces"]
    if wanted is not None:
        _call("unshare", _NEW_NAMESPACES | (_NEW_NET if wanted["network"] else 0))
        if wanted["network"]:
            _loopback()
        _own_memory(wanted)


def end_shared(policy: "dict[str, Any]", of_call: "dict[str, Any]", rules: int) -> None:
    """Hold this process, which has begun so, to the rest of a policy that its parent has shared,
    and to what is `of_call`. Raises OSError.

    The rules of a call stay in the parent's, which is why what they are on is of that call alone,
    and gone after it.
    """
    wanted = policy["namespaces"]
    if wanted is not None:
        for path in of_call["hidden"]:
            _hide(path, wanted["shown"])
        _own_mounts(wanted, of_call["writable"], (*wanted["seen"], *of_call["seen"]))
    _add_rules(rules, of_call["rules"], policy["handled"])
    _call("syscall", _RESTRICT_SELF, rules, 0)
    _give_up_the_rest(policy, is_bounded=True)


def enter_shared(policy: "dict[str, Any]", of_call: "dict[str, Any]", rules: int) -> None:
    """Hold this process to a policy that its parent has shared: with mounts and rules on files that
    are copies of those, and to what is `of_call`. Raises OSError.
    """
    begin_shared(policy)
    end_shared(policy, of_call, rules)


def leave_the_other_threads() -> None:
    """Let the mounts, the root and the working directory of this thread be its own. Raises OSError.

    What `enter_shared` and `enter_kept` do is a thread's own from then on: Linux keeps namespaces,
    capabilities, Landlock's rules and filters for each thread, and gives them to what the thread
    starts. A limit of memory is the whole process's.
    """
    _call("unshare", _OWN_DIRECTORIES)


def keep(policy: "dict[str, Any]", of_call: "dict[str, Any]") -> "tuple[Any, ...]":
    """Make what calls of this process have in common where one comes after the other, each with the
    temporary directory that `of_call` names: a namespace of mounts and the rules on files, for
    `enter_kept`. Raises OSError, also where another directory is at its path now; where this
    process cannot return to its own mounts, it ends.
    """
    wanted, own, root = policy["namespaces"], -1, -1
    opened: list[int] = []
    try:
        own, root = _open("/proc/self/ns/mnt"), _open("/", os.O_PATH)
        _call("unshare", _NEW_MOUNTS)
        try:
            _own_memory(wanted)
            _own_mounts(wanted, of_call["writable"], (*wanted["seen"], *of_call["seen"]))
            opened += _open("/proc/self/ns/mnt"), _open("/", os.O_PATH)
            opened.append(ruleset(policy))
            _add_rules(opened[2], of_call["rules"], policy["handled"])
            path, *identity = of_call["kept"]
            found = os.lstat(path)
            if [found.st_ino, found.st_dev] != identity:
                raise FileNotFoundError(2, "")
            memory = _open("/dev/shm", _LISTED) if wanted["memory"] else -1
            opened += [memory] if memory >= 0 else []
            return (*opened[:3], memory, [_state(memory), _next_number(memory)])
        finally:
            try:
                _move(own, root)
            except OSError:
                os._exit(1)
    except OSError:
        let_go(opened)
        raise
    finally:
        let_go((own, root))


def _open(path: str, flags: int = 0) -> int:
    return os.open(path, flags | os.O_RDONLY | os.O_CLOEXEC)


def _move(namespace: int, root: int) -> None:
    """Move to a namespace of mounts, and to the root in it that this process had: that of the
    namespace lies outside of it where Vespe runs in a chroot.
    """
    _call("setns", namespace, _NEW_MOUNTS)
    os.fchdir(root)
    _call("chroot", b".")


def let_go(descriptors: "Any") -> None:
    """Close what `keep` opened."""
    for descriptor in descriptors:
        if descriptor >= 0:
            os.close(descriptor)


def is_fresh(kept: "tuple[Any, ...]") -> bool:
    """Whether the shared memory in what was kept is as it was made: no call has left anything, not
    even a time or an attribute, nor made a file without a name.
    """
    was, number = kept[4]
    kept[4][1] = now = _next_number(kept[3])
    return bool(_state(kept[3]) == was and now == number + (kept[3] >= 0))


def _next_number(memory: int) -> int:
    """Return the number of the file that is made next in shared memory, which counts them: a file
    that never had a name changes nothing else. To ask makes one, too.
    """
    if memory < 0:
        return 0
    try:
        file = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600, dir_fd=memory)
    except OSError:  # a call has taken away all rights, or all space
        return -2
    try:
        return os.fstat(file).st_ino
    finally:
        os.close(file)


def _state(directory: int) -> "Any":
    """All that can be told by an empty directory; None where it is not empty."""
    if directory < 0:
        return ()
    found = os.fstat(directory)
    if os.listdir(directory):
        return None
    names = [(name, os.getxattr(directory, name)) for name in os.listxattr(directory)]
    told = _Attributes()
    try:  # noqa: SIM105  # `contextlib` is an import more
        _call("ioctl", directory, _GET_ATTRIBUTES, _ctypes.byref(told))
    except OSError:  # this file system has none
        pass
    times = found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns
    return *found[:7], *times, *names, *(told[number] for number in range(7))


def enter_kept(policy: "dict[str, Any]", kept: "tuple[Any, ...]") -> None:
    """Hold this process to all of a policy, in what its parent has kept. Raises OSError."""
    namespace, root, rules = kept[:3]
    wanted = policy["namespaces"]
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    _move(namespace, root)
    _call("unshare", _NEW_IPC | (_NEW_NET if wanted["network"] else 0))
    if wanted["network"]:
        _loopback()
    _call("syscall", _RESTRICT_SELF, rules, 0)
    _give_up_the_rest(policy, is_bounded=True)


def _give_up_the_rest(policy: "dict[str, Any]", *, is_bounded: bool = False) -> None:
    """Give up rights of root, memory and system calls, in the end: nothing more is to be set up.
    `is_bounded` says that programs get no more of the first already.
    """
    if not is_bounded:
        _drop_bounding(policy["capabilities"])
    _drop_capabilities(policy["capabilities"])
    if policy["memory"]:
        _call("setrlimit", _DATA_LIMIT, policy["memory"].to_bytes(8, _ENDIAN) * 2)
        # The kernel does not count a stack as data.
        stack = min(policy["memory"], _STACK)
        try:  # noqa: SIM105  # `contextlib` is an import more
            _call("setrlimit", _STACK_LIMIT, stack.to_bytes(8, _ENDIAN) * 2)
        except PermissionError:  # its limit is lower already, and cannot be raised
            pass
    # A change of credentials has taken it away.
    _call("prctl", _SET_PDEATHSIG, 9, 0, 0, 0)
    if code := policy["filter"]:
        thread = _thread.get_native_id()
        if thread != os.getpid():  # the program can name it until it has ended
            code = code.replace(_STARTER, thread.to_bytes(4, _ENDIAN))
        program = _Program(len(code) // 8, code)
        _call("prctl", _SET_SECCOMP, 2, _ctypes.byref(program), 0, 0)


def restrict_more(policy: "dict[str, Any]") -> None:
    """Hold this process, which is held already, to the files of a policy too, and keep it from the
    processes that are held less. Raises OSError.
    """
    if policy["rules"]:
        _restrict(policy["rules"], policy["handled"], policy["scoped"])


def adopt_orphans() -> None:
    """Become the parent of what descends from this process and has lost its own: prctl(2)."""
    _call("prctl", _SET_CHILD_SUBREAPER, 1, 0, 0, 0)


# ---- files: Landlock


def _restrict(rules: "list[tuple[bytes, int]]", handled: int, scoped: int) -> None:
    ruleset = _ruleset(rules, handled, scoped)
    _call("syscall", _RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _ruleset(rules: "list[tuple[bytes, int]]", handled: int, scoped: int) -> int:
    sizes = (8, 16, 24)
    attributes = handled.to_bytes(8, _ENDIAN) + bytes(8) + scoped.to_bytes(8, _ENDIAN)
    size = sizes[2] if scoped else sizes[0]
    ruleset = _call("syscall", _CREATE_RULESET, attributes[:size], size, 0)
    _add_rules(ruleset, rules, handled)
    return ruleset


def _add_rules(ruleset: int, rules: "list[tuple[bytes, int]]", handled: int) -> None:
    add = _FUNCTIONS["syscall"]
    number, kind, none, fd = _Long(_ADD_RULE), _Long(_PATH_BENEATH), _Long(0), _Long(ruleset)
    # No link on the way: what was decided on is what is opened, whatever was put there since.
    how = (os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW).to_bytes(8, _ENDIAN) + bytes(8)
    how += _NO_SYMLINKS.to_bytes(8, _ENDIAN)
    call, here, by, length = _Long(_OPENAT2), _Long(_AT_FDCWD), _Bytes(how), _Long(len(how))
    close = os.close
    known: dict[int, tuple[bytes, bytes]] = {}
    for path, rights in rules:
        place = add(call, here, _Bytes(path), by, length)
        if place < 0:
            continue  # gone since it was listed
        if (given := known.get(rights)) is None:
            given = known[rights] = (
                (rights & handled).to_bytes(8, _ENDIAN),
                (rights & handled & _FILE_RIGHTS).to_bytes(8, _ENDIAN),
            )
        said = place.to_bytes(4, _ENDIAN)
        if add(number, fd, kind, _Bytes(given[0] + said), none):
            # Where it is a file, the rights that only directories have are refused.
            add(number, fd, kind, _Bytes(given[1] + said), none)
        close(place)


# ---- namespaces


def fork_apart() -> int:
    """Fork as `os.fork` does, into a process namespace of its own, in which the child is the first
    process: where it ends, the kernel kills all others. For a process with one thread. Raises
    OSError.

    An ordinary user's child is in a new namespace of users, too.
    """
    # A process cannot move to another process namespace, only its children can be made in one, so
    # that `unshare` would need a fork more.
    try:
        pid = _call("syscall", _CLONE, _NEW_PROCESSES | _SIGCHLD, 0, 0, 0, 0)
    except OSError:
        uid, gid = os.getuid(), os.getgid()
        pid = _call("syscall", _CLONE, _NEW_PROCESSES | _NEW_USER | _SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            _map_user(uid, gid)
    return pid


def _map_user(uid: int, gid: int) -> None:
    """Stay the user that this process is, in the namespace of users that it was put in."""
    _call("prctl", _SET_DUMPABLE, 1, 0, 0, 0)  # otherwise /proc/self is root's
    _write("/proc/self/setgroups", b"deny")
    _write("/proc/self/uid_map", b"%d %d 1" % (uid, uid))
    _write("/proc/self/gid_map", b"%d %d 1" % (gid, gid))
    # until the program is there, this may be a copy of Vespe
    _call("prctl", _SET_DUMPABLE, 0, 0, 0, 0)


def _namespaces(wanted: "dict[str, Any]", channel: int) -> None:
    flags = _NEW_NAMESPACES | (_NEW_NET if wanted["network"] else 0)
    uid, gid = os.getuid(), os.getgid()
    try:
        # Root needs no namespace of users, where other users' files would be nobody's.
        _call("unshare", flags)
    except OSError:
        _call("unshare", flags | _NEW_USER)
        _map_user(uid, gid)
    if wanted["network"]:
        _loopback()
        if wanted["port"]:
            _listen(wanted["port"], channel)
    _mounts(wanted)


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _loopback() -> None:
    """Bring up `lo` in the new network namespace."""
    descriptor = _call("socket", 2, 2, 0)
    up = b"lo".ljust(16, b"\0") + (1 | 64).to_bytes(2, _ENDIAN) + bytes(22)
    _call("ioctl", descriptor, 0x8914, up)
    os.close(descriptor)


def _listen(port: int, channel: int) -> None:
    """Listen where the tool's proxy is, and pass the socket out: whoever accepts on it is outside
    this namespace.
    """
    import _socket

    listening = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listening.bind(("127.0.0.1", port))
    listening.listen(64)
    out = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, os.dup(channel))
    out.sendmsg(
        [b"l"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, listening.fileno().to_bytes(4, _ENDIAN))]
    )
    out.close()
    listening.close()


def _mounts(wanted: "dict[str, Any]") -> None:
    """Make all read-only but what may be written, and hide sockets and shared memory of others."""
    _shared_mounts(wanted)
    _own_memory(wanted)
    _own_mounts(wanted, (), wanted["seen"])


def _shared_mounts(wanted: "dict[str, Any]") -> None:
    """Do of it what several calls can have in common."""
    _mount(None, b"/", None, _RECURSIVE | _PRIVATE)
    if wanted["processes"]:
        # what it shows is the processes of this namespace
        _mount(b"proc", b"/proc", b"proc", _NOSUID | _NODEV | _NOEXEC)
    for path in wanted["writable"]:
        _mount(path, path, None, _BIND | _RECURSIVE)
    for path in wanted["kept"]:
        _mount(path, path, None, _BIND | _RECURSIVE)
    shown = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in wanted["shown"]]
    for path in wanted["hidden"]:
        _hide(path, wanted["shown"])
    for path, descriptor in shown:
        _show(path, descriptor)
    _set_read_only(b"/", on=True)
    for path in wanted["writable"]:
        _set_read_only(path, on=False)
    beneath = tuple(path.rstrip(b"/") + b"/" for path in wanted["writable"])
    for path in wanted["kept"]:
        _set_read_only(path, on=True)
    for path in wanted["hidden"]:
        if path.startswith(beneath):
            _hide(path, wanted["shown"], closed=True)
    for path in wanted["writable"]:
        if any(path.startswith(kept + b"/") for kept in wanted["kept"]):
            _set_read_only(path, on=False)


def _hide(path: bytes, shown: "list[bytes]", *, closed: bool = False) -> None:
    """Cover what is at a path; with an empty directory, where something in it is to be `shown`.
    With `closed` it is covered already, and made read-only.

    Sockets come and go meanwhile: there is nothing to cover where one is gone, and another one at
    its path is covered anew.
    """
    for left in range(_TRIES, -1, -1):
        try:
            if not closed or left < _TRIES:
                _cover(path, shown)
            if closed:
                _set_read_only(path, on=True)
            return
        except OSError:
            if not os.path.lexists(path):
                return
            if not left:
                raise


def _cover(path: bytes, shown: "list[bytes]") -> None:
    if os.path.isdir(path):
        mode = b"555" if any(one.startswith(path + b"/") for one in shown) else b"000"
        _mount(b"tmpfs", path, b"tmpfs", _NOSUID | _NODEV | _NOEXEC, b"size=16k,mode=" + mode)
    elif os.path.lexists(path):
        _mount(b"/dev/null", path, None, _BIND)
        # neither read nor written
        nodev = _NODEV.to_bytes(8, _ENDIAN) + bytes(24)
        _call("syscall", _MOUNT_SETATTR, _AT_FDCWD, path, 0, nodev, 32)


def _own_memory(wanted: "dict[str, Any]") -> None:
    """Mount shared memory of one call alone."""
    if wanted["memory"]:
        _mount(b"tmpfs", b"/dev/shm", b"tmpfs", _NOSUID | _NODEV, b"mode=1777" + wanted["size"])


def _own_mounts(wanted: "dict[str, Any]", writable: "Any", seen: "Any") -> None:
    """Do what is each call's own: the temporary directory of all with what is to be `seen` in it,
    and what else is `writable`.
    """
    for path in writable:
        if wanted["memory"] and path.startswith(b"/dev/shm/"):
            continue  # covered by the shared memory of this call
        _mount_to_write(path)
    if wanted["temporary"]:
        _own_temporary(wanted["temporary"], seen)


def _mount_to_write(path: bytes) -> None:
    """Mount a directory on itself, not read-only. Others may write where it lies: no link that
    they put there is followed, and all is done to what was opened once. Raises OSError.
    """
    place = _opened_without_links(path)
    flags = _COPY_TREE | os.O_CLOEXEC | _AT_RECURSIVE | _AT_EMPTY_PATH
    try:
        tree = _call("syscall", _OPEN_TREE, place, b"", flags)
        try:
            _set_read_only(b"", on=False, at=tree)
            _call("syscall", _MOVE_MOUNT, tree, b"", place, b"", _FROM_AND_TO_DESCRIPTORS)
        finally:
            os.close(tree)
    finally:
        os.close(place)


def _opened_without_links(path: bytes) -> int:
    flags = os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW
    how = flags.to_bytes(8, _ENDIAN) + bytes(8) + _NO_SYMLINKS.to_bytes(8, _ENDIAN)
    return _call("syscall", _OPENAT2, _AT_FDCWD, path, how, len(how))


def _show(path: bytes, descriptor: int) -> None:
    """Mount what a descriptor is at a path, which is made where a mount covers it."""
    if os.path.isdir(b"/proc/self/fd/%d" % descriptor):
        os.makedirs(path, exist_ok=True)
    elif not os.path.lexists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    _mount(b"/proc/self/fd/%d" % descriptor, path, None, _BIND | _RECURSIVE)
    os.close(descriptor)


def _own_temporary(temporary: bytes, seen: "Any") -> None:
    """Mount an empty directory where all have their temporary files, and in it what this call may
    see of them.
    """
    # It is not to be written: a rule of Landlock on it would hold for all that is mounted in it.
    there = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in seen]
    _mount(b"tmpfs", temporary, b"tmpfs", _NOSUID | _NODEV | _NOEXEC, b"size=1m,mode=755")
    for path, descriptor in there:
        _show(path, descriptor)
    _set_read_only(temporary, on=True, beneath=False)


def _mount(
    source: "bytes | None",
    target: bytes,
    kind: "bytes | None",
    flags: int,
    options: "bytes | None" = None,
) -> None:
    _call("mount", source, target, kind, flags, options)


def _set_read_only(path: bytes, *, on: bool, beneath: bool = True, at: int = _AT_FDCWD) -> None:
    bits = (1).to_bytes(8, _ENDIAN)
    attributes = (bits + bytes(8) if on else bytes(8) + bits) + bytes(16)
    try:
        flags = (_AT_RECURSIVE if beneath else 0) | (0 if path else _AT_EMPTY_PATH)
        _call("syscall", _MOUNT_SETATTR, at, path, flags, attributes, 32)
    except OSError:
        if on:
            raise
        # Something beneath is read-only for everybody, and stays so.
        flags = 0 if path else _AT_EMPTY_PATH
        _call("syscall", _MOUNT_SETATTR, at, path, flags, attributes, 32)


# ---- rights of root


def _drop_bounding(kept: int) -> None:
    """Let no program that is started from here on have a capability but those of the mask
    `kept`.
    """
    drop, option, none = _FUNCTIONS["prctl"], _Long(_DROP_BOUNDING), _Long(0)
    for number in range(64):
        if not kept >> number & 1 and drop(option, _Long(number), none, none, none):
            break  # past the last one, or an ordinary user: no_new_privs holds there


def _drop_capabilities(kept: int) -> None:
    """Give up every capability but those of the mask `kept`, which an ordinary user has none of
    anyway.
    """
    header = (0x20080522).to_bytes(4, _ENDIAN) + bytes(4)
    held = _Capabilities()
    _call("capget", header, _ctypes.byref(held))
    # An ordinary user has them in a namespace of its own alone, where nothing is to be done with
    # them.
    permitted = held[1] & kept if os.getuid() == 0 else 0
    held[0], held[1], held[2], held[3], held[4], held[5] = permitted, permitted, 0, 0, 0, 0
    _call("capset", header, _ctypes.byref(held))


def probe(_: "Any" = None) -> None:
    """Write what this machine has to the standard output, as lines `name=value`: found by doing it,
    each in a child.
    """
    found = [f"landlock={landlock_version()}"]
    for name, attempt in (
        ("namespaces", _try_namespaces),
        ("processes", _try_processes),
        ("filter", _try_filter),
    ):
        found.append(f"{name}={_tried(attempt)}")
    os.write(1, "\n".join(found).encode())
    os._exit(0)


def main(message: "Any") -> None:
    """As our child scripts are started; see `probe`."""
    probe(message)


def _tried(attempt: "Any") -> int:
    """Return 0 where the attempt works in a child, else the number of its error."""
    pid = os.fork()
    if pid == 0:
        _try(attempt)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _try(attempt: "Any") -> None:
    """Make the attempt, and end this process with the number of its error, or 0."""
    number = 255
    try:
        attempt()
        number = 0
    except OSError as error:
        number = error.errno or 255
    finally:
        os._exit(number)


def _try_namespaces(*, processes: bool = False) -> None:
    nothing = dict.fromkeys(("writable", "kept", "hidden", "shown", "seen"), ())
    memory = os.path.isdir("/dev/shm")
    wanted = {"network": True, "port": 0, "memory": memory, "processes": processes, **nothing}
    _namespaces({**wanted, "size": b"", "temporary": b"/tmp" if os.path.isdir("/tmp") else b""}, -1)


def _try_processes() -> None:
    """Where parts of /proc are covered, as in most containers, an ordinary user cannot mount it
    anew.
    """
    pid = fork_apart()
    if pid == 0:
        _try(lambda: _try_namespaces(processes=True))
    number = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if number:
        raise OSError(number, os.strerror(number))


def _try_filter() -> None:
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    allow = (6).to_bytes(2, _ENDIAN) + bytes(2) + (0x7FFF0000).to_bytes(4, _ENDIAN)
    program = _Program(1, allow)
    _call("prctl", _SET_SECCOMP, 2, _ctypes.byref(program), 0, 0)
