"""The table of ways out of the sandbox, each with a twin that must go on working: what
docs/escapes.md shows, what the tests try, and what `vespe doctor --escapes` tries.

Attack and twin are Python in the words of `attempts.py`. An attack succeeds where it ends without
an exception and is not False; then it got through, unless the policy names `gap`.
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
"""What the tools of a policy state; those of the others state nothing."""
TITLES: Final = {
    "default": "A tool that states nothing",
    "closed": "A tool that states little",
    "hosts": "A tool that states a host",
    "sockets": "A tool that states a Unix socket",
    "links": "A tool whose stated places are links",
    "late": "What is made or replaced once a tool runs",
    "home": "A project that is the home directory",
    "late home": "What is made once a tool runs in a project that is the home directory",
}
"""Each policy, in the order in which they are tried and shown."""


ROWS: Final = (
    *BLIND,  # before rows that move what they are about
    # ---- keys and tokens
    Way("read a key", "read(H/'.ssh/id')", "read(H/'notes')"),
    Way(
        "read a key by a link made in the project",
        "link(H/'.ssh/id', P/'l1'); read(P/'l1')",
        "link(H/'notes', P/'l2'); read(P/'l2')",
    ),
    Way("read a key by a link that was there", "read(P/'to-key')", "read(P/'to-notes')"),
    Way(
        "read a key by a hard link",
        "os.link(H/'.ssh/id', P/'h1'); read(P/'h1')",
        "write(P/'h0'); os.link(P/'h0', P/'h2'); read(P/'h2')",
    ),
    Way(
        "read a key by /proc/self/root",
        "read(f'/proc/self/root{H}/.ssh/id')",
        "read(f'/proc/self/root{H}/notes')",
    ),
    Way(
        "read a key by /proc/self/cwd",
        "os.chdir(H); read('/proc/self/cwd/.ssh/id')",
        "os.chdir(H); read('/proc/self/cwd/notes')",
    ),
    Way(
        "read a key by another process's root",
        "read(f'/proc/{VICTIM}/root{H}/.ssh/id')",
        "read(f'/proc/{os.getpid()}/root{H}/notes')",
    ),
    Way("read a key by dots", "read(P/'..'/'home'/'.ssh'/'id')", "read(P/'..'/'home'/'notes')"),
    Way("read a key by a directory's descriptor", "at(H, '.ssh/id')", "at(H, 'notes')"),
    Way("read a key by a descriptor opened again", "again(H/'.ssh/id')", "again(H/'notes')"),
    Way(
        "move the directory of keys into the project",
        "os.rename(H/'.ssh', P/'s'); os.rename(P/'s', H/'.ssh') or True",
        "os.mkdir(P/'d1'); os.rename(P/'d1', P/'d2')",
    ),
    Way(
        "link the directory of keys, and walk it",
        "link(H/'.ssh', P/'s2'); read(P/'s2/id')",
        "link(H/'docs', P/'d3'); read(P/'d3/a')",
    ),
    Way(
        "read a key by a program",
        "out('cat', H/'.ssh/id')",
        "out('cat', H/'notes')",
        needs="cat",
    ),
    Way(
        "read a key by git",
        "out('git', 'hash-object', H/'.ssh/id')",
        "out('git', 'hash-object', H/'notes')",
        needs="git",
    ),
    Way(
        "read a key by Node",
        "out('node', '-e', f'fs.readFileSync({str(H)!r} + \"/.ssh/id\")')",
        "out('node', '-e', f'fs.readFileSync({str(H)!r} + \"/notes\")')",
        needs="node",
    ),
    Way(
        "read a key by a compiler",
        "out('cc', '-E', '-x', 'c', '-include', H/'.ssh/id', '/dev/null')",
        "out('cc', '-E', '-x', 'c', '-include', H/'notes', '/dev/null')",
        needs="cc",
    ),
    Way("read a key by chroot", "os.chroot(H); read('/.ssh/id')", "os.chdir(H); read('notes')"),
    Way("read a token in the home directory", "read(H/'.netrc')", "read(H/'notes')"),
    Way("read a password of mail", "read(H/'.msmtprc')", "read(H/'notes')"),
    Way(
        "read a key where a variable says that it is",
        "read(H/'elsewhere/gnupg/key')",
        "read(H/'elsewhere/notes')",
    ),
    Way(
        "read a token where a variable says that configuration is",
        "read(H/'elsewhere/config/gh/hosts.yml')",
        "read(H/'elsewhere/config/app')",
    ),
    Way("read a browser's profile", "read(H/'.mozilla/firefox/logins.json')", "read(H/'docs/a')"),
    Way("read what was typed", "read(H/'.bash_history')", "read(H/'.profile')"),
    Way("read Vespe's own state", "read(S/'trust.json')", "read(P/'.vespe/config.json')"),
    Way(
        "read the password file", "opens('/etc/shadow')", "read('/etc/passwd')", needs="/etc/shadow"
    ),
    Way("list the names of keys", "os.listdir(H/'.ssh') or False", "os.listdir(H)", gap="names"),
    Way(
        "open a file by its handle",
        "call('name_to_handle_at', -100, bytes(H/'notes'), bytes([8]) + bytes(64), bytes(8), 0)",
        "os.stat(H/'notes')",
    ),
    # ---- writes
    Way("append to a shell's start-up file", "write(H/'.profile')", "write(P/'.profile')"),
    Way("make a file in the home directory", "write(H/'new')", "write(P/'new')"),
    Way(
        "make a file that starts with the session",
        "os.makedirs(H/'.config/autostart'); write(H/'.config/autostart/x')",
        "os.makedirs(P/'c/a')",
    ),
    Way("write through a link that was there", "write(P/'to-outside')", "write(P/'to-inside')"),
    Way(
        "write through a link made here",
        "link(O/'file', P/'l3'); write(P/'l3')",
        "link(P/'a', P/'l4'); write(P/'l4')",
    ),
    Way(
        "write through a hard link made here",
        "os.link(O/'file', P/'h3'); write(P/'h3')",
        "os.link(P/'a', P/'h4'); write(P/'h4')",
    ),
    Way(
        "rename a file out",
        "write(P/'r1'); os.rename(P/'r1', O/'r1')",
        "write(P/'r2'); os.rename(P/'r2', P/'r3')",
    ),
    Way(
        "rename a file over one outside",
        "write(P/'r4'); os.replace(P/'r4', O/'file')",
        "write(P/'r5'); os.replace(P/'r5', P/'a')",
    ),
    Way("make a directory outside", "os.mkdir(O/'d')", "os.mkdir(P/'d')"),
    Way("remove a file outside", "os.unlink(O/'gone')", "write(P/'g'); os.unlink(P/'g')"),
    Way("remove a directory outside", "os.rmdir(O/'empty')", "os.mkdir(P/'e'); os.rmdir(P/'e')"),
    Way(
        "empty a file outside", "os.truncate(O/'file', 0)", "os.truncate(P/'a', 0)", gap="truncate"
    ),
    Way("make a link outside", "link('/', O/'l')", "link('/', P/'l5')"),
    Way("make a pipe outside", "os.mkfifo(O/'p')", "os.mkfifo(P/'p')"),
    Way(
        "make a device in the project",
        "os.mknod(P/'disk', 0o60600, os.makedev(8, 0))",
        "os.mknod(P/'file', 0o100600)",
    ),
    Way(
        "change another's mode",
        "os.chmod(O/'file', 0o666)",
        "os.chmod(P/'a', 0o640)",
        gap="metadata",
    ),
    Way(
        "change another's times",
        "os.utime(O/'file', (1, 1))",
        "os.utime(P/'a', (1, 1))",
        gap="metadata",
    ),
    Way(
        "change another's owner",
        "os.chown(O/'file', os.getuid(), os.getgid())",
        "os.chown(P/'a', os.getuid(), os.getgid())",
        gap="metadata",
    ),
    Way("write in the temporary directory of all", "write(f'/tmp/{MARK}')", "write(T/'x')"),
    Way(
        "write a tool of the project",
        "write(P/'.vespe/tools/tool-x')",
        "write(P/'tools-x')",
        gap="project",
    ),
    Way(
        "write the project's configuration",
        "write(P/'.vespe/config.json')",
        "write(P/'config.json')",
        gap="project",
    ),
    Way(
        "hold a lease on the project's configuration",
        "fcntl.fcntl(os.open(P/'.vespe/config.json', 0), fcntl.F_SETLEASE, fcntl.F_WRLCK) == 0",
        "fcntl.fcntl(os.open(P/'a', os.O_RDONLY), fcntl.F_GETLEASE)",
    ),
    Way(
        "write a hook of git",
        "write(P/'.git/hooks/pre-commit')",
        "write(P/'hooks-x')",
        gap="project",
    ),
    Way(
        "write the configuration of git",
        "write(P/'.git/config')",
        "read(P/'.git/HEAD')",
        gap="project",
    ),
    Way(
        "name another configuration to git",
        "write(P/'.git/commondir')",
        "write(P/'commondir')",
        gap="project",
    ),
    Way(
        "replace the .git of a submodule",
        "os.unlink(P/'lib/.git'); write(P/'lib/.git')",
        "write(P/'lib/file')",
        gap="project",
    ),
    Way(
        "rename over the .git of a submodule",
        "write(P/'lib/new'); os.replace(P/'lib/new', P/'lib/.git')",
        "write(P/'lib/n1'); os.replace(P/'lib/n1', P/'lib/n2')",
        gap="project",
    ),
    Way(
        "write a hook of a repository in the project",
        "write(P/'vendor/x/.git/hooks/post-checkout')",
        "write(P/'vendor/x/hook')",
        gap="project",
    ),
    Way(
        "write the configuration of a repository in the project",
        "write(P/'vendor/x/.git/config')",
        "write(P/'vendor/config')",
        gap="project",
    ),
    Way(
        "exchange what a repository in the project is in",
        "os.mkdir(P/'n1'); exchange(P/'n1', P/'vendor'); exchange(P/'n1', P/'vendor')",
        "os.mkdir(P/'n2'); os.mkdir(P/'n3'); exchange(P/'n2', P/'n3')",
        gap="project",
    ),
    Way(
        "put a repository in the project away",
        "os.rename(P/'vendor/x', P/'vendor/y')",
        "os.mkdir(P/'vendor/z'); os.rename(P/'vendor/z', P/'vendor/w')",
        gap="project",
    ),
    Way(
        "put away what a repository in the project is in",
        "os.rename(P/'vendor', P/'vendor2')",
        "os.mkdir(P/'z'); os.rename(P/'z', P/'w')",
        gap="project",
    ),
    Way(
        "put .git away",
        "os.rename(P/'.git', P/'.g')",
        "os.mkdir(P/'.h'); os.rename(P/'.h', P/'.i')",
        gap="project",
    ),
    Way(
        "put .vespe away",
        "os.rename(P/'.vespe', P/'.v')",
        "os.mkdir(P/'.w'); os.rename(P/'.w', P/'.x')",
        gap="project",
    ),
    Way(
        "write a job of cron",
        "write(f'/etc/cron.d/{MARK}')",
        "read('/etc/passwd')",
        touches="the jobs of this machine",
    ),
    Way(
        "write a start-up file of every shell",
        "write(f'/etc/profile.d/{MARK}.sh')",
        "read('/etc/hosts')",
        touches="the shells of this machine",
    ),
    Way(
        "write into the library of Python",
        "write(f'{os.path.dirname(os.__file__)}/{MARK}.py')",
        "import this_module_is_there",
        touches="your Python",
    ),
    Way("write the tool's own code", "write(D/'main.py')", "read(D/'main.py')"),
    # ---- devices
    Way(
        "read a disk",
        "opens(DISK)",
        "opens('/dev/zero')",
        root_only=True,
        needs="DISK",
    ),
    Way(
        "read the kernel's memory",
        "opens('/proc/kcore')",
        "read('/proc/version')",
        needs="/proc/kcore",
    ),
    Way(
        "write to a terminal",
        "os.write(os.open(PTY, os.O_WRONLY | os.O_NOCTTY), b'x')",
        "os.write(os.open('/dev/null', os.O_WRONLY), b'x')",
    ),
    Way(
        "set a switch of the kernel",
        "write('/proc/sys/kernel/core_pattern')",
        "read('/proc/sys/kernel/ostype')",
        touches="a switch of this machine's kernel",
    ),
    Way("leave a file in shared memory", "write(LEFT) and False", "write(T/'y')"),
    Way("read another's shared memory", "read(SHARED)", "read(P/'a2')"),
    # ---- processes
    Way(
        "signal a process of the same user",
        "os.kill(VICTIM, 0)",
        "os.kill(os.getpid(), 0)",
        gap="signals",
    ),
    Way("signal the parent", "os.kill(PARENT, 0)", "os.kill(os.getpid(), 0)", gap="signals"),
    Way(
        "trace a process of the same user",
        "call('ptrace', 16, VICTIM, 0, 0)",
        "os.waitpid(child(), 0)",
    ),
    Way(
        "read a process's memory",
        "judged(call, 'process_vm_readv', VICTIM, IOV, 1, IOV, 1, 0)",
        "pipe()",
    ),
    Way(
        "open a process's memory",
        "os.open(f'/proc/{VICTIM}/mem', os.O_RDWR)",
        "os.open('/proc/self/mem', os.O_RDONLY)",
    ),
    Way(
        "read a process's environment",
        "read(f'/proc/{VICTIM}/environ') or False",
        "read('/proc/self/environ')",
    ),
    Way(
        "follow a process's descriptors",
        "os.readlink(f'/proc/{VICTIM}/fd/0')",
        "os.readlink('/proc/self/fd/0')",
    ),
    Way(
        "take a process's descriptor",
        "call('syscall', 438, os.pidfd_open(VICTIM), 0, 0)",
        "os.pidfd_open(os.getpid())",
    ),
    Way(
        "read what a process has read and written",
        "read(f'/proc/{VICTIM}/io')",
        "read('/proc/self/io')",
    ),
    Way(
        "let the kernel end a process before others",
        "Path(f'/proc/{VICTIM}/oom_score_adj').write_text('1000')",
        "read('/proc/self/oom_score_adj')",
    ),
    Way(
        "say what a process leaves when it crashes",
        "Path(f'/proc/{VICTIM}/coredump_filter').write_text('33')",
        "read('/proc/self/coredump_filter')",
    ),
    Way(
        "name a process by a number of 64 bits",
        "call('syscall', 302 if X86 else 261, VICTIM | 1 << 40, 7, 0, BUFFER)",
        "call('syscall', 302 if X86 else 261, 0, 7, 0, BUFFER)",
    ),
    Way(
        "set the priority of a group of processes",
        "os.setpriority(os.PRIO_PGRP, os.getpgid(VICTIM), os.getpriority(os.PRIO_PROCESS, 0))",
        "os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))",
    ),
    Way(
        "signal a group of processes",
        "os.killpg(os.getpgid(VICTIM), 0)",
        "os.kill(os.getpid(), 0)",
        gap="signals",
    ),
    Way(
        "signal a thread of a process",
        "call('tgkill', VICTIM, VICTIM, 0)",
        "call('tgkill', os.getpid(), os.getpid(), 0)",
        gap="signals",
    ),
    Way(
        "let a file signal a process",
        "stop_by_file(VICTIM)",
        "fcntl.fcntl(os.open(P/'a2', os.O_RDONLY), fcntl.F_SETOWN, os.getpid())",
        gap="signals",
    ),
    Way(
        "read a process's command line",
        "read(f'/proc/{VICTIM}/cmdline') or False",
        "read('/proc/self/cmdline')",
        gap="processes",
    ),
    # ---- what a process may take, and when it runs, said by another
    Way(
        "change a process's limits",
        "resource.prlimit(VICTIM, resource.RLIMIT_CPU, (1, 1))",
        "resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))",
    ),
    Way(
        "read the limits of the parent",
        "resource.prlimit(PARENT, resource.RLIMIT_NOFILE)",
        "resource.prlimit(0, resource.RLIMIT_NOFILE)",
    ),
    Way(
        "change the limits of the first process",
        "judged(resource.prlimit, 1, resource.RLIMIT_CORE, (2, 1))",
        "resource.prlimit(0, resource.RLIMIT_CORE, (0, 0))",
    ),
    Way("slow a process down", "os.setpriority(0, VICTIM, 19)", "os.setpriority(0, 0, 19)"),
    Way(
        "slow all processes of the user down",
        "os.setpriority(2, 0, os.getpriority(0, 0))",
        "os.setpriority(1, 0, os.getpriority(0, 0))",
        touches="your other processes",
    ),
    Way(
        "let a process run when nothing else does",
        "os.sched_setscheduler(VICTIM, os.SCHED_IDLE, os.sched_param(0))",
        "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))",
    ),
    Way(
        "let a process run when nothing else does, by its attributes",
        "call('syscall', 314 if X86 else 274, VICTIM, IDLE, 0)",
        "call('syscall', 314 if X86 else 274, 0, IDLE, 0)",
    ),
    Way(
        "hold a process to a processor",
        "os.sched_setaffinity(VICTIM, os.sched_getaffinity(0))",
        "in_thread(os.sched_setaffinity, 0, os.sched_getaffinity(0))",
    ),
    Way(
        "let a process's files wait",
        "call('syscall', 251 if X86 else 30, 1, VICTIM, 3 << 13)",
        "call('syscall', 251 if X86 else 30, 1, 0, 3 << 13)",
    ),
    Way(
        "let the files of all processes of the user wait",
        "judged(call, 'syscall', 251 if X86 else 30, 3, 0, 7 << 13)",
        "call('syscall', 251 if X86 else 30, 2, 0, 2 << 13)",
    ),
    Way(
        "send a process a signal with a value",
        "call('syscall', 129 if X86 else 138, VICTIM, 0, bytes(8) + b'\\xff' * 4 + bytes(116))",
        "os.kill(os.getpid(), 0)",
        gap="signals",
    ),
    Way(
        "send a process a signal by a descriptor of it",
        "signal.pidfd_send_signal(os.pidfd_open(VICTIM), 0)",
        "signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 0)",
        gap="signals",
    ),
    # ---- the kernel
    Way("make a namespace of users", "call('unshare', 0x10000000)", "os.waitpid(child(), 0)"),
    Way(
        "make a namespace in a new process",
        "call('syscall', 56 if X86 else 220, 0x10000011, 0, 0, 0, 0) or os._exit(0)",
        "os.waitpid(child(), 0)",
    ),
    Way(
        "enter the namespaces of init",
        "call('setns', os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)",
        "os.open('/proc/self/ns/mnt', os.O_RDONLY)",
    ),
    Way(
        "mount a file system",
        "judged(call, 'mount', b'none', bytes(P), b'vespe-none', 0, None)",
        "os.statvfs(P)",
    ),
    Way("take a mount away", "judged(call, 'umount2', bytes(H), 2)", "os.statvfs(H)"),
    Way(
        "take the read-only flag away",
        "judged(call, 'mount', None, bytes(H), None, 4096 | 32, None)",
        "os.statvfs(H)",
    ),
    Way(
        "pivot the root",
        "judged(call, 'syscall', 155 if X86 else 41, bytes(P), bytes(P))",
        "os.chdir(P)",
    ),
    Way("set up io_uring", "call('syscall', 425, 1, bytes(120))", "select.epoll().close()"),
    Way(
        "load a program into the kernel",
        "judged(call, 'syscall', 321 if X86 else 280, 0, bytes(72), 72)",
        "os.getpid()",
    ),
    Way(
        "add a key to the kernel's keyring",
        "call('syscall', 248 if X86 else 217, b'user', b'v', b'x', 1, -1)",
        "os.getpid()",
    ),
    Way(
        "handle page faults",
        "call('syscall', 323 if X86 else 282, 1)",
        "mmap.mmap(-1, 4096).close()",
    ),
    Way(
        "name the machine",
        "judged(call, 'sethostname', None, 2)",
        "socket.gethostname()",
        root_only=True,
    ),
    Way(
        "load a module",
        "judged(call, 'syscall', 175 if X86 else 105, None, 0, None)",
        "os.uname()",
        root_only=True,
    ),
    Way(
        "gain rights by a program",
        "'NoNewPrivs:\\t0' in read('/proc/self/status')",
        "out('cat', '/proc/self/status')",
    ),
    Way(
        "hold rights of root",
        "bool(int(line('CapEff'), 16) & ~0b11011)",
        "int(line('CapEff'), 16) >= 0",
    ),
    Way(
        "take rights back",
        "call('capset', CAPS, bytes([255]) * 24)",
        "call('capget', CAPS, bytes(24))",
    ),
    # ---- the network, with `network` not stated
    Way("open a raw socket", "socket.socket(2, 3, 1)", "socket.socket(2, 2)"),
    Way("open a packet socket", "socket.socket(17, 2)", "socket.socket(2, 1)"),
    Way("open a socket to the hypervisor", "socket.socket(40, 1)", "socket.socket(10, 1)"),
    Way(
        "reach an abstract Unix socket",
        "reach(1, '\\0' + ABSTRACT)",
        "socket.socketpair()",
        gap="signals",
    ),
    Way(
        "reach a Unix socket at a path",
        "reach(1, str(O/'socket'))",
        "own_socket(T/'own')",
        gap="sockets",
    ),
    Way(
        "reach a Unix socket of datagrams at a path",
        "send(1, str(O/'datagrams')) and True",
        "socket.socketpair(1, 2)",
        gap="sockets",
    ),
    Way(
        "reach a Unix socket in the temporary directory of all",
        "reach(1, SOCKET)",
        "own_socket(T/'own2')",
        gap="sockets",
    ),
    Way(
        "reach a Unix socket in the home directory",
        "reach(1, str(H/'docs/socket'))",
        "read(H/'docs/a')",
        gap="sockets",
    ),
    Way(
        "reach a Unix socket in the project by a link",
        "link(P/'docs/socket', P/'l6'); reach(1, str(P/'l6'))",
        "own_socket(P/'own')",
        gap="sockets",
    ),
    Way(
        "reach a Unix socket by a descriptor of it",
        "reach(1, f\"/proc/self/fd/{os.open(O/'socket', os.O_PATH)}\")",
        "own_socket(P/'own4')",
        gap="sockets",
    ),
    Way(
        "reach a Unix socket from the directory that it is in",
        "os.chdir(O); reach(1, 'socket')",
        "os.chdir(P); own_socket('own5')",
        gap="sockets",
    ),
    Way(
        "reach a Unix socket by a second name that it has",
        "reach(1, str(P/'second'))",
        "own_socket(P/'own2')",
        gap="sockets made later, sockets",
    ),
    Way(
        "reach a server that listens on this machine alone",
        "reach(2, ('127.0.0.1', TCP))",
        "own_server()",
        gap="loopback",
    ),
    Way(
        "send a datagram to a server that listens on this machine alone",
        "send(2, ('127.0.0.1', UDP)) and False",
        "own_server()",
        gap="loopback",
    ),
    # ---- the network, with a host or a socket
    Way(
        "reach a server of this machine where a host is stated",
        "reach(2, ('127.0.0.1', TCP))",
        "own_server()",
        gap="hosts",
        policy="hosts",
    ),
    Way(
        "reach a server of this machine over IPv6 where a host is stated",
        "reach(10, ('::1', TCP6))",
        "own_server()",
        gap="hosts",
        policy="hosts",
        needs="TCP6",
    ),
    Way(
        "send a datagram to a server of this machine where a host is stated",
        "send(2, ('127.0.0.1', UDP)) and False",
        "own_server()",
        gap="hosts",
        policy="hosts",
    ),
    Way(
        "reach a Unix socket where a host is stated",
        "reach(1, str(O/'socket'))",
        "own_server()",
        policy="hosts",
    ),
    Way(
        "reach an abstract Unix socket where a host is stated",
        "reach(1, '\\0' + ABSTRACT)",
        "own_server()",
        policy="hosts",
    ),
    Way(
        "reach a Unix socket beside the one that is stated",
        "reach(1, str(O/'socket'))",
        "reach(1, str(H/'docs/socket'))",
        gap="sockets",
        policy="sockets",
    ),
    Way(
        "reach a Unix socket in the temporary directory of all beside the one that is stated",
        "reach(1, SOCKET)",
        "reach(1, str(H/'docs/socket'))",
        gap="sockets",
        policy="sockets",
    ),
    Way(
        "reach an abstract Unix socket beside the one that is stated",
        "reach(1, '\\0' + ABSTRACT)",
        "reach(1, str(H/'docs/socket'))",
        gap="signals",
        policy="sockets",
    ),
    Way(
        "put another socket in the place of the one that is stated",
        "os.rename(H/'docs/socket', H/'docs/s'); link(O/'socket', H/'docs/socket')",
        "reach(1, str(H/'docs/socket'))",
        policy="sockets",
    ),
    Way(
        "reach a host by TCP where a Unix socket is stated",
        "reach(2, ('127.0.0.1', TCP))",
        "reach(1, str(H/'docs/socket'))",
        policy="sockets",
    ),
    # ---- the network, with `network: []`
    Way(
        "reach a host by TCP",
        "reach(2, ('127.0.0.1', TCP))",
        "socket.socketpair()",
        policy="closed",
    ),
    Way(
        "reach a host by TCP over IPv6",
        "reach(10, ('::1', TCP6))",
        "socket.socketpair()",
        needs="TCP6",
        policy="closed",
    ),
    Way(
        "send a datagram",
        "send(2, ('127.0.0.1', UDP)) and False",
        "socket.socketpair()",
        policy="closed",
    ),
    Way(
        "send a datagram over IPv6",
        "send(10, ('::1', UDP6)) and False",
        "socket.socketpair()",
        needs="TCP6",
        policy="closed",
    ),
    Way(
        "open a TCP connection with its first bytes",
        "fast(('127.0.0.1', TCP)) and False",
        "socket.socketpair()",
        policy="closed",
    ),
    Way(
        "ask for a name",
        "socket.getaddrinfo('example.invalid', 80) or resolves()",
        "socket.getaddrinfo('127.0.0.1', 80)",
        touches="your name server",
        policy="closed",
    ),
    Way(
        "read the machine's addresses by netlink",
        "socket.socket(16, 3, 0)",
        "socket.socketpair()",
        policy="closed",
    ),
    Way(
        "reach an abstract Unix socket where nothing is stated to be reached",
        "reach(1, '\\0' + ABSTRACT)",
        "pipe()",
        policy="closed",
    ),
    Way(
        "reach a Unix socket of datagrams by one of a pair",
        "socket.socketpair(1, 2)[0].sendto(b'escaped', str(O/'datagrams'))",
        "a, b = socket.socketpair(); a.sendall(b'x')",
        policy="closed",
    ),
    Way(
        "reach a Unix socket at a path where nothing is stated to be reached",
        "reach(1, str(O/'socket'))",
        "pipe()",
        policy="closed",
    ),
    # ---- everything stated
    Way("read what is not stated", "read(H/'notes')", "read(P/'docs/a')", policy="closed"),
    Way(
        "read the project where a part of it is stated",
        "read(P/'a')",
        "read(P/'docs/a')",
        policy="closed",
    ),
    Way(
        "write where only reading is stated",
        "write(P/'docs/a')",
        "write(P/'out/a')",
        policy="closed",
    ),
    Way(
        "start a program that is not stated", "out('ls')", "out('cat', P/'docs/a')", policy="closed"
    ),
    Way(
        "start a program by its path",
        "out('/usr/bin/id')",
        "out('/bin/cat', P/'docs/a')",
        policy="closed",
        needs="/usr/bin/id",
    ),
    Way(
        "start a program written here",
        "script(P/'out/run'); out(P/'out/run')",
        "script(P/'out/sh'); out('sh', P/'out/sh')",
        policy="closed",
    ),
    Way(
        "start a program out of memory",
        "memory('/usr/bin/id')",
        "out('sh', '-c', 'true')",
        policy="closed",
        needs="/usr/bin/id",
    ),
    Way(
        "start a program by the loader",
        "out(LOADER, '/usr/bin/id')",
        "out('sh', '-c', 'true')",
        gap="programs",
        policy="closed",
        needs="LOADER",
    ),
    Way(
        "start a program by a link",
        "link('/usr/bin/id', P/'out/cat2'); out(P/'out/cat2')",
        "out('sh', '-c', 'true')",
        policy="closed",
        needs="/usr/bin/id",
    ),
    Way(
        "take more memory than is stated",
        "bytearray(300 << 20) and True",
        "bytearray(1 << 20)",
        policy="closed",
    ),
    Way(
        "take memory that processes share",
        "mmap.mmap(-1, 300 << 20)",
        "mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
        policy="closed",
    ),
    Way(
        "take memory as a file that has no name",
        "os.memfd_create('x')",
        "write(P/'out/m')",
        policy="closed",
    ),
    Way(
        "take memory of System V",
        "call('shmget', 0, 300 << 20, 0o1600)",
        "bytearray(1 << 20)",
        policy="closed",
    ),
    Way(
        "take memory by mapping a device",
        "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 300 << 20, mmap.MAP_SHARED)",
        "os.read(os.open('/dev/zero', os.O_RDONLY), 10)",
        policy="closed",
    ),
    Way(
        "take memory as a stack that grows",
        "mmap.mmap(-1, 300 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | GROWS_DOWN)",
        "mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_STACK)",
        policy="closed",
    ),
    Way(
        "raise the limit of the stack past the memory that is stated",
        "resource.setrlimit(resource.RLIMIT_STACK, (300 << 20, 300 << 20))",
        "resource.setrlimit(resource.RLIMIT_STACK, resource.getrlimit(resource.RLIMIT_STACK))",
        policy="closed",
    ),
    Way(
        "take memory as a file in shared memory",
        "os.posix_fallocate(os.open(LEFT, os.O_RDWR | os.O_CREAT), 0, 300 << 20)",
        "os.statvfs('/dev/shm')",
        policy="closed",
    ),
    # ---- stated places that are links, or not there
    Way(
        "read a key where a stated directory is a link to the keys",
        "read(H/'.ssh/id')",
        "read(P/'within/a')",
        policy="links",
    ),
    Way(
        "read a key by the link that is stated",
        "read(P/'keys/id')",
        "read(P/'docs/a')",
        policy="links",
    ),
    Way(
        "read a key by a link to a link that is stated",
        "read(P/'chain/id')",
        "read(P/'within/a')",
        policy="links",
    ),
    Way(
        "read a key by a link through /proc that is stated",
        "read(P/'by-proc/id')",
        "read('/proc/self/cwd/docs/a')",
        policy="links",
    ),
    Way(
        "read a home where a stated directory is a link to it",
        "read(H/'notes')",
        "os.listdir(P/'within')",
        policy="links",
    ),
    Way(
        "read beneath a link that is stated in part",
        "read(H/'docs/a')",
        "read(P/'within/a')",
        policy="links",
    ),
    Way(
        "write where a stated directory is a link out of the project",
        "write(O/'file')",
        "write(P/'made/a')",
        policy="links",
    ),
    Way(
        "write a hook of git where a stated directory is a link to .git",
        "write(P/'.git/hooks/pre-commit')",
        "write(P/'made/b')",
        policy="links",
    ),
    Way(
        "write a tool where a stated directory is a link to .vespe",
        "write(P/'.vespe/tools/tool-y')",
        "write(P/'out/y')",
        policy="links",
    ),
    Way(
        "read a key where a stated program is a link to it",
        "read(H/'.ssh/id')",
        "out(P/'program')",
        policy="links",
        needs="/bin/true",
    ),
    Way(
        "append to a start-up file where a stated directory of the home is not there",
        "write(H/'.profile')",
        "write(P/'out/z')",
        policy="links",
    ),
    Way(
        "write the project where a stated file is not there",
        "write(P/'a')",
        "write(P/'out/later')",
        policy="links",
    ),
    # ---- what is made, or replaced, once the process runs
    Way(
        "read a token that was replaced by renaming",
        "read(H/'.netrc')",
        "read(H/'docs/late')",
        policy="late",
    ),
    Way(
        "read a token that was made since",
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
        "read a key in a directory that was made since",
        "read(H/'.aws/credentials')",
        "os.listdir(H)",
        policy="late",
    ),
    Way(
        "read a token beneath a directory that others share",
        "read(H/'.config/gh/hosts.yml')",
        "read(H/'.config/app/late')",
        policy="late",
    ),
    Way(
        "read a token in a directory that was made with those above it",
        "read(H/'.cargo/credentials.toml')",
        "read(H/'.profile')",
        policy="late",
    ),
    Way(
        "read a key in a directory that could be read before and was moved there",
        "read(H/'.kube/a')",
        "read(H/'docs/a')",
        gap="late-names, names",
        policy="late",
    ),
    Way(
        "reach a Unix socket that was made since",
        "reach(1, str(H/'docs/late-socket'))",
        "own_socket(P/'own3')",
        gap="sockets made later, sockets",
        policy="late",
    ),
    Way(
        "read Vespe's own state that was replaced",
        "read(S/'trust.json')",
        "read(P/'a')",
        policy="late",
    ),
    Way(
        "list the names of keys that were made since",
        "os.listdir(H/'.aws') or False",
        "os.listdir(H/'docs')",
        gap="late-names, names",
        policy="late",
    ),
    Way(
        "read a key that was made since in a project that is the home",
        "read(H/'.azure/token')",
        "write(H/'n9'); read(H/'n9')",
        gap="late",
        policy="late home",
    ),
    # ---- the project is the home directory (where there are mounts: Landlock alone gives nothing
    # at all there)
    Way(
        "read a key in a project that is the home",
        "read(H/'.ssh/id')",
        "write(H/'n1'); read(H/'n1')",
        policy="home",
    ),
    Way(
        "add a key in a project that is the home",
        "write(H/'.ssh/authorized_keys')",
        "os.mkdir(H/'k'); write(H/'k/a')",
        policy="home",
    ),
    Way(
        "read a token in a project that is the home",
        "read(H/'.netrc')",
        "read(H/'notes')",
        policy="home",
    ),
    Way(
        "write a token in a project that is the home",
        "write(H/'.netrc')",
        "write(H/'notes')",
        policy="home",
    ),
    Way(
        "replace a token in a project that is the home",
        "write(H/'n2'); os.replace(H/'n2', H/'.netrc')",
        "write(H/'n3'); os.replace(H/'n3', H/'notes')",
        policy="home",
    ),
    Way(
        "move the keys in a project that is the home",
        "os.rename(H/'.ssh', H/'s'); os.rename(H/'s', H/'.ssh') or True",
        "os.mkdir(H/'m'); os.rename(H/'m', H/'m2')",
        policy="home",
    ),
    Way(
        "append to a start-up file in a project that is the home",
        "write(H/'.profile')",
        "read(H/'.profile')",
        policy="home",
    ),
    Way(
        "put away what start-up files are in",
        "os.rename(H/'.config', H/'.c')",
        "write(H/'.config/new')",
        policy="home",
    ),
    Way(
        "uncover a key in a project that is the home",
        "judged(call, 'umount2', bytes(H/'.ssh'), 2)",
        "os.statvfs(H)",
        policy="home",
    ),
)
