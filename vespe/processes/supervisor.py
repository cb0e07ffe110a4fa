"""The subreaper of one call: starts its process, says how it ended, and lets no descendant outlive
the call.
"""

# This runs in an interpreter of its own (`-I -S -B`), or in a fork of Vespe's command; it imports
# nothing of Vespe. Each millisecond here is one of every call: `_signal` and `_ctypes` instead of
# `signal` and `ctypes` save 4 ms each beside the 7 of an empty start.
#
# Descriptors: 0 control (from Vespe), 1 status (to Vespe), 2 stderr, 3 stdin, 4 stdout, 5 result of
# the tool, then the channel of a proxy and the socket by which the tool asks, where there are any.
# Control: after the command at most one line, the grace in seconds with which to end the tree; its
# end of file means that Vespe has died or has given up. Status: `F errno stage` (could not start),
# `S pid`, `E wait-status`; its end of file: the tree is gone.
#
# Linux: orphans of the tree become children of this subreaper, so that the tree is gone exactly
# when there is no child left to wait for; /proc names them. Elsewhere (macOS) an orphan belongs to
# launchd: there the tree is what `ps` shows below this process and in the process groups that it
# has seen there. A daemon that has left its group, and whose parent has ended, before the tree is
# first looked at is not found.
#
# Between this process and the tool stands the watcher, which only waits for the tool: a tool that
# kills or stops its parent (`kill $PPID`) kills or stops the watcher, and what ends the tree is
# still there. A zygote (zygote.py) needs none. Where the sandbox has a namespace of processes, the
# watcher is the first process in it: it gets the orphans, ends them, and cannot be ended from
# within; where it ends, the kernel kills all that are left.

import _signal as signal  # type: ignore[import-not-found]  # the core of `signal`, without its enums; typeshed has no stub
import os
import select
import sys
import time

CONTROL, STATUS, STDERR, STDIN, STDOUT, RESULT, CHANNEL = range(7)
ASK = 4
"""What a tool asks by, as the tool has it."""
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
RLIMIT_CORE = 4
ORPHAN_GRACE_S = 0.3
"""Between TERM and KILL for what Vespe, or the tool itself, has left behind."""
GIVE_UP_S = 10.0
"""How long after the first KILL to go on with what cannot be ended: another user's process, one
stuck in the kernel.
"""
STEP_S = 0.02
"""How often a tree that is being ended is looked at again, besides at each end of a child."""
KILL_STEP_S = 0.002
"""The same once it is killed: processes that fork and end live for less than a step."""
LINUX = sys.platform == "linux"
if LINUX:
    import _ctypes

    LIBRARY = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None is this program itself; typeshed wants a name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Tree:
    """The processes below one watcher: found, told to end, and waited for."""

    def __init__(self, watcher: int, tool: int, *, is_first: bool = False) -> None:
        self.watcher, self.is_first = watcher, is_first
        self.ended = False
        self.status = 0
        self.groups = {tool} - {0}

    def reap(self) -> bool:
        """Wait for every child that has ended; whether a child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.watcher:
                self.ended, self.status = True, status

    def left(self) -> bool:
        """Whether any process of the tree is left, after waiting for those that have ended."""
        return self.reap() or (not LINUX and bool(self.descendants()))

    def descendants(self) -> list[int]:
        """Every process of the tree that can be seen now; -1, which kill(2) takes for all others,
        where this process is the first of a namespace. There /proc is another namespace's.
        """
        if self.is_first:
            return [-1]
        if not LINUX:
            return self.by_listing(listing())
        return below(os.getpid())

    def by_listing(self, processes: dict[int, tuple[int, int]]) -> list[int]:
        """The tree by parents and process groups: `processes` maps a pid to its parent's pid and
        its group.
        """
        # This process's own group is never the tool's: whoever started it may be in that group too.
        here, own = os.getpid(), os.getpgrp()
        found, size = {here}, 0
        while size != len(found):
            size = len(found)
            for pid, (parent, group) in processes.items():
                if pid != here and (parent in found or group in self.groups):
                    found.add(pid)
                    self.groups |= {group} - {own}
        return sorted(found - {here})


def kill(pid: int, spared: int) -> None:
    """Kill a process and, in one step, its whole process group: no chain of forks outruns that.
    `spared` is a group to leave alone.
    """
    try:
        group = os.getpgid(pid)
        # 0 is the group of a process that another PID namespace holds, and would mean our own
        if group > 1 and group != spared:
            os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
    send(pid, signal.SIGKILL)


def send(pid: int, *numbers: int) -> None:
    """Send signals; a process that has just ended, or is another user's, is passed over."""
    try:
        for number in numbers:
            os.kill(pid, number)
    except OSError:
        return


