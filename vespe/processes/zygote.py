"""An interpreter that is ready: it forks supervisors, and each of those forks one process a
call.
"""

# workers.py starts this with `-I -B -X utf8` and the environment of the calls; it imports nothing
# of Vespe: the supervisor's code arrives with the message. It is never threaded, imports what the
# tools depend on and nothing of theirs, and keeps no argument and no secret of a call: those are
# read by the fork that is the call's own, or by the supervisor of a program (below).
#
# Vespe says on descriptor 0 "s" with a socket, for one more supervisor, "a" for one that is apart,
# "d" with a file that names it, for a temporary directory that is to go with Vespe, and "x" for the
# end; the end of file says that too. A supervisor serves one call after another from its socket:
# seven descriptors (those of supervisor.py, and a file with the command), and with "C" or "P"
# before the file the one that the tool asks a person by; then what of the next call is to be made
# ahead (below), and "f" for a fork or "s" for a program that a thread starts. It says nothing on
# the status pipe before the tool is there: a call whose status pipe ends so has not begun, and can
# begin elsewhere. A supervisor that a tool has killed leaves its tree to the zygote, which ends it
# and only then closes that socket.
#
# With an eighth descriptor, a policy, a supervisor makes what calls under that policy have in
# common: the namespace of mounts that each of them has a copy of, and the rules on files. From then
# on it serves such calls alone. It holds no code, input or secret of a tool; temporary directory,
# shared memory, IPC and network are made for each call. That saves a call a quarter of its time;
# in a home directory of 10,000 entries 40 of 46 ms.
#
# Such a supervisor makes a spare after a call, where Vespe says "+" to that: the process of the
# next call, forked and in namespaces of its own before there is a call. It has read nothing of one,
# and no tool runs beside it: it is made when all that the last call started is gone, is used once,
# and ends with its supervisor. Whether the policy is still what would be made is asked at the call;
# where it is not, this supervisor ends, with its spare. "---" ends the spare alone: Vespe keeps two
# at most, and wants none while other calls keep the processors busy. A Python call after a pause
# takes a third less for it, and one right after another 10 to 25 % less. A spare holds 1.1 MiB of
# its own.
#
# With "n" and one more file, what is the call's own, the supervisor keeps the mounts and the rules
# of that call for the next ones that have the same temporary directory, "k", as long as nothing is
# in it or in the shared memory: Vespe looks at the first, this process at the other. Then a spare
# is held to its policy before there is a call, which saves that call 40 system calls, and the
# mounts are not taken down when it ends. System V IPC and network are still each call's own. "N",
# "K" and "-" are "n", "k" and "+" without a spare.
#
# With "s" the tool is a sandboxed program, and the supervisor starts it without a fork of this
# interpreter, whose copied pages the program would throw away at once. A thread reads the command,
# enters the sandbox, starts the program by posix_spawn, and ends: Linux keeps namespaces,
# capabilities, Landlock's rules and filters for each thread, and what a thread starts gets them.
# A batch of a shell tool takes a third less processor time for it, and makes twice as many calls a
# second. There is no spare then. Parts of commands may stay in this process's memory: nobody else
# can read it, and a zygote of programs never forks a Python tool. Most programs run before the
# thread has ended, and could change the limits of this process, or hold the thread up, by the
# thread's number: the thread puts that into its filter. A supervisor with other limits than before
# still ends after the call. Where the start of a program hangs, as on a file system that does not
# answer, so does this process: Vespe kills it, or the zygote where Vespe is gone.
#
# A supervisor that is apart is the first process of a namespace of processes: its calls see no
# others, and cannot end it. The filter keeps its limits and priority from them (sandbox/filter.py),
# and each call, or all under one policy, has a /proc of its own. A namespace for each call would
# cost a process more between the supervisor and the tool, 0.5 ms.

import _signal as signal  # type: ignore[import-not-found]  # as in supervisor.py
import array
import gc
import marshal
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any, NoReturn

