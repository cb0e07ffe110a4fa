"""The table of sandbox escapes, each with a similar action that is allowed (its twin). The tests
and `vespe doctor --escapes` try them, and docs/escapes.md lists them.

Attacks and twins are Python that uses the functions of `attempts.py`. An attack succeeds if it
raises no exception and its value is not False. Then it got through, unless the policy has the gap
`gap`.
"""

from typing import Final

from vespe.features.escapes.blind_ways import BLIND
from vespe.features.escapes.ways import Way
from vespe.models import Permissions

STATED: Final = {
    "closed": Permissions(
        read=("docs", "out"), write=("out",), network=(), programs=("cat", "sh"), memory_mb=256
    ),
    "links": Permissions(
        read=(
            "docs",
            "within",
            "keys",
            "chain",
            "by-proc",
            "led",
            "led/docs",
            "~/../project/keys2",
        ),
        write=("out", "made", "lent", "cache", "tools", "~/.absent", "later/x", "profile"),
        network=(),
        programs=("true", "./program", "./document"),
    ),
    "hosts": Permissions(network=("example.org",)),
    "sockets": Permissions(network=(), sockets=("~/docs/socket", "lent-socket")),
}
"""The permissions of the policies that state any."""
TITLES: Final = {
    "default": "A tool that states no permissions",
    "closed": "A tool that states few permissions",
    "hosts": "A tool that states a host",
    "sockets": "A tool that states a Unix socket",
    "links": "A tool whose stated paths are links",
    "late": "Files that are created or replaced while a tool runs",
    "home": "A project that is the home directory",
    "late home": "Files that are created while a tool runs in a project that is the home directory",
}
"""The title of each policy, in the order in which they are tried and shown."""


