"""Ways out of a sandbox, each with a twin that must go on working: rows, and the program that tries
them in one process.

An attack succeeds where it ends without an exception and is not False; then it is a leak, unless
the policy names `gap`.
"""

# a row is a line: so it can be read as a table

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Row:
    """`policy` is `default` (nothing stated), `closed` (everything stated, as little as can be),
    `links` (what is stated are links, and what is not there), `late` (nothing stated, and the home
    changes once it runs: see `LATE`), or `home` (the project is the home), `late home` (both).

    `gap` is what names a leak; of several words, each does.
    """

    name: str
    attack: str
    twin: str
    gap: str = ""
    policy: str = "default"
    root_only: bool = False


ROWS: Final = (
    # ---- keys and tokens
    Row("read a key", "read(H/'.ssh/id')", "read(H/'notes')"),
    Row(
        "read a key by a link made in the project",
        "link(H/'.ssh/id', P/'l1'); read(P/'l1')",
        "link(H/'notes', P/'l2'); read(P/'l2')",
    ),
    Row("read a key by a link that was there", "read(P/'to-key')", "read(P/'to-notes')"),
    Row(
        "read a key by a hard link",
        "os.link(H/'.ssh/id', P/'h1'); read(P/'h1')",
        "write(P/'h0'); os.link(P/'h0', P/'h2'); read(P/'h2')",
    ),
    Row(
        "read a key by /proc/self/root",
        "read(f'/proc/self/root{H}/.ssh/id')",
        "read(f'/proc/self/root{H}/notes')",
    ),
    Row(
        "read a key by /proc/self/cwd",
        "os.chdir(H); read('/proc/self/cwd/.ssh/id')",
        "os.chdir(H); read('/proc/self/cwd/notes')",
    ),
    Row(
        "read a key by another process's root",
        "read(f'/proc/{VICTIM}/root{H}/.ssh/id')",
        "read(f'/proc/{os.getpid()}/root{H}/notes')",
    ),
    Row("read a key by dots", "read(P/'..'/'home'/'.ssh'/'id')", "read(P/'..'/'home'/'notes')"),
    Row("read a key by a directory's descriptor", "at(H, '.ssh/id')", "at(H, 'notes')"),
    Row("read a key by a descriptor opened again", "again(H/'.ssh/id')", "again(H/'notes')"),
    Row(
        "move the directory of keys into the project",
        "os.rename(H/'.ssh', P/'s')",
        "os.mkdir(P/'d1'); os.rename(P/'d1', P/'d2')",
    ),
    Row(
        "link the directory of keys, and walk it",
        "link(H/'.ssh', P/'s2'); read(P/'s2/id')",
        "link(H/'docs', P/'d3'); read(P/'d3/a')",
    ),
    Row("read a key by a program", "out('cat', H/'.ssh/id')", "out('cat', H/'notes')"),
    Row("read a key by chroot", "os.chroot(H); read('/.ssh/id')", "os.chdir(H); read('notes')"),
    Row("read a token in the home directory", "read(H/'.netrc')", "read(H/'notes')"),
    Row("read a browser's profile", "read(H/'.mozilla/firefox/logins.json')", "read(H/'docs/a')"),
    Row("read what was typed", "read(H/'.bash_history')", "read(H/'.profile')"),
    Row("read Vespe's own state", "read(S/'trust.json')", "read(P/'.vespe/config.json')"),
    Row("read the password file", "read('/etc/shadow')", "read('/etc/passwd')"),
    Row("list the names of keys", "os.listdir(H/'.ssh') or False", "os.listdir(H)", gap="names"),
    Row(
        "open a file by its handle",
        "call('name_to_handle_at', -100, bytes(H/'notes'), bytes([8]) + bytes(64), bytes(8), 0)",
        "os.stat(H/'notes')",
    ),
    # ---- writes
    Row("append to a shell's start-up file", "write(H/'.profile')", "write(P/'.profile')"),
    Row("make a file in the home directory", "write(H/'new')", "write(P/'new')"),
    Row(
        "make a file that starts with the session",
        "os.makedirs(H/'.config/autostart'); write(H/'.config/autostart/x')",
        "os.makedirs(P/'c/a')",
    ),
    Row("write through a link that was there", "write(P/'to-outside')", "write(P/'to-inside')"),
    Row(
        "write through a link made here",
        "link(O/'file', P/'l3'); write(P/'l3')",
        "link(P/'a', P/'l4'); write(P/'l4')",
    ),
    Row(
        "write through a hard link made here",
        "os.link(O/'file', P/'h3'); write(P/'h3')",
        "os.link(P/'a', P/'h4'); write(P/'h4')",
    ),
    Row(
        "rename a file out",
        "write(P/'r1'); os.rename(P/'r1', O/'r1')",
        "write(P/'r2'); os.rename(P/'r2', P/'r3')",
    ),
    Row(
        "rename a file over one outside",
        "write(P/'r4'); os.replace(P/'r4', O/'file')",
        "write(P/'r5'); os.replace(P/'r5', P/'a')",
    ),
    Row("make a directory outside", "os.mkdir(O/'d')", "os.mkdir(P/'d')"),
    Row("remove a file outside", "os.unlink(O/'gone')", "write(P/'g'); os.unlink(P/'g')"),
    Row("remove a directory outside", "os.rmdir(O/'empty')", "os.mkdir(P/'e'); os.rmdir(P/'e')"),
    Row(
        "empty a file outside", "os.truncate(O/'file', 0)", "os.truncate(P/'a', 0)", gap="truncate"
    ),
    Row("make a link outside", "link('/', O/'l')", "link('/', P/'l5')"),
    Row("make a pipe outside", "os.mkfifo(O/'p')", "os.mkfifo(P/'p')"),
    Row(
        "make a device in the project",
        "os.mknod(P/'disk', 0o60600, os.makedev(8, 0))",
        "os.mknod(P/'file', 0o100600)",
    ),
    Row(
        "change another's mode",
        "os.chmod(O/'file', 0o666)",
        "os.chmod(P/'a', 0o640)",
        gap="metadata",
    ),
    Row(
        "change another's times",
        "os.utime(O/'file', (1, 1))",
        "os.utime(P/'a', (1, 1))",
        gap="metadata",
    ),
    Row(
        "change another's owner",
        "os.chown(O/'file', os.getuid(), os.getgid())",
        "os.chown(P/'a', os.getuid(), os.getgid())",
        gap="metadata",
    ),
    Row("write in the temporary directory of all", "write('/tmp/vespe-escape')", "write(T/'x')"),
    Row(
        "write a tool of the project",
        "write(P/'.vespe/tools/tool-x')",
        "write(P/'tools-x')",
        gap="project",
    ),
    Row(
        "write the project's configuration",
        "write(P/'.vespe/config.json')",
        "write(P/'config.json')",
        gap="project",
    ),
    Row(
        "hold a lease on the project's configuration",
        "fcntl.fcntl(os.open(P/'.vespe/config.json', 0), fcntl.F_SETLEASE, fcntl.F_WRLCK) == 0",
        "fcntl.fcntl(os.open(P/'a', os.O_RDONLY), fcntl.F_GETLEASE)",
    ),
    Row(
        "write a hook of git",
        "write(P/'.git/hooks/pre-commit')",
        "write(P/'hooks-x')",
        gap="project",
    ),
    Row(
        "write the configuration of git",
        "write(P/'.git/config')",
        "read(P/'.git/HEAD')",
        gap="project",
    ),
    Row(
        "name another configuration to git",
        "write(P/'.git/commondir')",
        "write(P/'commondir')",
        gap="project",
    ),
    Row(
        "replace the .git of a submodule",
        "os.unlink(P/'lib/.git'); write(P/'lib/.git')",
        "write(P/'lib/file')",
        gap="project",
    ),
    Row(
        "rename over the .git of a submodule",
        "write(P/'lib/new'); os.replace(P/'lib/new', P/'lib/.git')",
        "write(P/'lib/n1'); os.replace(P/'lib/n1', P/'lib/n2')",
        gap="project",
    ),
    Row(
        "write a hook of a repository in the project",
        "write(P/'vendor/x/.git/hooks/post-checkout')",
        "write(P/'vendor/x/hook')",
        gap="project",
    ),
    Row(
        "write the configuration of a repository in the project",
        "write(P/'vendor/x/.git/config')",
        "write(P/'vendor/config')",
        gap="project",
    ),
    Row(
        "put a repository in the project away",
        "os.rename(P/'vendor/x', P/'vendor/y')",
        "os.mkdir(P/'vendor/z'); os.rename(P/'vendor/z', P/'vendor/w')",
        gap="project",
    ),
    Row(
        "put away what a repository in the project is in",
        "os.rename(P/'vendor', P/'vendor2')",
        "os.mkdir(P/'z'); os.rename(P/'z', P/'w')",
        gap="project",
    ),
    Row(
        "put .git away",
        "os.rename(P/'.git', P/'.g')",
        "os.mkdir(P/'.h'); os.rename(P/'.h', P/'.i')",
        gap="project",
    ),
    Row(
        "put .vespe away",
        "os.rename(P/'.vespe', P/'.v')",
        "os.mkdir(P/'.w'); os.rename(P/'.w', P/'.x')",
        gap="project",
    ),
    Row("write a job of cron", "write('/etc/cron.d/vespe-escape')", "read('/etc/passwd')"),
    Row(
        "write a start-up file of every shell",
        "write('/etc/profile.d/vespe-escape.sh')",
        "read('/etc/hosts')",
    ),
    Row(
        "write into the library of Python",
        "write(os.path.dirname(os.__file__) + '/vespe_escape.py')",
        "import this_module_is_there",
    ),
    Row("write the tool's own code", "write(D/'main.py')", "read(D/'main.py')"),
    # ---- devices
    Row(
        "read a disk",
        "os.read(os.open(DISK, os.O_RDONLY), 1)",
        "os.read(os.open('/dev/zero', os.O_RDONLY), 1)",
        root_only=True,
    ),
    Row(
        "read the kernel's memory",
        "os.read(os.open('/proc/kcore', os.O_RDONLY), 1)",
        "read('/proc/version')",
    ),
    Row(
        "write to a terminal",
        "os.write(os.open(PTY, os.O_WRONLY | os.O_NOCTTY), b'x')",
        "os.write(os.open('/dev/null', os.O_WRONLY), b'x')",
    ),
    Row(
        "set a switch of the kernel",
        "write('/proc/sys/kernel/core_pattern')",
        "read('/proc/sys/kernel/ostype')",
    ),
    Row(
        "leave a file in shared memory", "write('/dev/shm/vespe-escape') and False", "write(T/'y')"
    ),
    Row("read another's shared memory", "read('/dev/shm/vespe-victim')", "read(P/'a2')"),
    # ---- processes
    Row(
        "signal a process of the same user",
        "os.kill(VICTIM, 0)",
        "os.kill(os.getpid(), 0)",
        gap="signals",
    ),
    Row("signal the parent", "os.kill(PARENT, 0)", "os.kill(os.getpid(), 0)", gap="signals"),
    Row(
        "trace a process of the same user",
        "call('ptrace', 16, VICTIM, 0, 0)",
        "os.waitpid(child(), 0)",
    ),
    Row("read a process's memory", "call('process_vm_readv', VICTIM, IOV, 1, IOV, 1, 0)", "pipe()"),
    Row(
        "open a process's memory",
        "os.open(f'/proc/{VICTIM}/mem', os.O_RDWR)",
        "os.open('/proc/self/mem', os.O_RDONLY)",
    ),
    Row(
        "read a process's environment",
        "read(f'/proc/{VICTIM}/environ') or False",
        "read('/proc/self/environ')",
    ),
    Row(
        "follow a process's descriptors",
        "os.readlink(f'/proc/{VICTIM}/fd/0')",
        "os.readlink('/proc/self/fd/0')",
    ),
    Row(
        "take a process's descriptor",
        "call('syscall', 438, os.pidfd_open(VICTIM), 0, 0)",
        "os.pidfd_open(os.getpid())",
    ),
    Row(
        "read a process's command line",
        "read(f'/proc/{VICTIM}/cmdline') or False",
        "read('/proc/self/cmdline')",
        gap="processes",
    ),
    # ---- what a process may take, and when it runs, said by another
    Row(
        "change a process's limits",
        "resource.prlimit(VICTIM, resource.RLIMIT_CPU, (1, 1))",
        "resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))",
    ),
    Row(
        "read the limits of the parent",
        "resource.prlimit(PARENT, resource.RLIMIT_NOFILE)",
        "resource.prlimit(0, resource.RLIMIT_NOFILE)",
    ),
    Row(
        "change the limits of the first process",
        "resource.prlimit(1, resource.RLIMIT_CORE, (0, 0))",
        "resource.prlimit(0, resource.RLIMIT_CORE, (0, 0))",
    ),
    Row("slow a process down", "os.setpriority(0, VICTIM, 19)", "os.setpriority(0, 0, 19)"),
    Row(
        "slow all processes of the user down",
        "os.setpriority(2, 0, os.getpriority(0, 0))",
        "os.setpriority(1, 0, os.getpriority(0, 0))",
    ),
    Row(
        "let a process run when nothing else does",
        "os.sched_setscheduler(VICTIM, os.SCHED_IDLE, os.sched_param(0))",
        "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))",
    ),
    Row(
        "let a process run when nothing else does, by its attributes",
        "call('syscall', 314 if X86 else 274, VICTIM, IDLE, 0)",
        "call('syscall', 314 if X86 else 274, 0, IDLE, 0)",
    ),
    Row(
        "hold a process to a processor",
        "os.sched_setaffinity(VICTIM, os.sched_getaffinity(0))",
        "in_thread(os.sched_setaffinity, 0, os.sched_getaffinity(0))",
    ),
    Row(
        "let a process's files wait",
        "call('syscall', 251 if X86 else 30, 1, VICTIM, 3 << 13)",
        "call('syscall', 251 if X86 else 30, 1, 0, 3 << 13)",
    ),
    Row(
        "let the files of all processes of the user wait",
        "call('syscall', 251 if X86 else 30, 3, 0, 2 << 13)",
        "call('syscall', 251 if X86 else 30, 2, 0, 2 << 13)",
    ),
    Row(
        "send a process a signal with a value",
        "call('syscall', 129 if X86 else 138, VICTIM, 0, bytes(128))",
        "os.kill(os.getpid(), 0)",
        gap="signals",
    ),
    Row(
        "send a process a signal by a descriptor of it",
        "signal.pidfd_send_signal(os.pidfd_open(VICTIM), 0)",
        "signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 0)",
        gap="signals",
    ),
    # ---- the kernel
    Row("make a namespace of users", "call('unshare', 0x10000000)", "os.waitpid(child(), 0)"),
    Row(
        "make a namespace in a new process",
        "call('syscall', 56 if X86 else 220, 0x10000011, 0, 0, 0, 0) or os._exit(0)",
        "os.waitpid(child(), 0)",
    ),
    Row(
        "enter the namespaces of init",
        "call('setns', os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)",
        "os.open('/proc/self/ns/mnt', os.O_RDONLY)",
    ),
    Row(
        "mount a file system",
        "call('mount', b'tmpfs', bytes(P), b'tmpfs', 0, None)",
        "os.statvfs(P)",
    ),
    Row("take a mount away", "call('umount2', b'/proc', 2)", "os.statvfs('/proc')"),
    Row(
        "take the read-only flag away",
        "call('mount', None, b'/', None, 4096 | 32, None)",
        "os.statvfs('/')",
    ),
    Row("pivot the root", "call('syscall', 155 if X86 else 41, bytes(P), bytes(P))", "os.chdir(P)"),
    Row("set up io_uring", "call('syscall', 425, 1, bytes(120))", "select.epoll().close()"),
    Row(
        "load a program into the kernel",
        "call('syscall', 321 if X86 else 280, 0, bytes(72), 72)",
        "os.getpid()",
    ),
    Row(
        "add a key to the kernel's keyring",
        "call('syscall', 248 if X86 else 217, b'user', b'v', b'x', 1, -3)",
        "os.getpid()",
    ),
    Row(
        "handle page faults",
        "call('syscall', 323 if X86 else 282, 1)",
        "mmap.mmap(-1, 4096).close()",
    ),
    Row(
        "name the machine", "call('sethostname', b'vm', 2)", "socket.gethostname()", root_only=True
    ),
    Row(
        "load a module",
        "'Bad address' in why('syscall', 175 if X86 else 105, None, 0, None)",
        "os.uname()",
        root_only=True,
    ),
    Row(
        "gain rights by a program",
        "'NoNewPrivs:\\t0' in read('/proc/self/status')",
        "out('cat', '/proc/self/status')",
    ),
    Row(
        "hold rights of root",
        "bool(int(line('CapEff'), 16) & ~0b11011)",
        "int(line('CapEff'), 16) >= 0",
    ),
    Row(
        "take rights back",
        "call('capset', CAPS, bytes([255]) * 24)",
        "call('capget', CAPS, bytes(24))",
    ),
    # ---- the network, with `network` not stated
    Row("open a raw socket", "socket.socket(2, 3, 1)", "socket.socket(2, 2)"),
    Row("open a packet socket", "socket.socket(17, 2)", "socket.socket(2, 1)"),
    Row("open a socket to the hypervisor", "socket.socket(40, 1)", "socket.socket(10, 1)"),
    Row(
        "reach an abstract Unix socket",
        "reach(1, '\\0' + ABSTRACT)",
        "socket.socketpair()",
        gap="signals",
    ),
    Row(
        "reach a Unix socket at a path",
        "reach(1, str(O/'socket'))",
        "own_socket(T/'own')",
        gap="sockets",
    ),
    Row(
        "reach a Unix socket of datagrams at a path",
        "send(1, str(O/'datagrams')) and True",
        "socket.socketpair(1, 2)",
        gap="sockets",
    ),
    Row(
        "reach a Unix socket in the temporary directory of all",
        "reach(1, SOCKET)",
        "own_socket(T/'own2')",
        gap="sockets",
    ),
    Row(
        "reach a Unix socket in the home directory",
        "reach(1, str(H/'docs/socket'))",
        "read(H/'docs/a')",
        gap="sockets",
    ),
    Row(
        "reach a Unix socket in the project by a link",
        "link(P/'docs/socket', P/'l6'); reach(1, str(P/'l6'))",
        "own_socket(P/'own')",
        gap="sockets",
    ),
    # ---- the network, with `network: []`
    Row(
        "reach a host by TCP",
        "reach(2, ('127.0.0.1', TCP))",
        "socket.socketpair()",
        policy="closed",
    ),
    Row(
        "reach a host by TCP over IPv6",
        "reach(10, ('::1', TCP6))",
        "socket.socketpair()",
        policy="closed",
    ),
    Row(
        "send a datagram",
        "send(2, ('127.0.0.1', UDP)) and False",
        "socket.socketpair()",
        policy="closed",
    ),
    Row(
        "send a datagram over IPv6",
        "send(10, ('::1', UDP6)) and False",
        "socket.socketpair()",
        policy="closed",
    ),
    Row(
        "open a TCP connection with its first bytes",
        "fast(('127.0.0.1', TCP)) and False",
        "socket.socketpair()",
        policy="closed",
    ),
    Row(
        "ask for a name",
        "socket.getaddrinfo('example.invalid', 80) or resolves()",
        "socket.getaddrinfo('127.0.0.1', 80)",
        policy="closed",
    ),
    Row(
        "read the machine's addresses by netlink",
        "socket.socket(16, 3, 0)",
        "socket.socketpair()",
        policy="closed",
    ),
    Row(
        "reach an abstract Unix socket where nothing is stated to be reached",
        "reach(1, '\\0' + ABSTRACT)",
        "pipe()",
        policy="closed",
    ),
    Row(
        "reach a Unix socket of datagrams by one of a pair",
        "socket.socketpair(1, 2)[0].sendto(b'escaped', str(O/'datagrams'))",
        "a, b = socket.socketpair(); a.sendall(b'x')",
        policy="closed",
    ),
    Row(
        "reach a Unix socket at a path where nothing is stated to be reached",
        "reach(1, str(O/'socket'))",
        "pipe()",
        policy="closed",
    ),
    # ---- everything stated
    Row("read what is not stated", "read(H/'notes')", "read(P/'docs/a')", policy="closed"),
    Row(
        "read the project where a part of it is stated",
        "read(P/'a')",
        "read(P/'docs/a')",
        policy="closed",
    ),
    Row(
        "write where only reading is stated",
        "write(P/'docs/a')",
        "write(P/'out/a')",
        policy="closed",
    ),
    Row(
        "start a program that is not stated", "out('ls')", "out('cat', P/'docs/a')", policy="closed"
    ),
    Row(
        "start a program by its path",
        "out('/usr/bin/id')",
        "out('/bin/cat', P/'docs/a')",
        policy="closed",
    ),
    Row(
        "start a program written here",
        "script(P/'out/run'); out(P/'out/run')",
        "script(P/'out/sh'); out('sh', P/'out/sh')",
        policy="closed",
    ),
    Row(
        "start a program out of memory",
        "memory('/usr/bin/id')",
        "out('sh', '-c', 'true')",
        policy="closed",
    ),
    Row(
        "start a program by the loader",
        "out(LOADER, '/usr/bin/id')",
        "out('sh', '-c', 'true')",
        gap="programs",
        policy="closed",
    ),
    Row(
        "start a program by a link",
        "link('/usr/bin/id', P/'out/cat2'); out(P/'out/cat2')",
        "out('sh', '-c', 'true')",
        policy="closed",
    ),
    Row(
        "take more memory than is stated",
        "bytearray(300 << 20) and True",
        "bytearray(1 << 20)",
        policy="closed",
    ),
    Row(
        "take memory that processes share",
        "mmap.mmap(-1, 300 << 20)",
        "mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
        policy="closed",
    ),
    Row(
        "take memory as a file that has no name",
        "os.memfd_create('x')",
        "write(P/'out/m')",
        policy="closed",
    ),
    Row(
        "take memory of System V",
        "call('shmget', 0, 300 << 20, 0o1600)",
        "bytearray(1 << 20)",
        policy="closed",
    ),
    Row(
        "take memory by mapping a device",
        "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 300 << 20, mmap.MAP_SHARED)",
        "os.read(os.open('/dev/zero', os.O_RDONLY), 10)",
        policy="closed",
    ),
    Row(
        "take memory as a file in shared memory",
        "os.posix_fallocate(os.open('/dev/shm/x', os.O_RDWR | os.O_CREAT), 0, 300 << 20)",
        "os.statvfs('/dev/shm')",
        policy="closed",
    ),
    # ---- stated places that are links, or not there
    Row(
        "read a key where a stated directory is a link to the keys",
        "read(H/'.ssh/id')",
        "read(P/'within/a')",
        policy="links",
    ),
    Row(
        "read a key by the link that is stated",
        "read(P/'keys/id')",
        "read(P/'docs/a')",
        policy="links",
    ),
    Row(
        "read a home where a stated directory is a link to it",
        "read(H/'notes')",
        "os.listdir(P/'within')",
        policy="links",
    ),
    Row(
        "read beneath a link that is stated in part",
        "read(H/'docs/a')",
        "read(P/'within/a')",
        policy="links",
    ),
    Row(
        "write where a stated directory is a link out of the project",
        "write(O/'file')",
        "write(P/'made/a')",
        policy="links",
    ),
    Row(
        "write a hook of git where a stated directory is a link to .git",
        "write(P/'.git/hooks/pre-commit')",
        "write(P/'made/b')",
        policy="links",
    ),
    Row(
        "write a tool where a stated directory is a link to .vespe",
        "write(P/'.vespe/tools/tool-y')",
        "write(P/'out/y')",
        policy="links",
    ),
    Row(
        "read a key where a stated program is a link to it",
        "read(H/'.ssh/id')",
        "out(P/'program')",
        policy="links",
    ),
    Row(
        "append to a start-up file where a stated directory of the home is not there",
        "write(H/'.profile')",
        "write(P/'out/z')",
        policy="links",
    ),
    Row(
        "write the project where a stated file is not there",
        "write(P/'a')",
        "write(P/'out/later')",
        policy="links",
    ),
    # ---- what is made, or replaced, once the process runs
    Row(
        "read a token that was replaced by renaming",
        "read(H/'.netrc')",
        "read(H/'docs/late')",
        policy="late",
    ),
    Row(
        "read a token that was made since",
        "read(H/'.npmrc')",
        "read(H/'notes')",
        policy="late",
    ),
    Row(
        "read a key in a directory that was replaced",
        "read(H/'.ssh/id')",
        "read(H/'docs/a')",
        policy="late",
    ),
    Row(
        "read a key in a directory that was made since",
        "read(H/'.aws/credentials')",
        "os.listdir(H)",
        policy="late",
    ),
    Row(
        "read a token beneath a directory that others share",
        "read(H/'.config/gh/hosts.yml')",
        "read(H/'.config/app/late')",
        policy="late",
    ),
    Row(
        "read a token in a directory that was made with those above it",
        "read(H/'.cargo/credentials.toml')",
        "read(H/'.profile')",
        policy="late",
    ),
    Row(
        "read Vespe's own state that was replaced",
        "read(S/'trust.json')",
        "read(P/'a')",
        policy="late",
    ),
    Row(
        "list the names of keys that were made since",
        "os.listdir(H/'.aws') or False",
        "os.listdir(H/'docs')",
        gap="late-names names",
        policy="late",
    ),
    Row(
        "read a key that was made since in a project that is the home",
        "read(H/'.azure/token')",
        "write(H/'n9'); read(H/'n9')",
        gap="late",
        policy="late home",
    ),
    # ---- the project is the home directory (where there are mounts: Landlock alone gives nothing
    # at all there)
    Row(
        "read a key in a project that is the home",
        "read(H/'.ssh/id')",
        "write(H/'n1'); read(H/'n1')",
        policy="home",
    ),
    Row(
        "add a key in a project that is the home",
        "write(H/'.ssh/authorized_keys')",
        "os.mkdir(H/'k'); write(H/'k/a')",
        policy="home",
    ),
    Row(
        "read a token in a project that is the home",
        "read(H/'.netrc')",
        "read(H/'notes')",
        policy="home",
    ),
    Row(
        "write a token in a project that is the home",
        "write(H/'.netrc')",
        "write(H/'notes')",
        policy="home",
    ),
    Row(
        "replace a token in a project that is the home",
        "write(H/'n2'); os.replace(H/'n2', H/'.netrc')",
        "write(H/'n3'); os.replace(H/'n3', H/'notes')",
        policy="home",
    ),
    Row(
        "move the keys in a project that is the home",
        "os.rename(H/'.ssh', H/'s')",
        "os.mkdir(H/'m'); os.rename(H/'m', H/'m2')",
        policy="home",
    ),
    Row(
        "append to a start-up file in a project that is the home",
        "write(H/'.profile')",
        "read(H/'.profile')",
        policy="home",
    ),
    Row(
        "put away what start-up files are in",
        "os.rename(H/'.config', H/'.c')",
        "write(H/'.config/new')",
        policy="home",
    ),
    Row(
        "uncover a key in a project that is the home",
        "call('umount2', bytes(H/'.ssh'), 2)",
        "os.statvfs(H)",
        policy="home",
    ),
)