def children(pid: int) -> list[int]:
    """The children of a process, over all its threads (Linux)."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            descriptor = os.open(f"/proc/{pid}/task/{thread}/children", os.O_RDONLY)
            try:
                while data := os.read(descriptor, 65536):
                    found.append(data)
            finally:
                os.close(descriptor)
    except OSError:
        pass
    return [int(child) for child in b"".join(found).split()]


def below(pid: int) -> list[int]:
    """Every process below another one (Linux); none elsewhere."""
    found: list[int] = []
    queue = children(pid)
    while queue:
        found.append(queue.pop())
        queue += children(found[-1])
    return found


def listing() -> dict[int, tuple[int, int]]:
    """Every process of the machine as `ps` shows it: its parent and its process group."""
    reader, writer = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, writer, 1)]
    # One `-o` for each: POSIX takes all that follows an equals sign as one heading.
    pid = os.posix_spawn(
        "/bin/ps",
        ["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "pgid="],
        {"LC_ALL": "C"},
        file_actions=actions,
    )
    os.close(writer)
    data = b""
    while more := os.read(reader, 65536):
        data += more
    os.close(reader)
    os.waitpid(pid, 0)
    rows = (line.split() for line in data.splitlines())
    return {
        int(row[0]): (int(row[1]), int(row[2]))
        for row in rows
        if len(row) == 3 and int(row[0]) != pid
    }


def prctl(option: int, value: int) -> None:
    """Call prctl(2) where there is one."""
    if LINUX:
        call("prctl", option, value, 0, 0, 0)


def call(name: str, *arguments: "int | bytes") -> None:
    """Call a function of the C library, whatever it answers (Linux)."""
    _ctypes.call_function(_ctypes.dlsym(LIBRARY, name), arguments)


def harden() -> None:
    """Let nothing of the tree gain rights by a program's set-user-ID bit or leave a core with
    secrets in it, nor read this process.

    A tool of the same user could otherwise open `/proc/PID/fd/0`, the control pipe. The tool itself
    can be read again: prctl(2).
    """
    if LINUX:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_DUMPABLE, 0)
        call("setrlimit", RLIMIT_CORE, bytes(16))


def tell(status: int, said: bytes) -> None:
    """Say a line to Vespe; where Vespe is dead already, nobody listens, and the tree is to end all
    the same.
    """
    try:
        os.write(status, said)
    except OSError:
        return


def start(command: "dict[str, Any]", status: int) -> tuple[int, int]:
    """Start the watcher and below it the tool; gives their pids, the tool's as the tool sees it,
    and as 0 where it has none. Raises OSError.
    """
    reader, writer = os.pipe()
    fork = os.fork
    if command["sandbox"] and not callable(command["sandbox"][0]):
        code, policy = command["sandbox"]
        space: dict[str, Any] = {"__name__": "vespe_sandbox"}
        exec(code, space)
        command["sandbox"] = space["enter"], policy
        if is_apart(policy):
            fork = space["fork_apart"]
    watcher = fork()
    if watcher == 0:
        watch_over(command, status, writer)
    os.close(writer)
    tool = int(os.read(reader, 32) or 0)
    os.close(reader)
    return watcher, tool


def is_apart(policy: "dict[str, Any]") -> bool:
    """Whether a policy puts the tool in a namespace of processes."""
    return bool(policy["namespaces"] and policy["namespaces"]["processes"])


def watch_over(command: "dict[str, Any]", status: int, writer: int) -> None:
    """Be the watcher: start the tool, wait for it, and where it ended well for what comes after it;
    tell how the last ended, and end.
    """
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ended, left = 0, command["programs"]
        while left and ended == 0:
            argv, *left = left
            tool = os.fork()
            if tool == 0:
                become(command, argv, status, writer)
            for descriptor in (
                *([writer] if writer >= 0 else ()),
                *(() if left else range(STDIN, command["given"])),
            ):
                os.close(descriptor)
            writer = -1  # it was told which is the first
            ended = wait_for(tool)
        tell(status, b"E %d\n" % ended)
        end_orphans()
    except OSError as error:
        tell(status, b"F %d start\n" % (error.errno or 0))
    finally:
        os._exit(0)


def wait_for(tool: int) -> int:
    """Wait for one child, and for orphans that end before it; gives its status."""
    pid = status = 0
    while pid != tool:
        pid, status = os.waitpid(-1, 0)
    return status


def end_orphans() -> None:
    """End what the tool has left in a namespace whose first process this is: TERM, and a grace;
    what is then left is killed as this process ends.
    """
    deadline = time.monotonic() + ORPHAN_GRACE_S
    told = os.getpid() != 1
    try:
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
            if not told:
                send(-1, signal.SIGTERM, signal.SIGCONT)
                told = True
            time.sleep(KILL_STEP_S)
    except ChildProcessError:
        return


def become(command: "dict[str, Any]", argv: list[bytes], status: int, writer: int) -> None:
    """Become the tool, in a session of its own, with default signals and no descriptors but its
    own: a program, or a fork of this one.
    """
    stage = b"start"
    try:
        # Said before any code of the tool runs, which might stop whoever else would say it.
        tell(status, b"S %d\n" % os.getpid())
        if writer >= 0:
            os.write(writer, b"%d" % os.getpid())
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in command.get("signals") or range(1, signal.NSIG):
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                continue
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.dup2(STDIN, 0)
        os.dup2(STDOUT, 1)
        if command["result"]:
            os.dup2(RESULT, 3)
        if command["ask"] >= 0:
            os.dup2(command["ask"], ASK)
        if command["sandbox"]:
            stage = b"sandbox"
            enter, policy = command["sandbox"]
            enter(policy, CHANNEL if command["channel"] else -1)
        stage = b"cwd"
        os.chdir(command["cwd"])
        stage = b"exec"
        if command["boot"] and (callable(command["boot"]) or is_single()):
            run_here(command)
        execute(argv, command["env"])
    except OSError as error:
        tell(status, b"F %d %s\n" % (error.errno or 0, stage))
    finally:
        os._exit(127)


def execute(
    argv: list[bytes], env: dict[bytes, bytes], run: "Callable[..., int]" = os.execve
) -> int:
    """Become the program, or `run` it and return its pid; a bare name is looked up in the absolute
    directories of the tool's own PATH. Raises OSError.
    """
    if b"/" in argv[0]:
        return run(argv[0], argv, env)
    failure: OSError = FileNotFoundError(2, "")
    for directory in env.get(b"PATH", b"/usr/bin:/bin").split(b":"):
        # A relative or empty entry would be the project's directory, whose bytes nobody has
        # approved.
        if directory.startswith(b"/"):
            try:
                return run(directory + b"/" + argv[0], argv, env)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except PermissionError as error:
                failure = error
    raise failure


def is_single() -> bool:
    """Whether this process has one thread, so that a fork of it can go on without an exec; never
    outside Linux, and not where that cannot be read.
    """
    try:
        return LINUX and len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def run_here(command: "dict[str, Any]") -> None:
    """Be the interpreter that was to be started: as it is after its start, and with what its `-c`
    would run.
    """
    try:
        signal.set_wakeup_fd(-1)
        ignored = signal.SIG_IGN
        for number, handler in (
            ("SIGPIPE", ignored),
            ("SIGXFSZ", ignored),
            ("SIGINT", signal.default_int_handler),
        ):
            signal.signal(getattr(signal, number), handler)
        os.closerange(ASK + (command["ask"] >= 0), min(max(os.sysconf("SC_OPEN_MAX"), 256), 65536))
        prctl(PR_SET_DUMPABLE, 1)
        sys.argv = ["-c", "3"]
        command["boot"]() if callable(command["boot"]) else exec(
            command["boot"], sys.modules["__main__"].__dict__
        )
        os._exit(0)
    except BaseException:  # as an interpreter ends that nothing was caught in
        sys.excepthook(*sys.exc_info())
        os._exit(1)


class Watch:
    """What this process waits for: the ends of children, Vespe's word, Vespe's death.

    `pidfd` is Vespe where its number means nothing, in another namespace of processes.
    """

    def __init__(self, vespe: int, pidfd: int = -1) -> None:
        self.poll = select.poll()
        self.wake, wake = os.pipe()
        for descriptor in (self.wake, wake):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.poll.register(self.wake, select.POLLIN)
        self.vespe = -1
        try:
            # A process that Vespe forked may hold the control pipe open after Vespe's death: watch
            # Vespe itself too.
            self.vespe = os.pidfd_open(vespe) if pidfd < 0 else pidfd
            self.poll.register(self.vespe, select.POLLIN)
        except (AttributeError, OSError):
            pass

    def begin(self) -> None:
        """Listen to Vespe, on a control pipe that may be another one than before."""
        self.poll.register(CONTROL, select.POLLIN)

    def wait(self, seconds: float | None) -> float | None:
        """Wait for anything to happen; gives the grace where the tree is to end now."""
        ready = [
            descriptor
            for descriptor, _ in self.poll.poll(
                None if seconds is None else max(0, round(seconds * 1000))
            )
        ]
        if self.wake in ready:
            os.read(self.wake, 4096)
        if self.vespe in ready:
            self.poll.unregister(self.vespe)
            return ORPHAN_GRACE_S
        if CONTROL in ready:
            said = os.read(CONTROL, 64)
            if said:
                return grace_in(said)
            self.poll.unregister(CONTROL)
            return ORPHAN_GRACE_S
        return None


def grace_in(said: bytes) -> float | None:
    """The grace that a line of the control pipe names; None for anything else, which is not
    Vespe's.
    """
    for line in said.split(b"\n"):
        if line.replace(b".", b"", 1).isdigit():
            return float(line)
    return None


def end(tree: Tree, watch: Watch, grace_s: float) -> None:
    """TERM, the grace, KILL, until nothing is left; Vespe's death shortens the grace."""
    deadline = time.monotonic() + grace_s
    told: set[int] = set()
    own = os.getpgrp()
    while tree.left() and (now := time.monotonic()) < deadline + GIVE_UP_S:
        for pid in tree.descendants():
            if now >= deadline:
                kill(pid, own)
            elif pid not in told:
                told.add(pid)
                # A stopped process dies of TERM only when it runs again.
                send(pid, signal.SIGTERM, signal.SIGCONT)
        shorter = watch.wait(KILL_STEP_S if now >= deadline else STEP_S)
        if shorter is not None:
            deadline = min(deadline, time.monotonic() + shorter)