ROWS: Final = (
    *BLIND,  # first, because some rows below move the files that these use
    # ---- keys and tokens
    Way("read a key", "read(H/'.ssh/id')", "read(H/'notes')"),
    Way(
        "read a key through a symbolic link that the tool creates",
        "link(H/'.ssh/id', P/'l1'); read(P/'l1')",
        "link(H/'notes', P/'l2'); read(P/'l2')",
    ),
    Way("read a key through an existing symbolic link", "read(P/'to-key')", "read(P/'to-notes')"),
    Way(
        "read a key through a hard link",
        "os.link(H/'.ssh/id', P/'h1'); read(P/'h1')",
        "write(P/'h0'); os.link(P/'h0', P/'h2'); read(P/'h2')",
    ),
    Way(
        "read a key through /proc/self/root",
        "read(f'/proc/self/root{H}/.ssh/id')",
        "read(f'/proc/self/root{H}/notes')",
    ),
    Way(
        "read a key through /proc/self/cwd",
        "os.chdir(H); read('/proc/self/cwd/.ssh/id')",
        "os.chdir(H); read('/proc/self/cwd/notes')",
    ),
    Way(
        "read a key through another process's /proc/PID/root",
        "read(f'/proc/{VICTIM}/root{H}/.ssh/id')",
        "read(f'/proc/{os.getpid()}/root{H}/notes')",
    ),
    Way(
        "read a key by a path with ..",
        "read(P/'..'/'home'/'.ssh'/'id')",
        "read(P/'..'/'home'/'notes')",
    ),
    Way(
        "read a key relative to a directory descriptor (openat)",
        "at(H, '.ssh/id')",
        "at(H, 'notes')",
    ),
    Way("read a key by reopening an O_PATH descriptor", "again(H/'.ssh/id')", "again(H/'notes')"),
    Way(
        "move the directory with the keys into the project",
        "os.rename(H/'.ssh', P/'s'); os.rename(P/'s', H/'.ssh') or True",
        "os.mkdir(P/'d1'); os.rename(P/'d1', P/'d2')",
    ),
    Way(
        "read a key through a symbolic link to its directory",
        "link(H/'.ssh', P/'s2'); read(P/'s2/id')",
        "link(H/'docs', P/'d3'); read(P/'d3/a')",
    ),
    Way(
        "read a key with cat",
        "out('cat', H/'.ssh/id')",
        "out('cat', H/'notes')",
        needs="cat",
    ),
    Way(
        "read a key with git",
        "out('git', 'hash-object', H/'.ssh/id')",
        "out('git', 'hash-object', H/'notes')",
        needs="git",
    ),
    Way(
        "read a key with Node.js",
        "out('node', '-e', f'fs.readFileSync({str(H)!r} + \"/.ssh/id\")')",
        "out('node', '-e', f'fs.readFileSync({str(H)!r} + \"/notes\")')",
        needs="node",
    ),
    Way(
        "read a key with a C compiler",
        "out('cc', '-E', '-x', 'c', '-include', H/'.ssh/id', '/dev/null')",
        "out('cc', '-E', '-x', 'c', '-include', H/'notes', '/dev/null')",
        needs="cc",
    ),
    Way("read a key after chroot", "os.chroot(H); read('/.ssh/id')", "os.chdir(H); read('notes')"),
    Way("read a token in the home directory", "read(H/'.netrc')", "read(H/'notes')"),
    Way("read a mail password", "read(H/'.msmtprc')", "read(H/'notes')"),
    Way(
        "read a key in the directory that GNUPGHOME names",
        "read(H/'elsewhere/gnupg/key')",
        "read(H/'elsewhere/notes')",
    ),
    Way(
        "read a token in the directory that XDG_CONFIG_HOME names",
        "read(H/'elsewhere/config/gh/hosts.yml')",
        "read(H/'elsewhere/config/app')",
    ),
    Way("read a browser profile", "read(H/'.mozilla/firefox/logins.json')", "read(H/'docs/a')"),
    Way("read the shell history", "read(H/'.bash_history')", "read(H/'.profile')"),
    Way("read Vespe's own state", "read(S/'trust.json')", "read(P/'.vespe/config.json')"),
    Way("open /etc/shadow", "opens('/etc/shadow')", "read('/etc/passwd')", needs="/etc/shadow"),
    Way(
        "list the names of key files", "os.listdir(H/'.ssh') or False", "os.listdir(H)", gap="names"
    ),
    Way(
        "get a handle of a file (name_to_handle_at)",
        "call('name_to_handle_at', -100, bytes(H/'notes'), bytes([8]) + bytes(64), bytes(8), 0)",
        "os.stat(H/'notes')",
    ),
    # ---- writes
    Way("append to a shell start-up file", "write(H/'.profile')", "write(P/'.profile')"),
    Way("create a file in the home directory", "write(H/'new')", "write(P/'new')"),
    Way(
        "create an autostart entry",
        "os.makedirs(H/'.config/autostart'); write(H/'.config/autostart/x')",
        "os.makedirs(P/'c/a')",
    ),
    Way(
        "write outside the project through an existing symbolic link",
        "write(P/'to-outside')",
        "write(P/'to-inside')",
    ),
    Way(
        "write outside the project through a symbolic link that the tool creates",
        "link(O/'file', P/'l3'); write(P/'l3')",
        "link(P/'a', P/'l4'); write(P/'l4')",
    ),
    Way(
        "write outside the project through a hard link that the tool creates",
        "os.link(O/'file', P/'h3'); write(P/'h3')",
        "os.link(P/'a', P/'h4'); write(P/'h4')",
    ),
    Way(
        "move a file out of the project",
        "write(P/'r1'); os.rename(P/'r1', O/'r1')",
        "write(P/'r2'); os.rename(P/'r2', P/'r3')",
    ),
    Way(
        "replace a file outside the project by renaming",
        "write(P/'r4'); os.replace(P/'r4', O/'file')",
        "write(P/'r5'); os.replace(P/'r5', P/'a')",
    ),
    Way("create a directory outside the project", "os.mkdir(O/'d')", "os.mkdir(P/'d')"),
    Way(
        "delete a file outside the project", "os.unlink(O/'gone')", "write(P/'g'); os.unlink(P/'g')"
    ),
    Way(
        "delete a directory outside the project",
        "os.rmdir(O/'empty')",
        "os.mkdir(P/'e'); os.rmdir(P/'e')",
    ),
    Way(
        "truncate a file outside the project",
        "os.truncate(O/'file', 0)",
        "os.truncate(P/'a', 0)",
        gap="truncate",
    ),
    Way("create a symbolic link outside the project", "link('/', O/'l')", "link('/', P/'l5')"),
    Way("create a named pipe outside the project", "os.mkfifo(O/'p')", "os.mkfifo(P/'p')"),
    Way(
        "create a device file in the project",
        "os.mknod(P/'disk', 0o60600, os.makedev(8, 0))",
        "os.mknod(P/'file', 0o100600)",
    ),
    Way(
        "change the mode of a file outside the project",
        "os.chmod(O/'file', 0o666)",
        "os.chmod(P/'a', 0o640)",
        gap="metadata",
    ),
    Way(
        "change the times of a file outside the project",
        "os.utime(O/'file', (1, 1))",
        "os.utime(P/'a', (1, 1))",
        gap="metadata",
    ),
    Way(
        "change the owner of a file outside the project",
        "os.chown(O/'file', os.getuid(), os.getgid())",
        "os.chown(P/'a', os.getuid(), os.getgid())",
        gap="metadata",
    ),
    Way("create a file in /tmp", "write(f'/tmp/{MARK}')", "write(T/'x')"),
    Way(
        "create a file in the project's .vespe/tools",
        "write(P/'.vespe/tools/tool-x')",
        "write(P/'tools-x')",
        gap="project",
    ),
    Way(
        "write the project's .vespe/config.json",
        "write(P/'.vespe/config.json')",
        "write(P/'config.json')",
        gap="project",
    ),
    Way(
        "take a lease on the project's .vespe/config.json",
        "fcntl.fcntl(os.open(P/'.vespe/config.json', 0), fcntl.F_SETLEASE, fcntl.F_WRLCK) == 0",
        "fcntl.fcntl(os.open(P/'a', os.O_RDONLY), fcntl.F_GETLEASE)",
    ),
    Way(
        "write a git hook",
        "write(P/'.git/hooks/pre-commit')",
        "write(P/'hooks-x')",
        gap="project",
    ),
    Way(
        "write .git/config",
        "write(P/'.git/config')",
        "read(P/'.git/HEAD')",
        gap="project",
    ),
    Way(
        "redirect git to another configuration (.git/commondir)",
        "write(P/'.git/commondir')",
        "write(P/'commondir')",
        gap="project",
    ),
    Way(
        "delete and recreate the .git of a submodule",
        "os.unlink(P/'lib/.git'); write(P/'lib/.git')",
        "write(P/'lib/file')",
        gap="project",
    ),
    Way(
        "replace the .git of a submodule by renaming",
        "write(P/'lib/new'); os.replace(P/'lib/new', P/'lib/.git')",
        "write(P/'lib/n1'); os.replace(P/'lib/n1', P/'lib/n2')",
        gap="project",
    ),
    Way(
        "write a git hook of a nested repository",
        "write(P/'vendor/x/.git/hooks/post-checkout')",
        "write(P/'vendor/x/hook')",
        gap="project",
    ),
    Way(
        "write the .git/config of a nested repository",
        "write(P/'vendor/x/.git/config')",
        "write(P/'vendor/config')",
        gap="project",
    ),
    Way(
        "exchange the parent directory of a nested repository (renameat2)",
        "os.mkdir(P/'n1'); exchange(P/'n1', P/'vendor'); exchange(P/'n1', P/'vendor')",
        "os.mkdir(P/'n2'); os.mkdir(P/'n3'); exchange(P/'n2', P/'n3')",
        gap="project",
    ),
    Way(
        "rename a nested repository",
        "os.rename(P/'vendor/x', P/'vendor/y')",
        "os.mkdir(P/'vendor/z'); os.rename(P/'vendor/z', P/'vendor/w')",
        gap="project",
    ),
    Way(
        "rename the parent directory of a nested repository",
        "os.rename(P/'vendor', P/'vendor2')",
        "os.mkdir(P/'z'); os.rename(P/'z', P/'w')",
        gap="project",
    ),
    Way(
        "rename .git",
        "os.rename(P/'.git', P/'.g')",
        "os.mkdir(P/'.h'); os.rename(P/'.h', P/'.i')",
        gap="project",
    ),
    Way(
        "rename .vespe",
        "os.rename(P/'.vespe', P/'.v')",
        "os.mkdir(P/'.w'); os.rename(P/'.w', P/'.x')",
        gap="project",
    ),
    Way(
        "create a cron job",
        "write(f'/etc/cron.d/{MARK}')",
        "read('/etc/passwd')",
        touches="the cron jobs of this machine",
    ),
    Way(
        "create a start-up file for all shells (/etc/profile.d)",
        "write(f'/etc/profile.d/{MARK}.sh')",
        "read('/etc/hosts')",
        touches="all shells of this machine",
    ),
    Way(
        "create a module in Python's standard library",
        "write(f'{os.path.dirname(os.__file__)}/{MARK}.py')",
        "import this_module_is_there",
        touches="your Python",
    ),
    Way("change the tool's own code", "write(D/'main.py')", "read(D/'main.py')"),
    # ---- devices
    Way(
        "open a disk",
        "opens(DISK)",
        "opens('/dev/zero')",
        root_only=True,
        needs="DISK",
    ),
    Way(
        "open the kernel's memory (/proc/kcore)",
        "opens('/proc/kcore')",
        "read('/proc/version')",
        needs="/proc/kcore",
    ),
    Way(
        "write to another terminal",
        "os.write(os.open(PTY, os.O_WRONLY | os.O_NOCTTY), b'x')",
        "os.write(os.open('/dev/null', os.O_WRONLY), b'x')",
    ),
    Way(
        "change a kernel setting (core_pattern)",
        "write('/proc/sys/kernel/core_pattern')",
        "read('/proc/sys/kernel/ostype')",
        touches="a setting of this machine's kernel",
    ),
    Way("leave a file in /dev/shm", "write(LEFT) and False", "write(T/'y')"),
    Way("read another process's file in /dev/shm", "read(SHARED)", "read(P/'a2')"),
    # ---- processes
    Way(
        "signal a process of the same user",
        "os.kill(VICTIM, 0)",
        "os.kill(os.getpid(), 0)",
        gap="signals",
    ),
    Way(
        "signal the parent process", "os.kill(PARENT, 0)", "os.kill(os.getpid(), 0)", gap="signals"
    ),
    Way(
        "trace a process of the same user (ptrace)",
        "call('ptrace', 16, VICTIM, 0, 0)",
        "os.waitpid(child(), 0)",
    ),
    Way(
        "read another process's memory (process_vm_readv)",
        "judged(call, 'process_vm_readv', VICTIM, IOV, 1, IOV, 1, 0)",
        "pipe()",
    ),
    Way(
        "open another process's memory (/proc/PID/mem)",
        "os.open(f'/proc/{VICTIM}/mem', os.O_RDWR)",
        "os.open('/proc/self/mem', os.O_RDONLY)",
    ),
    Way(
        "read another process's environment",
        "read(f'/proc/{VICTIM}/environ') or False",
        "read('/proc/self/environ')",
    ),
    Way(
        "read where another process's descriptors lead (/proc/PID/fd)",
        "os.readlink(f'/proc/{VICTIM}/fd/0')",
        "os.readlink('/proc/self/fd/0')",
    ),
    Way(
        "copy another process's descriptor (pidfd_getfd)",
        "call('syscall', 438, os.pidfd_open(VICTIM), 0, 0)",
        "os.pidfd_open(os.getpid())",
    ),
    Way(
        "read another process's I/O statistics",
        "read(f'/proc/{VICTIM}/io')",
        "read('/proc/self/io')",
    ),
    Way(
        "make the kernel kill another process first (oom_score_adj)",
        "Path(f'/proc/{VICTIM}/oom_score_adj').write_text('1000')",
        "read('/proc/self/oom_score_adj')",
    ),
    Way(
        "change what another process's core dump contains",
        "Path(f'/proc/{VICTIM}/coredump_filter').write_text('33')",
        "read('/proc/self/coredump_filter')",
    ),
    Way(
        "read another process's limits by a 64-bit process number (prlimit64)",
        "call('syscall', 302 if X86 else 261, VICTIM | 1 << 40, 7, 0, BUFFER)",
        "call('syscall', 302 if X86 else 261, 0, 7, 0, BUFFER)",
    ),
    Way(
        "change the priority of a process group",
        "os.setpriority(os.PRIO_PGRP, os.getpgid(VICTIM), os.getpriority(os.PRIO_PROCESS, 0))",
        "os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))",
    ),
    Way(
        "signal a process group",
        "os.killpg(os.getpgid(VICTIM), 0)",
        "os.kill(os.getpid(), 0)",
        gap="signals",
    ),
    Way(
        "signal another process's thread (tgkill)",
        "call('tgkill', VICTIM, VICTIM, 0)",
        "call('tgkill', os.getpid(), os.getpid(), 0)",
        gap="signals",
    ),
    Way(
        "make a pipe signal another process (F_SETOWN)",
        "stop_by_file(VICTIM)",
        "fcntl.fcntl(os.open(P/'a2', os.O_RDONLY), fcntl.F_SETOWN, os.getpid())",
        gap="signals",
    ),
    Way(
        "read another process's command line",
        "read(f'/proc/{VICTIM}/cmdline') or False",
        "read('/proc/self/cmdline')",
        gap="processes",
    ),
    # ---- limits, priorities and scheduling of other processes
    Way(
        "change another process's limits",
        "resource.prlimit(VICTIM, resource.RLIMIT_CPU, (1, 1))",
        "resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))",
    ),
    Way(
        "read the parent process's limits",
        "resource.prlimit(PARENT, resource.RLIMIT_NOFILE)",
        "resource.prlimit(0, resource.RLIMIT_NOFILE)",
    ),
    Way(
        "change the limits of process 1",
        "judged(resource.prlimit, 1, resource.RLIMIT_CORE, (2, 1))",
        "resource.prlimit(0, resource.RLIMIT_CORE, (0, 0))",
    ),
    Way(
        "lower another process's priority",
        "os.setpriority(0, VICTIM, 19)",
        "os.setpriority(0, 0, 19)",
    ),
    Way(
        "lower the priority of all processes of the user",
        "os.setpriority(2, 0, os.getpriority(0, 0))",
        "os.setpriority(1, 0, os.getpriority(0, 0))",
        touches="your other processes",
    ),
    Way(
        "set another process to idle scheduling (sched_setscheduler)",
        "os.sched_setscheduler(VICTIM, os.SCHED_IDLE, os.sched_param(0))",
        "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))",
    ),
    Way(
        "set another process to idle scheduling (sched_setattr)",
        "call('syscall', 314 if X86 else 274, VICTIM, IDLE, 0)",
        "call('syscall', 314 if X86 else 274, 0, IDLE, 0)",
    ),
    Way(
        "change another process's CPU affinity",
        "os.sched_setaffinity(VICTIM, os.sched_getaffinity(0))",
        "in_thread(os.sched_setaffinity, 0, os.sched_getaffinity(0))",
    ),
    Way(
        "lower another process's I/O priority",
        "call('syscall', 251 if X86 else 30, 1, VICTIM, 3 << 13)",
        "call('syscall', 251 if X86 else 30, 1, 0, 3 << 13)",
    ),
    Way(
        "lower the I/O priority of all processes of the user",
        "judged(call, 'syscall', 251 if X86 else 30, 3, 0, 7 << 13)",
        "call('syscall', 251 if X86 else 30, 2, 0, 2 << 13)",
    ),
    Way(
        "signal another process with a value (rt_sigqueueinfo)",
        "call('syscall', 129 if X86 else 138, VICTIM, 0, bytes(8) + b'\\xff' * 4 + bytes(116))",
        "os.kill(os.getpid(), 0)",
        gap="signals",
    ),
    Way(
        "signal another process through a pidfd",
        "signal.pidfd_send_signal(os.pidfd_open(VICTIM), 0)",
        "signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 0)",
        gap="signals",
    ),
    # ---- the kernel
    Way(
        "create a user namespace (unshare)", "call('unshare', 0x10000000)", "os.waitpid(child(), 0)"
    ),
    Way(
        "create a user namespace (clone)",
        "call('syscall', 56 if X86 else 220, 0x10000011, 0, 0, 0, 0) or os._exit(0)",
        "os.waitpid(child(), 0)",
    ),
    Way(
        "enter the mount namespace of process 1 (setns)",
        "call('setns', os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)",
        "os.open('/proc/self/ns/mnt', os.O_RDONLY)",
    ),
    Way(
        "mount a file system",
        "judged(call, 'mount', b'none', bytes(P), b'vespe-none', 0, None)",
        "os.statvfs(P)",
    ),
    Way("unmount the home directory", "judged(call, 'umount2', bytes(H), 2)", "os.statvfs(H)"),
    Way(
        "remount the home directory without the read-only flag",
        "judged(call, 'mount', None, bytes(H), None, 4096 | 32, None)",
        "os.statvfs(H)",
    ),
    Way(
        "change the root directory (pivot_root)",
        "judged(call, 'syscall', 155 if X86 else 41, bytes(P), bytes(P))",
        "os.chdir(P)",
    ),
    Way("set up io_uring", "call('syscall', 425, 1, bytes(120))", "select.epoll().close()"),
    Way(
        "create a BPF map (bpf)",
        "judged(call, 'syscall', 321 if X86 else 280, 0, bytes(72), 72)",
        "os.getpid()",
    ),
    Way(
        "add a key to the kernel's keyring (add_key)",
        "call('syscall', 248 if X86 else 217, b'user', b'v', b'x', 1, -1)",
        "os.getpid()",
    ),
    Way(
        "handle page faults (userfaultfd)",
        "call('syscall', 323 if X86 else 282, 1)",
        "mmap.mmap(-1, 4096).close()",
    ),
    Way(
        "change the host name",
        "judged(call, 'sethostname', None, 2)",
        "socket.gethostname()",
        root_only=True,
    ),
    Way(
        "load a kernel module",
        "judged(call, 'syscall', 175 if X86 else 105, None, 0, None)",
        "os.uname()",
        root_only=True,
    ),
    Way(
        "start programs that gain privileges (NoNewPrivs not set)",
        "'NoNewPrivs:\\t0' in read('/proc/self/status')",
        "out('cat', '/proc/self/status')",
    ),
    Way(
        "keep capabilities of root",
        "bool(int(line('CapEff'), 16) & ~0b11011)",
        "int(line('CapEff'), 16) >= 0",
    ),
    Way(
        "regain capabilities (capset)",
        "call('capset', CAPS, bytes([255]) * 24)",
        "call('capget', CAPS, bytes(24))",
    ),
    # ---- the network, if `network` is not stated
    Way("open a raw socket", "socket.socket(2, 3, 1)", "socket.socket(2, 2)"),
    Way("open a packet socket", "socket.socket(17, 2)", "socket.socket(2, 1)"),
    Way("open a socket to the hypervisor (vsock)", "socket.socket(40, 1)", "socket.socket(10, 1)"),
    Way(
        "connect to an abstract Unix socket",
        "reach(1, '\\0' + ABSTRACT)",
        "socket.socketpair()",
        gap="signals",
    ),
    Way(
        "connect to a Unix socket by its path",
        "reach(1, str(O/'socket'))",
        "own_socket(T/'own')",
        gap="sockets",
    ),
    Way(
        "send to a Unix datagram socket by its path",
        "send(1, str(O/'datagrams')) and True",
        "socket.socketpair(1, 2)",
        gap="sockets",
    ),
    Way(
        "connect to a Unix socket in /tmp",
        "reach(1, SOCKET)",
        "own_socket(T/'own2')",
        gap="sockets",
    ),
    Way(
        "connect to a Unix socket in the home directory",
        "reach(1, str(H/'docs/socket'))",
        "read(H/'docs/a')",
        gap="sockets",
    ),
    Way(
        "connect to a Unix socket in the project through a symbolic link",
        "link(P/'docs/socket', P/'l6'); reach(1, str(P/'l6'))",
        "own_socket(P/'own')",
        gap="sockets",
    ),
    Way(
        "connect to a Unix socket through an O_PATH descriptor",
        "reach(1, f\"/proc/self/fd/{os.open(O/'socket', os.O_PATH)}\")",
        "own_socket(P/'own4')",
        gap="sockets",
    ),
    Way(
        "connect to a Unix socket by a relative path, from its directory",
        "os.chdir(O); reach(1, 'socket')",
        "os.chdir(P); own_socket('own5')",
        gap="sockets",
    ),
    Way(
        "connect to a Unix socket through a hard link",
        "reach(1, str(P/'second'))",
        "own_socket(P/'own2')",
        gap="sockets made later, sockets",
    ),
    Way(
        "connect to a server that listens only on this machine",
        "reach(2, ('127.0.0.1', TCP))",
        "own_server()",
        gap="loopback",
    ),
    Way(
        "send a datagram to a server that listens only on this machine",
        "send(2, ('127.0.0.1', UDP)) and False",
        "own_server()",
        gap="loopback",
    ),
    # ---- the network, if a host or a socket is stated
    Way(
        "connect to a local server that is not stated",
        "reach(2, ('127.0.0.1', TCP))",
        "own_server()",
        gap="hosts",
        policy="hosts",
    ),
    Way(
        "connect over IPv6 to a local server that is not stated",
        "reach(10, ('::1', TCP6))",
        "own_server()",
        gap="hosts",
        policy="hosts",
        needs="TCP6",
    ),
    Way(
        "send a datagram to a local server that is not stated",
        "send(2, ('127.0.0.1', UDP)) and False",
        "own_server()",
        gap="hosts",
        policy="hosts",
    ),
    Way(
        "connect to a Unix socket although only a host is stated",
        "reach(1, str(O/'socket'))",
        "own_server()",
        policy="hosts",
    ),
    Way(
        "connect to an abstract Unix socket although only a host is stated",
        "reach(1, '\\0' + ABSTRACT)",
        "own_server()",
        policy="hosts",
    ),
    Way(
        "connect to a Unix socket that is not stated",
        "reach(1, str(O/'socket'))",
        "reach(1, str(H/'docs/socket'))",
        gap="sockets",
        policy="sockets",
    ),
    Way(
        "connect to a Unix socket in /tmp that is not stated",
        "reach(1, SOCKET)",
        "reach(1, str(H/'docs/socket'))",
        gap="sockets",
        policy="sockets",
    ),
    Way(
        "connect to an abstract Unix socket that is not stated",
        "reach(1, '\\0' + ABSTRACT)",
        "reach(1, str(H/'docs/socket'))",
        gap="signals",
        policy="sockets",
    ),
    Way(
        "replace the stated socket by a link to another one",
        "os.rename(H/'docs/socket', H/'docs/s'); link(O/'socket', H/'docs/socket')",
        "reach(1, str(H/'docs/socket'))",
        policy="sockets",
    ),
    Way(
        "open a TCP connection although only a Unix socket is stated",
        "reach(2, ('127.0.0.1', TCP))",
        "reach(1, str(H/'docs/socket'))",
        policy="sockets",
    ),
    # ---- the network, if `network` is `[]`
    Way(
        "open a TCP connection",
        "reach(2, ('127.0.0.1', TCP))",
        "socket.socketpair()",
        policy="closed",
    ),
    Way(
        "open a TCP connection over IPv6",
        "reach(10, ('::1', TCP6))",
        "socket.socketpair()",
        needs="TCP6",
        policy="closed",
    ),
    Way(
        "send a UDP datagram",
        "send(2, ('127.0.0.1', UDP)) and False",
        "socket.socketpair()",
        policy="closed",
    ),
    Way(
        "send a UDP datagram over IPv6",
        "send(10, ('::1', UDP6)) and False",
        "socket.socketpair()",
        needs="TCP6",
        policy="closed",
    ),
    Way(
        "send data with TCP Fast Open",
        "fast(('127.0.0.1', TCP)) and False",
        "socket.socketpair()",
        policy="closed",
    ),
    Way(
        "resolve a host name",
        "socket.getaddrinfo('example.invalid', 80) or resolves()",
        "socket.getaddrinfo('127.0.0.1', 80)",
        touches="your name server",
        policy="closed",
    ),
    Way(
        "open a netlink socket",
        "socket.socket(16, 3, 0)",
        "socket.socketpair()",
        policy="closed",
    ),
    Way(
        "connect to an abstract Unix socket without network permission",
        "reach(1, '\\0' + ABSTRACT)",
        "pipe()",
        policy="closed",
    ),
    Way(
        "send to a Unix datagram socket from one end of a socket pair",
        "socket.socketpair(1, 2)[0].sendto(b'escaped', str(O/'datagrams'))",
        "a, b = socket.socketpair(); a.sendall(b'x')",
        policy="closed",
    ),
    Way(
        "connect to a Unix socket by its path without network permission",
        "reach(1, str(O/'socket'))",
        "pipe()",
        policy="closed",
    ),
    # ---- everything stated
    Way(
        "read a file in the home directory that is not stated",
        "read(H/'notes')",
        "read(P/'docs/a')",
        policy="closed",
    ),
    Way(
        "read a file of the project that is not stated",
        "read(P/'a')",
        "read(P/'docs/a')",
        policy="closed",
    ),
    Way(
        "write a file for which only reading is stated",
        "write(P/'docs/a')",
        "write(P/'out/a')",
        policy="closed",
    ),
    Way(
        "start a program that is not stated", "out('ls')", "out('cat', P/'docs/a')", policy="closed"
    ),
    Way(
        "start a program that is not stated, by its path",
        "out('/usr/bin/id')",
        "out('/bin/cat', P/'docs/a')",
        policy="closed",
        needs="/usr/bin/id",
    ),
    Way(
        "start a program that the tool writes",
        "script(P/'out/run'); out(P/'out/run')",
        "script(P/'out/sh'); out('sh', P/'out/sh')",
        policy="closed",
    ),
    Way(
        "start a program from memory (memfd_create)",
        "memory('/usr/bin/id')",
        "out('sh', '-c', 'true')",
        policy="closed",
        needs="/usr/bin/id",
    ),
    Way(
        "start a program with the dynamic loader",
        "out(LOADER, '/usr/bin/id')",
        "out('sh', '-c', 'true')",
        gap="programs",
        policy="closed",
        needs="LOADER",
    ),
    Way(
        "start a program that is not stated, through a symbolic link",
        "link('/usr/bin/id', P/'out/cat2'); out(P/'out/cat2')",
        "out('sh', '-c', 'true')",
        policy="closed",
        needs="/usr/bin/id",
    ),
    Way(
        "allocate more memory than memory_mb",
        "bytearray(300 << 20) and True",
        "bytearray(1 << 20)",
        policy="closed",
    ),
    Way(
        "map a large shared anonymous area",
        "mmap.mmap(-1, 300 << 20)",
        "mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
        policy="closed",
    ),
    Way(
        "create an anonymous file in memory (memfd_create)",
        "os.memfd_create('x')",
        "write(P/'out/m')",
        policy="closed",
    ),
    Way(
        "create a large System V shared memory segment",
        "call('shmget', 0, 300 << 20, 0o1600)",
        "bytearray(1 << 20)",
        policy="closed",
    ),
    Way(
        "map /dev/zero with MAP_SHARED",
        "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 300 << 20, mmap.MAP_SHARED)",
        "os.read(os.open('/dev/zero', os.O_RDONLY), 10)",
        policy="closed",
    ),
    Way(
        "map a large area that grows like a stack (MAP_GROWSDOWN)",
        "mmap.mmap(-1, 300 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | GROWS_DOWN)",
        "mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_STACK)",
        policy="closed",
    ),
    Way(
        "raise the stack limit above memory_mb",
        "resource.setrlimit(resource.RLIMIT_STACK, (300 << 20, 300 << 20))",
        "resource.setrlimit(resource.RLIMIT_STACK, resource.getrlimit(resource.RLIMIT_STACK))",
        policy="closed",
    ),
    Way(
        "create a large file in /dev/shm",
        "os.posix_fallocate(os.open(LEFT, os.O_RDWR | os.O_CREAT), 0, 300 << 20)",
        "os.statvfs('/dev/shm')",
        policy="closed",
    ),
    # ---- stated paths that are links or do not exist
    Way(
        "read a key by its path when a stated link leads to its directory",
        "read(H/'.ssh/id')",
        "read(P/'within/a')",
        policy="links",
    ),
    Way(
        "read a key through a stated link",
        "read(P/'keys/id')",
        "read(P/'docs/a')",
        policy="links",
    ),
    Way(
        "read a key through a stated link to a link",
        "read(P/'chain/id')",
        "read(P/'within/a')",
        policy="links",
    ),
    Way(
        "read a key through a stated link that uses /proc",
        "read(P/'by-proc/id')",
        "read('/proc/self/cwd/docs/a')",
        policy="links",
    ),
    Way(
        "read a file of the home directory when a stated link leads there",
        "read(H/'notes')",
        "os.listdir(P/'within')",
        policy="links",
    ),
    Way(
        "read a file when a stated path goes through a link to the home directory",
        "read(H/'docs/a')",
        "read(P/'within/a')",
        policy="links",
    ),
    Way(
        "write outside the project when a stated link leads there",
        "write(O/'file')",
        "write(P/'made/a')",
        policy="links",
    ),
    Way(
        "write a git hook when a stated link leads to .git",
        "write(P/'.git/hooks/pre-commit')",
        "write(P/'made/b')",
        policy="links",
    ),
    Way(
        "create a file in .vespe/tools when a stated link leads to .vespe",
        "write(P/'.vespe/tools/tool-y')",
        "write(P/'out/y')",
        policy="links",
    ),
    Way(
        "read a key when a stated program is a link to it",
        "read(H/'.ssh/id')",
        "out(P/'program')",
        policy="links",
        needs="/bin/true",
    ),
    Way(
        "append to a start-up file when a stated directory beside it does not exist",
        "write(H/'.profile')",
        "write(P/'out/z')",
        policy="links",
    ),
    Way(
        "write the project when a stated file does not exist",
        "write(P/'a')",
        "write(P/'out/later')",
        policy="links",
    ),
    # ---- files that are created or replaced while the process runs
    Way(
        "read a token that was replaced by renaming",
        "read(H/'.netrc')",
        "read(H/'docs/late')",
        policy="late",
    ),
    Way(
        "read a token that was created later",
        "read(H/'.npmrc')",
        "read(H/'notes')",
        policy="late",
    ),
    Way(
        "read a key in a directory that was replaced",
        "read(H/'.ssh/id')",
        "read(H/'docs/a')",
        policy="late",
    ),
    Way(
        "read a key in a protected directory that was created later",
        "read(H/'.aws/credentials')",
        "os.listdir(H)",
        policy="late",
    ),
    Way(
        "read a token that was created later below ~/.config",
        "read(H/'.config/gh/hosts.yml')",
        "read(H/'.config/app/late')",
        policy="late",
    ),
    Way(
        "read a token in an ordinary directory that was created later",
        "read(H/'.cargo/credentials.toml')",
        "read(H/'.profile')",
        policy="late",
    ),
    Way(
        "read a file that was readable before it was moved to a protected place",
        "read(H/'.kube/a')",
        "read(H/'docs/a')",
        gap="late-names, names",
        policy="late",
    ),
    Way(
        "connect to a Unix socket that was created later",
        "reach(1, str(H/'docs/late-socket'))",
        "own_socket(P/'own3')",
        gap="sockets made later, sockets",
        policy="late",
    ),
    Way(
        "read Vespe's own state after it was replaced",
        "read(S/'trust.json')",
        "read(P/'a')",
        policy="late",
    ),
    Way(
        "list the names of key files that were created later",
        "os.listdir(H/'.aws') or False",
        "os.listdir(H/'docs')",
        gap="late-names, names",
        policy="late",
    ),
    Way(
        "read a key that was created later in the home directory",
        "read(H/'.azure/token')",
        "write(H/'n9'); read(H/'n9')",
        gap="late",
        policy="late home",
    ),
    # ---- the project is the home directory (only with mounts: Landlock alone gives no access
    # there)
    Way(
        "read a key in the project's .ssh",
        "read(H/'.ssh/id')",
        "write(H/'n1'); read(H/'n1')",
        policy="home",
    ),
    Way(
        "add a key to the project's .ssh",
        "write(H/'.ssh/authorized_keys')",
        "os.mkdir(H/'k'); write(H/'k/a')",
        policy="home",
    ),
    Way(
        "read a token in the project's .netrc",
        "read(H/'.netrc')",
        "read(H/'notes')",
        policy="home",
    ),
    Way(
        "write a token to the project's .netrc",
        "write(H/'.netrc')",
        "write(H/'notes')",
        policy="home",
    ),
    Way(
        "replace the project's .netrc by renaming",
        "write(H/'n2'); os.replace(H/'n2', H/'.netrc')",
        "write(H/'n3'); os.replace(H/'n3', H/'notes')",
        policy="home",
    ),
    Way(
        "rename the project's .ssh",
        "os.rename(H/'.ssh', H/'s'); os.rename(H/'s', H/'.ssh') or True",
        "os.mkdir(H/'m'); os.rename(H/'m', H/'m2')",
        policy="home",
    ),
    Way(
        "append to the project's .profile",
        "write(H/'.profile')",
        "read(H/'.profile')",
        policy="home",
    ),
    Way(
        "rename the project's .config",
        "os.rename(H/'.config', H/'.c')",
        "write(H/'.config/new')",
        policy="home",
    ),
    Way(
        "unmount what hides the project's .ssh",
        "judged(call, 'umount2', bytes(H/'.ssh'), 2)",
        "os.statvfs(H)",
        policy="home",
    ),
)