CHANNEL, OWN, VESPE = 0, 6, 7
"""Where the zygote hears Vespe, and where a supervisor does, above the descriptors of a call; what
says that Vespe is gone to one that is apart.
"""
IDLE_S = 30.0
MAX_CALLS = 10_000
GROWTH_PAGES = 2048
"""A supervisor that has grown by so much (8 MiB), or has served so many calls, ends, and another
one is forked.
"""
NOT_STARTED = 127 << 8
"""How a process ends that could not become its program."""
HANGS_S = 2.0
"""A supervisor that Vespe's end does not end hangs, where nothing has happened for so long."""
GONE_S = 1.0
"""How long after its sockets were closed Vespe is gone."""
MAX_DIRECTORIES = 256
"""With so many, those that are there no more are forgotten."""
LOOK_EVERY = 256
RULES_EVERY = 256
"""After so many calls the rules are made anew: those of each call's own directories stay in them.
"""
ONE_FD = array.array("i", [0]).itemsize
SOL_SOCKET, SCM_RIGHTS, CLOSE_ON_EXEC = 1, 1, 0x40000000
"""As Linux has them: unix(7), and MSG_CMSG_CLOEXEC of recvmsg(2)."""


def main(message: "dict[str, Any]") -> "NoReturn":
    """Import what the message says, and fork supervisors until nobody wants one."""
    supervisor = made("vespe_supervisor", message["supervisor"])
    supervisor.prepare()
    if why := imported(message["preload"]) or (
        "" if supervisor.is_single() else "it starts threads"
    ):
        os.write(CHANNEL, why.encode("utf-8", "replace")[:200])
        os._exit(1)
    message["enter"] = made("vespe_sandbox", message["enter"])
    message["ready"] = scripts = [made("vespe_child", code) for code in message["scripts"]]
    rehearse(scripts)
    compile("", "", "exec")  # the first one makes some hundred types, 2 ms of each call otherwise
    gc.collect()
    gc.freeze()
    Zygote(supervisor, message).run()
    os._exit(0)


def made(name: str, code: "Any") -> "Any":
    """Return one of our own scripts as a module that nothing can import."""
    module = type(sys)(name)
    exec(code, module.__dict__)
    return module


def rehearse(scripts: "list[Any]", **how: int) -> None:
    """Let the first script make its calls of nothing, where it has some; what goes wrong there goes
    wrong in a call, which says it.
    """
    if hasattr(scripts[0] if scripts else None, "rehearse"):
        try:
            scripts[0].rehearse(*scripts[1:], **how)
        except Exception:
            return


def imported(distributions: "list[str]") -> str:
    """Import the modules of distributions; say why a fork of this would not be what a new
    interpreter is, or nothing.
    """
    before, said = state(), os.memfd_create("said")
    kept = os.dup(1)
    for descriptor in (1, 2):
        os.dup2(said, descriptor)
    try:
        for name in modules(distributions):
            try:
                __import__(name)
            except BaseException as error:  # the tool's own import will say it
                return f"{name} does not import: {type(error).__name__}"
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        if os.fstat(said).st_size:
            return "it writes something when it is imported"
    finally:
        for descriptor in (1, 2):
            os.dup2(kept, descriptor)
        os.close(said)
        os.close(kept)
    return "" if state() == before else "it opens files or handles signals when it is imported"


def state() -> "tuple[Any, ...]":
    """What a fork would share with its siblings, or get from an import though its own would have
    come later.
    """
    handlers = [
        signal.getsignal(number) for number in range(1, signal.NSIG) if number not in (32, 33)
    ]
    return sorted(os.listdir("/proc/self/fd")), handlers, os.getcwd(), dict(os.environ)


def handled() -> "list[int]":
    """Return the signals that this process handles or ignores, by whatever code:
    proc_pid_status(5).
    """
    with open("/proc/self/status", "rb") as file:
        masks = [
            int(line.split()[1], 16) for line in file if line.startswith((b"SigIgn:", b"SigCgt:"))
        ]
    return [
        number
        for number in range(1, signal.NSIG)
        if any(mask >> (number - 1) & 1 for mask in masks)
    ]