LATE: Final = r'''
from pathlib import Path

def replaced(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)

def change_home(H, S):
    replaced(H / ".azure/token", "new")

def change(H, S):
    """Be the user's other programs, which go on while a tool runs."""
    for name in (".netrc", ".npmrc", ".aws/credentials", ".config/gh/hosts.yml", ".cargo/credentials.toml", "docs/late", ".config/app/late"):
        replaced(H / name, "new")
    for place, name in ((H / ".ssh", "id"), (S, "trust.json")):
        place.rename(place.with_name(place.name + ".before"))
        replaced(place / name, "new")
'''
"""Run outside of the sandbox once the process is in it."""
HELPERS: Final = r'''
import ctypes, errno, fcntl, json, mmap, os, resource, select, signal, socket, subprocess, sys, threading, time, encodings.idna
from pathlib import Path
LIBC = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
BUFFER = ctypes.create_string_buffer(64)
IOV = ctypes.cast((ctypes.c_void_p * 2)(ctypes.addressof(BUFFER), 8), ctypes.c_void_p)
IDLE = (48).to_bytes(4, sys.byteorder) + (5).to_bytes(4, sys.byteorder) + bytes(40)
CAPS = (0x20080522).to_bytes(4, sys.byteorder) + bytes(4)
sys.modules["this_module_is_there"] = sys

def call(name, *arguments):
    made = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    if getattr(LIBC, name)(*made) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True

def why(name, *arguments):
    try:
        return str(call(name, *arguments))
    except OSError as error:
        return str(error)

def read(path):
    with open(path, "rb") as file:
        return file.read(4096).decode("latin-1")

def line(name):
    return next(one for one in read("/proc/self/status").splitlines() if one.startswith(name)).split(":")[1].strip()

def write(path):
    with open(path, "ab") as file:
        return bool(file.write(b"x"))

def script(path):
    Path(path).write_bytes(b"#!/bin/sh\ntrue\n")
    os.chmod(path, 0o755)

def link(target, path):
    os.symlink(target, path)

def at(directory, name):
    return os.read(os.open(name, os.O_RDONLY, dir_fd=os.open(directory, os.O_RDONLY | os.O_DIRECTORY)), 10)

def again(path):
    return read(f"/proc/self/fd/{os.open(path, os.O_PATH)}")

def out(*argv):
    return subprocess.run([str(one) for one in argv], check=True, capture_output=True, timeout=20, env={"PATH": "/usr/bin:/bin"}).stdout

def memory(program):
    descriptor = os.memfd_create("x")
    os.write(descriptor, Path(program).read_bytes())
    os.execve(descriptor, ["id"], {})

def child():
    pid = os.fork()
    return pid or os._exit(0)

def in_thread(function, *arguments):
    said = []
    thread = threading.Thread(target=lambda: said.append(function(*arguments)))
    thread.start()
    thread.join()
    return bool(said)

def pipe():
    reader, writer = os.pipe()
    os.write(writer, b"x")
    return os.read(reader, 1)

def reach(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.settimeout(2)
        one.connect(address)
        one.sendall(b"escaped")
    return True

def own_socket(path):
    with socket.socket(1) as one:
        one.bind(str(path))
        one.listen()
        return reach(1, str(path))

def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        return one.sendto(b"escaped", address)

def fast(address):
    with socket.socket(2, socket.SOCK_STREAM) as one:
        return one.sendto(b"escaped", 0x20000000, address)

def resolves():
    return send(2, ("127.0.0.53", 53))

def tried(source, names):
    """Run one expression in a process of its own, after the statements before it: 0 it worked, 1 it did not."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        said = "exec"
        try:
            *before, last = source.split("; ")
            space = {**globals(), **names}
            for one in before:
                exec(one, space)
            if last.startswith("import "):
                exec(last, space)
                answer = True
            else:
                answer = eval(last, space)
            said = "no: False" if answer is False else "yes"
        except BaseException as error:
            said = f"no: {type(error).__name__}: {error}"
        os.write(writer, said.encode()[:500])
        os._exit(0)
    os.close(writer)
    data = b""
    while more := os.read(reader, 4096):
        data += more
    os.close(reader)
    os.waitpid(pid, 0)
    # A process that has become another program has said nothing.
    return data.decode() or "yes: it became another program"

def session(plan, names, rows, enter):
    """Become the user, enter the policy, and try each row and its twin; returns what became of both."""
    reader, writer = os.pipe()
    entered, enters = os.pipe()
    changed, changes = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            if plan["uid"] != os.getuid():
                os.setgroups([])
                os.setgid(plan["uid"])
                os.setuid(plan["uid"])
                LIBC.prctl(4, 1, 0, 0, 0)  # a change of user makes /proc/self root's until the next exec
            if plan["message"]["namespaces"] and plan["message"]["namespaces"]["processes"]:
                first = enter.__globals__["fork_apart"]()
                if first:
                    os.close(writer)
                    os.waitpid(first, 0)
                    os._exit(0)
                if second := os.fork():
                    os.close(writer)
                    os.waitpid(second, 0)
                    os._exit(0)
                LIBC.prctl(4, 1, 0, 0, 0)
            os.setsid()
            os.chdir(names["P"])
            made = {**plan["message"], "rules": [(p.encode(), r) for p, r in plan["message"]["rules"]], "filter": bytes.fromhex(plan["message"]["filter"])}
            if made["namespaces"]:
                made["namespaces"] = {k: [p.encode() for p in v] if isinstance(v, list) else v.encode() if isinstance(v, str) else v for k, v in made["namespaces"].items()}
            enter(made)
            LIBC.prctl(4, 1, 0, 0, 0)  # as the exec of a program does
            os.write(enters, b"x")
            os.read(changed, 1)
            found = [[tried(row["attack"], names), tried(row["twin"], names)] for row in rows]
        except BaseException as error:
            found = repr(error)
        with open(writer, "w", encoding="utf-8") as file:
            json.dump(found, file)
        os._exit(0)
    for descriptor in (writer, enters):
        os.close(descriptor)
    if os.read(entered, 1) and plan["late"]:
        space = {}
        exec(plan["late"], space)
        space[plan["change"]](names["H"], names["S"])
    os.write(changes, b"x")
    with open(reader, encoding="utf-8") as file:
        found = json.load(file)
    os.waitpid(pid, 0)
    for descriptor in (entered, changed, changes):
        os.close(descriptor)
    return found

def main():
    job = json.load(sys.stdin)
    space = {"__name__": "enter"}
    exec(compile(Path(job["enter"]).read_text(encoding="utf-8"), "enter.py", "exec"), space)
    found = []
    for plan in job["plans"]:
        names = {key: Path(value) if key in ("P", "H", "O", "S", "T", "D") else value for key, value in plan["names"].items()}
        found.append(session(plan, names, plan["rows"], space["enter"]))
    json.dump(found, sys.stdout)
'''


def attempt(plans: list[dict[str, Any]], enter: str) -> list[Any]:
    """Run plans, each a policy's message, a user's number, names and rows; returns what became of
    each row and of its twin.
    """
    job = json.dumps({"plans": plans, "enter": enter})
    argv = [sys.executable, "-I", "-c", f"{HELPERS}\nmain()"]
    done = subprocess.run(
        argv,
        input=job,
        capture_output=True,
        encoding="utf-8",
        timeout=200,
        env={"PATH": os.defpath},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def message(made: Any) -> dict[str, Any]:
    """Return a policy's message as JSON carries it."""
    said = dict(made.message)
    said["rules"] = [(path.decode(), rights) for path, rights in said["rules"]]
    said["filter"] = said["filter"].hex()
    if said["namespaces"]:
        said["namespaces"] = {
            k: [p.decode() for p in v]
            if isinstance(v, list)
            else v.decode()
            if isinstance(v, bytes)
            else v
            for k, v in said["namespaces"].items()
        }
    return said