def prepare() -> None:
    """Be a process that only Vespe ends, and that gets the orphans of what it starts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    harden()
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def outlive(tree: Tree, watch: Watch, status: int = -1) -> None:
    """Wait until the tool has ended or is to end, and then for all that it has started; tell how on
    `status`, where no watcher does.
    """
    grace = None
    while tree.reap() and not tree.ended and grace is None:
        grace = watch.wait(None)
    was_told = tree.ended
    if was_told and status >= 0:
        tell(status, b"E %d\n" % tree.status)
    end(tree, watch, ORPHAN_GRACE_S if grace is None else grace)
    # A tool that was ended on request has ended too, and its supervisor can serve the next call.
    if tree.ended and not was_told and status >= 0:
        tell(status, b"E %d\n" % tree.status)


def main(command: "dict[str, Any]") -> None:
    """Supervise one command, from its start until nothing of it is left."""
    prepare()
    # A tool may have stopped this process too; the death of Vespe lets it go on, and end the tree.
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    os.closerange(command["given"], min(max(os.sysconf("SC_OPEN_MAX"), 256), 65536))
    for descriptor in (CONTROL, STATUS, *range(STDIN, command["given"])):
        os.set_inheritable(descriptor, False)
    status = os.dup(STATUS)
    watch = Watch(command["vespe"])
    watch.begin()
    try:
        tree = Tree(*start(command, status))
    except OSError as error:
        tell(
            status,
            b"F %d %s\n" % (error.errno or 0, b"sandbox" if command["sandbox"] else b"start"),
        )
        os._exit(0)
    for descriptor in range(STDIN, command["given"]):
        os.close(descriptor)
    outlive(tree, watch)
    os._exit(0)