def modules(distributions: "list[str]") -> "list[str]":
    """Return the names that distributions bring, as their RECORD lists them."""
    wanted = {name.lower().replace("-", "_").replace(".", "_") for name in distributions}
    found: list[str] = []
    for directory in sys.path if wanted else ():
        for entry in os.listdir(directory) if os.path.isdir(directory) else ():
            name, _, rest = entry.partition("-")
            if rest.endswith(".dist-info") and name.lower().replace(".", "_") in wanted:
                found += recorded(os.path.join(directory, entry, "RECORD"))
    return sorted({name for name in found if name.isidentifier() and not name.startswith("_")})


def recorded(path: str) -> "list[str]":
    try:
        with open(path, encoding="utf-8") as file:
            files = [line.split(",")[0] for line in file]
    except OSError:
        return []
    inits = [
        name.removesuffix("/__init__.py")
        for name in files
        if name.endswith("/__init__.py") and name.count("/") == 1
    ]
    return inits + [
        name.removesuffix(".py") for name in files if name.endswith(".py") and "/" not in name
    ]


def received(connection: "socket.socket", most: int, size: int = 1) -> "tuple[bytes, list[int]]":
    """Take one message of so many bytes, and its descriptors, which no program inherits: what a
    tool is to have is copied to where the tool expects it.
    """
    data, ancillary, _, _ = connection.recvmsg(size, most * ONE_FD + 64, CLOSE_ON_EXEC)
    found = array.array("i")
    for _, _, item in ancillary:
        found.frombytes(item[: len(item) - len(item) % ONE_FD])
    return data, list(found)


def pair() -> "tuple[socket.socket, socket.socket]":
    """Return two sockets that are connected to each other."""
    import _socket

    return _socket.socketpair()  # type: ignore[return-value]  # as in `connected`


def connected(descriptor: int) -> "socket.socket":
    import _socket

    return _socket.socket(fileno=descriptor)  # type: ignore[return-value]  # the core of socket.socket, whose module costs 8 ms


class Zygote:
    """Forks supervisors, and ends what one leaves that was killed."""

    def __init__(self, supervisor: "Any", message: "dict[str, Any]") -> None:
        self.supervisor, self.message = supervisor, message
        self.watch = supervisor.Watch(message["vespe"])
        self.watch.poll.register(CHANNEL, select.POLLIN)
        self.connection = connected(CHANNEL)
        self.supervisors: dict[int, int] = {}
        self.directories: set[bytes] = set()
        self.is_cut = False

    def run(self) -> None:
        """Serve until Vespe is gone, says the end, or has wanted nothing for a while, and no
        supervisor is left.
        """
        wanted = True
        patience_s: float | None = None
        while wanted or self.supervisors:
            wait_s = patience_s if self.supervisors else IDLE_S
            ready = {
                descriptor
                for descriptor, _ in self.watch.poll.poll(None if wait_s is None else wait_s * 1000)
            }
            if self.watch.wake in ready:
                os.read(self.watch.wake, 4096)
            self.reap()
            if CHANNEL in ready and wanted:
                wanted = self.serve()
            if self.watch.vespe in ready:
                self.ignore(self.watch.vespe)
                wanted, patience_s = False, HANGS_S
            elif not ready:
                wanted = False
                self.end_supervisors()
            if not wanted:
                self.ignore(CHANNEL)
        self.tidy()

    def end_supervisors(self) -> None:
        """Kill those that have not ended with Vespe, such as one whose program's start hangs."""
        for pid in self.supervisors:
            os.kill(pid, signal.SIGKILL)

    def tidy(self) -> None:
        """Delete the empty directories that Vespe has kept for calls, where it is gone without
        having done so.
        """
        gone = select.poll()
        if self.watch.vespe < 0:
            return
        gone.register(self.watch.vespe, select.POLLIN)
        # its sockets are closed a moment before its end is told
        if not gone.poll(GONE_S * 1000 if self.is_cut else 0):
            return
        for path in self.directories:
            try:
                os.rmdir(path)
            except OSError:
                continue

    def ignore(self, *descriptors: int) -> None:
        for descriptor in descriptors:
            try:
                self.watch.poll.unregister(descriptor)
            except (KeyError, ValueError):
                continue

    def serve(self) -> bool:
        """Do what Vespe says; False at its end."""
        said, descriptors = received(self.connection, 1)
        if said == b"d" and len(descriptors) == 1:
            if len(self.directories) >= MAX_DIRECTORIES:
                self.directories = set(filter(os.path.lexists, self.directories))
            self.directories.add(loaded(descriptors[0]))
            return True
        self.is_cut = not said
        if said not in (b"s", b"a") or len(descriptors) != 1:
            return False
        apart = said == b"a"
        try:
            pid = self.message["enter"].fork_apart() if apart else os.fork()
        except OSError:
            pid = -1
        if pid == 0:
            self.become(descriptors[0], apart=apart)
        if pid > 0:
            self.supervisors[pid] = descriptors[0]
            self.supervisor.tell(descriptors[0], b"%d\n" % pid)
        else:
            os.close(descriptors[0])
        return True

    def become(self, channel: int, *, apart: bool) -> "NoReturn":
        """Be a supervisor, with nothing open but its own socket."""
        self.directories.clear()  # of other tools
        try:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(channel, 1000, inheritable=False)
            vespe = self.watch.vespe if apart else -1
            if vespe >= 0:
                os.dup2(vespe, 999, inheritable=False)
            for descriptor in range(OWN):
                os.dup2(null, descriptor, inheritable=descriptor == 2)
            os.dup2(1000, OWN, inheritable=False)
            if vespe >= 0:
                os.dup2(999, VESPE, inheritable=False)
            first = VESPE + (vespe >= 0)
            os.closerange(first, min(max(os.sysconf("SC_OPEN_MAX"), 1001), 65536))
            pidfd = VESPE if vespe >= 0 else -1
            Supervisor(self.supervisor, self.message, apart=apart, pidfd=pidfd).run()
        finally:
            os._exit(0)

    def reap(self) -> None:
        """Wait for supervisors that have ended, end what they have left, and only then say that
        they are gone.
        """
        ended = []
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid in self.supervisors:
                ended.append(self.supervisors.pop(pid))
        if ended:
            self.sweep()
        for channel in ended:
            os.close(channel)

    def sweep(self) -> None:
        """Kill every child that is no supervisor, with all that is below it."""
        until = time.monotonic() + self.supervisor.GIVE_UP_S
        own = os.getpgrp()
        while time.monotonic() < until:
            queue = [
                pid for pid in self.supervisor.children(os.getpid()) if pid not in self.supervisors
            ]
            if not queue:
                return
            left = list(queue)
            while queue:
                pid = queue.pop()
                queue += self.supervisor.children(pid)
                self.supervisor.kill(pid, own)
            for pid in left:
                os.waitpid(pid, 0)


class Supervisor:
    """Serves one call after another: each is one fork, and nothing of it is left when the next
    begins.
    """

    def __init__(
        self, supervisor: "Any", message: "dict[str, Any]", *, apart: bool, pidfd: int
    ) -> None:
        self.supervisor, self.message, self.apart = supervisor, message, apart
        supervisor.prctl(supervisor.PR_SET_CHILD_SUBREAPER, 1)
        self.watch = supervisor.Watch(-1 if apart else message["vespe"], pidfd)
        self.connection = connected(OWN)
        self.null = os.open(os.devnull, os.O_RDWR)
        self.size = resident()
        self.handled, self.limits = handled(), limits()
        self.policy: dict[str, Any] = {}
        self.rules = -1
        self.spare: tuple[int, socket.socket] | None = None
        self.kept: tuple[Any, ...] | None = None
        self.spare_is_kept = self.is_spawned = False

    def run(self) -> None:
        """Serve until Vespe is gone, nothing was wanted for a while, or this process is worn
        out.
        """
        idle = select.poll()
        for descriptor in (OWN, self.watch.vespe):
            if descriptor >= 0:
                idle.register(descriptor, select.POLLIN)
        for calls in range(1, MAX_CALLS + 1):
            ready = [descriptor for descriptor, _ in idle.poll(IDLE_S * 1000)]
            if OWN not in ready:
                return
            said, descriptors = received(self.connection, 10, 3)
            if said == b"---":
                self.end_spare()
                continue
            said, wanted, is_spawned = said[:1], said[1:2], said[2:] == b"s"
            asks, of_call = said in (b"C", b"P"), None
            if wanted in (b"n", b"N") and len(descriptors) >= 8 + asks:
                of_call = loaded(descriptors.pop())
            if said in (b"p", b"P") and len(descriptors) == 8 + asks:
                self.share(descriptors.pop())
            if len(descriptors) != 7 + asks or not said:
                return
            if self.policy and calls % RULES_EVERY == 0:
                os.close(self.rules)
                self.rules = self.message["enter"].ruleset(self.policy)
            is_kept = wanted in (b"k", b"K")
            ask = descriptors.pop(6) if asks else -1
            self.is_spawned = is_spawned and self.policy != {}
            self.serve(descriptors, ask, is_kept=is_kept and self.kept is not None)
            if self.is_spawned and limits() != self.limits:
                return
            self.keep(of_call, is_kept=is_kept)
            if self.policy and wanted in (b"+", b"n", b"k"):
                self.make_spare(is_kept=self.kept is not None and wanted != b"+")
            if calls % LOOK_EVERY == 0 and resident() > self.size + GROWTH_PAGES:
                return

    def share(self, file: int) -> None:
        """Make what all calls under a policy have in common; this process ends where that fails,
        and the call begins elsewhere.
        """
        try:
            self.policy = loaded(file)
            self.rules = self.message["enter"].share(self.policy)
        except OSError:
            os._exit(1)
        self.size = resident()

    def keep(self, of_call: "dict[str, Any] | None", *, is_kept: bool) -> None:
        """Keep the mounts and rules of a call that is over; let those go that a call has left
        something in.
        """
        enter = self.message["enter"]
        if is_kept and self.kept is not None and not enter.is_fresh(self.kept):
            of_call = self.kept[-1]
        if of_call is None:
            return
        if self.kept is not None:
            kept, self.kept = self.kept, None
            enter.let_go(kept[:4])
        try:
            self.kept = *enter.keep(self.policy, of_call), of_call
        except OSError:  # each call has its own then
            return

    def serve(self, descriptors: "list[int]", ask: int, *, is_kept: bool = False) -> None:
        """Run one call to the end of all that it started; one that cannot begin leaves its status
        pipe empty. `ask` is what the tool asks by.
        """
        *standard, command = descriptors
        for number, descriptor in enumerate(standard):
            os.dup2(descriptor, number, inheritable=number == 2)
            os.close(descriptor)
        self.watch.begin()
        status = os.dup(self.supervisor.STATUS)
        try:
            # Where Vespe has said or closed something already, it has given the call up.
            if not any(
                descriptor == self.supervisor.CONTROL for descriptor, _ in self.watch.poll.poll(0)
            ):
                if self.spare_is_kept is not is_kept:
                    self.end_spare()  # no tool runs beside one
                tool = self.started(command, status, ask, is_kept=is_kept)
                if ask >= 0:
                    os.close(ask)
                    ask = -1
                self.outlive(tool, status)
        except OSError:  # no process is left for a fork
            pass
        finally:
            # first: by its end Vespe knows that the call is over
            os.dup2(self.null, self.supervisor.STATUS, inheritable=False)
            os.close(status)
            for file in (command, *([ask] if ask >= 0 else ())):
                os.close(file)
            for number in range(OWN):
                if number != self.supervisor.STATUS:
                    os.dup2(self.null, number, inheritable=number == 2)

    def make_spare(self, *, is_kept: bool) -> None:
        """Fork the process of the next call, and let it begin with what is the same for each."""
        self.end_spare()
        self.spare_is_kept = is_kept
        ours, theirs = pair()
        try:
            pid = os.fork()
        except OSError:  # the next call tries again
            return
        if pid == 0:
            ours.close()
            self.be_spare(theirs)
        self.spare = pid, ours

    def be_spare(self, channel: "socket.socket") -> "NoReturn":
        """Hold this process to what is the same for each call; then be the tool of one, or end with
        the supervisor.
        """
        try:
            self.supervisor.prctl(self.supervisor.PR_SET_PDEATHSIG, signal.SIGKILL)
            # only its supervisor is to hold it: that it is gone is seen by its end
            os.close(OWN)
            enter = self.message["enter"]
            if self.spare_is_kept:
                enter.enter_kept(self.policy, self.kept)
            else:
                enter.begin_shared(self.policy)
            # its pages are copied now that a call would copy
            rehearse(self.message["ready"], times=1)
            said, descriptors = received(channel, 7)
            asks = said == b"C"
            if len(descriptors) == 6 + asks:
                ask = descriptors.pop() if asks else -1
                *standard, status, command = descriptors
                for number, descriptor in enumerate(standard, self.supervisor.STDERR):
                    os.dup2(descriptor, number, inheritable=number == 2)
                self.become(command, status, ask, is_spare=True, is_kept=self.spare_is_kept)
        finally:
            os._exit(127)

    def use_spare(self, status: int, command: int, ask: int) -> int:
        """Give a call to the process that was made for it; 0 where there is none."""
        if self.spare is None:
            return 0
        (pid, channel), self.spare = self.spare, None
        supervisor = self.supervisor
        standard = range(supervisor.STDERR, supervisor.RESULT + 1)
        files = array.array("i", [*standard, status, command, *([ask] if ask >= 0 else ())])
        try:
            channel.sendmsg([b"C" if ask >= 0 else b"c"], [(SOL_SOCKET, SCM_RIGHTS, files)])
        except OSError:  # it has ended
            pid = 0
        channel.close()
        return pid

    def end_spare(self) -> None:
        """Let the process end that was made for the next call, and wait for it."""
        if self.spare is not None:
            (pid, channel), self.spare = self.spare, None
            channel.close()
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError:
                return

    def started(self, file: int, status: int, ask: int, *, is_kept: bool) -> int:
        """Start the tool of a call, and return its pid; 0 where there is none. Raises OSError."""
        if self.is_spawned:
            tool = self.spawn(loaded(os.dup(file)), status, ask, is_kept=is_kept)
            if tool == 0:
                self.supervisor.tell(status, b"E %d\n" % NOT_STARTED)
            return tool
        tool = self.use_spare(status, file, ask) or os.fork()
        if tool == 0:
            self.become(file, status, ask, is_kept=is_kept)
        return tool

    def spawn(self, command: "dict[str, Any]", status: int, ask: int, *, is_kept: bool) -> int:
        """Start a program from a thread that is held to the policy; 0 where it does not start."""
        import _thread

        over, pids = _thread.allocate_lock(), []

        def run() -> None:
            try:
                pids.append(self.spawn_here(command, status, ask, is_kept=is_kept))
            finally:
                over.release()

        over.acquire()
        try:
            _thread.start_new_thread(run, ())
        except RuntimeError as error:
            raise OSError(str(error)) from None
        over.acquire()
        return pids[0] if pids else 0

    def spawn_here(self, command: "dict[str, Any]", status: int, ask: int, *, is_kept: bool) -> int:
        """Hold this thread to the policy for good, and start the program, which gets all of that
        from the thread; 0 where it does not start.
        """
        supervisor, enter = self.supervisor, self.message["enter"]
        copies = [(supervisor.STDIN, 0), (supervisor.STDOUT, 1)]
        copies += [(supervisor.RESULT, 3)] if command["result"] else []
        copies += [(ask, supervisor.ASK)] if ask >= 0 else []

        def start(path: bytes, argv: "list[bytes]", env: "dict[bytes, bytes]") -> int:
            os.stat(path)  # where nothing is there, this says it without a process
            return os.posix_spawn(
                path,
                argv,
                env,
                file_actions=[(os.POSIX_SPAWN_DUP2, old, new) for old, new in copies],
                setsid=True,
                setsigmask=(),
                setsigdef=self.handled,
            )

        # Said before any code of the tool runs, as in `supervisor.become`; it has no number yet.
        supervisor.tell(status, b"S 0\n")
        stage = b"sandbox"
        try:
            enter.leave_the_other_threads()
            if is_kept:
                enter.enter_kept(self.policy, self.kept)
            else:
                enter.enter_shared(self.policy, command["sandbox"][1], self.rules)
            stage = b"cwd"
            os.chdir(command["cwd"])
            stage = b"exec"
            return int(supervisor.execute(command["programs"][0], command["env"], start))
        except OSError as error:
            supervisor.tell(status, b"F %d %s\n" % (error.errno or 0, stage))
            return 0

    def outlive(self, tool: int, status: int) -> None:
        for number in (self.supervisor.STDIN, self.supervisor.STDOUT, self.supervisor.RESULT):
            os.dup2(self.null, number, inheritable=False)
        tree = self.supervisor.Tree(tool, tool, is_first=self.apart)
        self.supervisor.outlive(tree, self.watch, status)
        if tree.left():
            os._exit(1)  # what cannot be ended is not the next call's

    def become(
        self, file: int, status: int, ask: int, *, is_spare: bool = False, is_kept: bool = False
    ) -> "NoReturn":
        """Read the command, which no other process of ours does, and be the tool."""
        try:
            command = loaded(file)
            if command["sandbox"]:
                enter = self.message["enter"].enter
                if self.policy:
                    enter = self.end_shared if is_spare else self.enter_shared
                command["sandbox"] = enter, command["sandbox"][1]
                if is_kept:
                    command["sandbox"] = None if is_spare else (self.enter_kept, None)
            command["signals"], command["ask"] = self.handled, ask
            if command["boot"]:
                command["boot"] = self.child
                # what is not in this environment already
                for name, value in command["env"].items():
                    os.environb[name] = value
            self.supervisor.become(command, command["programs"][0], status, -1)
        finally:
            os._exit(127)

    def enter_shared(self, of_call: "dict[str, Any]", _: int) -> None:
        self.message["enter"].enter_shared(self.policy, of_call, self.rules)

    def end_shared(self, of_call: "dict[str, Any]", _: int) -> None:
        self.message["enter"].end_shared(self.policy, of_call, self.rules)

    def enter_kept(self, _: None, __: int) -> None:
        self.message["enter"].enter_kept(self.policy, self.kept)

    def child(self) -> None:
        """What BOOT does in an interpreter of its own, with our scripts made already."""
        first, *others = self.message["ready"]
        first.main([marshal.loads(self.read(int.from_bytes(self.read(8), "big"))), *others])

    @staticmethod
    def read(size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = os.read(0, size - len(data))
            if not more:
                os._exit(1)
            data += more
        return data


def loaded(file: int) -> "Any":
    """Read what a file in memory holds, and close it."""
    try:
        data = marshal.loads(os.pread(file, os.fstat(file).st_size, 0))
    finally:
        os.close(file)
    return data


def limits() -> bytes:
    """The limits of this process, which what it starts begins with."""
    file = os.open("/proc/self/limits", os.O_RDONLY)
    try:
        return os.read(file, 65536)
    finally:
        os.close(file)


def resident() -> int:
    """The pages that this process has in memory."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1])
