"""Ways out that were designed from the documentation alone, before their author had seen the code
of the sandbox. They use the words of `attempts.py`, as those of `rows.py` do.
"""

from typing import Final

from vespe.features.escapes.ways import Way

BLIND: Final = (
    # ---- keys and tokens
    Way(
        "read a key from its own directory",
        "os.chdir(H/'.ssh'); read('id')",
        "os.chdir(H/'docs'); read('a')",
    ),
    Way(
        "read a key beneath a root of the attacker's choice",
        "beneath(H, '/.ssh/id')",
        "beneath(H, '/notes')",
    ),
    Way(
        "give a key that was opened as a place a second name",
        "linked(H/'.ssh/id', P/'h6'); read(P/'h6')",
        "linked(P/'a2', P/'h8'); read(P/'h8')",
    ),
    Way(
        "tell the size of a key",
        "os.stat(H/'.ssh/id').st_size > 0",
        "os.stat(H/'notes')",
        gap="names",
    ),
    Way(
        "tell the size of a token",
        "os.stat(H/'.netrc').st_size > 0",
        "os.stat(H/'notes')",
        gap="names",
    ),
    Way(
        "watch what is done with a key",
        "call('inotify_add_watch', LIBC.inotify_init1(0), bytes(H/'.ssh/id'), 0xfff)",
        "call('inotify_add_watch', LIBC.inotify_init1(0), bytes(P/'a2'), 0xfff)",
        gap="names",
    ),
    # ---- writes
    Way("make a Unix socket outside", "own_socket(H/'own')", "own_socket(P/'own6')"),
    Way(
        "change an extended attribute outside",
        "os.setxattr(O/'file', 'user.vespe', b'x')",
        "os.setxattr(P/'a', 'user.vespe', b'x')",
        gap="metadata",
    ),
    Way(
        "write the configuration of git by a hard link",
        "os.link(P/'.git/config', P/'h9'); write(P/'h9')",
        "os.link(P/'a2', P/'h10'); write(P/'h10')",
        gap="project",
    ),
    Way(
        "write the configuration of git by a way around",
        "write(f'/proc/self/cwd/docs/../.git/config')",
        "write(f'/proc/self/cwd/docs/../config-x')",
        gap="project",
    ),
    Way(
        "write the configuration of Mercurial",
        "write(P/'.hg/hgrc')",
        "write(P/'hgrc')",
        gap="project",
    ),
    Way(
        "write the configuration of Jujutsu",
        "write(P/'.jj/repo/config.toml')",
        "write(P/'config.toml')",
        gap="project",
    ),
    Way(
        "write a tool of a project in the project",
        "write(P/'sub/.vespe/tools/tool-x')",
        "write(P/'sub/tool-x')",
        gap="project",
    ),
    # ---- processes
    Way(
        "write a process's memory",
        "judged(call, 'process_vm_writev', VICTIM, IOV, 1, IOV, 1, 0)",
        "pipe()",
    ),
    Way(
        "measure what a process does",
        "judged(call, 'syscall', 298 if X86 else 241, EVENT, VICTIM, -1, -1, 0)",
        "read('/proc/self/stat')",
    ),
    Way(
        "ask where a process's memory is",
        "call('syscall', 279 if X86 else 239, VICTIM, 0, 0, 0, 0, 0)",
        "os.getpid()",
    ),
    Way(
        "find a process's locks",
        "call('syscall', 274 if X86 else 100, VICTIM, BUFFER, BUFFER)",
        "call('syscall', 274 if X86 else 100, 0, BUFFER, BUFFER)",
    ),
    Way(
        "compare a process with this one",
        "call('syscall', 312 if X86 else 272, VICTIM, os.getpid(), 1, 0, 0)",
        "os.getpid()",
    ),
    Way(
        "signal a thread by its number alone",
        "call('syscall', 200 if X86 else 130, VICTIM, 0)",
        "call('syscall', 200 if X86 else 130, os.getpid(), 0)",
        gap="signals",
    ),
    Way(
        "signal a process by its directory in /proc",
        "signal.pidfd_send_signal(os.open(f'/proc/{VICTIM}', os.O_DIRECTORY), 0)",
        "os.open('/proc/self', os.O_DIRECTORY)",
        gap="signals",
    ),
    Way(
        "slow the session of a process down",
        "Path(f'/proc/{VICTIM}/autogroup').write_text('19')",
        "read('/proc/self/autogroup')",
        needs="/proc/self/autogroup",
    ),
    Way(
        "slow a process down by the 32-bit interface",
        "native32(97, 0, VICTIM, 19)",
        "native(39 if X86 else 172)",
    ),
    Way(
        "reach another's shared memory of System V",
        "attached(SEGMENT)",
        "mmap.mmap(-1, 4096)",
        gap="ipc",
    ),
    # ---- the kernel
    Way(
        "make a namespace of users by the newest call",
        "call('syscall', 435, NEW_USER, 64) or os._exit(0)",
        "os.waitpid(child(), 0)",
    ),
    Way(
        "copy the mounts of a directory",
        "call('syscall', 428, -100, bytes(H), 1)",
        "os.open(H, os.O_PATH)",
    ),
    Way(
        "open a file system that is not mounted",
        "call('syscall', 430, b'tmpfs', 0)",
        "os.statvfs(P)",
    ),
    Way(
        "look for a key in the kernel's keyring",
        "judged(call, 'syscall', 249 if X86 else 218, b'user', b'vespe-none', None, 0)",
        "os.getpid()",
    ),
    Way(
        "write into the log of the kernel",
        "os.close(os.open('/dev/kmsg', os.O_WRONLY))",
        "os.close(os.open('/dev/null', os.O_WRONLY))",
        needs="/dev/kmsg",
    ),
    Way(
        "open the device of file systems of one's own",
        "os.close(os.open('/dev/fuse', os.O_RDWR))",
        "os.close(os.open('/dev/null', os.O_RDWR))",
        needs="/dev/fuse",
    ),
    Way("set the clock", "judged(call, 'adjtimex', TICK)", "os.times()", root_only=True),
    Way(
        "use a file as memory of the machine",
        "judged(call, 'swapon', bytes(P/'a'), 0)",
        "read(P/'a')",
        root_only=True,
    ),
    Way(
        "restart the machine",
        "judged(call, 'syscall', 169 if X86 else 142, 0, 0, 0, 0)",
        "os.uname()",
        root_only=True,
    ),
    Way("become another user", "os.setuid(12345)", "os.setuid(os.getuid())", root_only=True),
    Way(
        "change a network interface",
        "fcntl.ioctl(socket.socket(2, 2), 0x8914, flags_of(b'lo'))",
        "flags_of(b'lo')",
        root_only=True,
    ),
    # ---- the network
    Way(
        "send a message to a Unix socket of datagrams",
        "socket.socket(1, 2).sendmsg([b'x'], [], 0, str(O/'datagrams'))",
        "socket.socketpair(1, 2)",
        gap="sockets",
    ),
    Way(
        "reach a Unix socket by /proc/self/root",
        "reach(1, f'/proc/self/root{O}/socket'[:107])",
        "own_socket(P/'own7')",
        gap="sockets",
    ),
    Way(
        "reach a server of this machine by MPTCP where a host is stated",
        "reach(2, ('127.0.0.1', TCP), 262)",
        "own_server()",
        gap="hosts",
        policy="hosts",
        needs="/proc/sys/net/mptcp",
    ),
    Way(
        "reach a host by MPTCP",
        "reach(2, ('127.0.0.1', TCP), 262)",
        "socket.socketpair()",
        policy="closed",
        needs="/proc/sys/net/mptcp",
    ),
    # ---- everything stated
    Way(
        "list the project where a part of it is stated",
        "bool(os.listdir(P))",
        "os.listdir(P/'docs')",
        policy="closed",
    ),
    Way(
        "tell the size of what is not stated",
        "os.stat(H/'notes')",
        "os.stat(P/'docs/a')",
        policy="closed",
        gap="names, names",
    ),
    Way(
        "start a program by a descriptor of it",
        "os.execve(os.open('/usr/bin/id', os.O_RDONLY), ['id'], {})",
        "out('cat', P/'docs/a')",
        policy="closed",
        needs="/usr/bin/id",
    ),
    Way(
        "take memory that the kernel hides",
        "call('syscall', 447, 0)",
        "bytearray(1 << 20)",
        policy="closed",
    ),
    Way(
        "take memory at the end of the heap",
        "call('sbrk', 300 << 20)",
        "call('sbrk', 1 << 20)",
        policy="closed",
    ),
    Way(
        "take memory by resizing what is there",
        "mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).resize(300 << 20)",
        "mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).resize(2 << 20)",
        policy="closed",
    ),
    Way(
        "take memory that could not be written at first",
        "unprotected(300 << 20)",
        "unprotected(1 << 20)",
        policy="closed",
    ),
    Way(
        "take memory as a copy of a file",
        "copied(P/'out/m1', 300 << 20)",
        "copied(P/'out/m2', 1 << 20)",
        policy="closed",
    ),
    Way(
        "take memory by mapping a device with other flags",
        "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 300 << 20, 3)",
        "os.read(os.open('/dev/zero', os.O_RDONLY), 10)",
        policy="closed",
    ),
    Way(
        "raise the limit of the memory that is stated",
        "resource.setrlimit(resource.RLIMIT_DATA, (300 << 20, 300 << 20))",
        "resource.getrlimit(resource.RLIMIT_DATA)",
        policy="closed",
    ),
    # ---- stated places that are links
    Way(
        "read a key by a stated path with dots",
        "read(P/'keys2/id')",
        "read(P/'docs/a')",
        policy="links",
    ),
    Way(
        "append to a start-up file where a stated file is a link to it",
        "write(H/'.profile')",
        "write(P/'out/w1')",
        policy="links",
    ),
    Way(
        "reach a Unix socket where a stated one is a link to it",
        "reach(1, str(O/'socket'))",
        "reach(1, str(H/'docs/socket'))",
        policy="sockets",
        gap="sockets",
    ),
    # ---- late
    Way(
        "write a hook of a repository that was cloned since",
        "write(P/'since/.git/hooks/post-checkout')",
        "write(P/'since/a')",
        policy="late",
        gap="late-project, project",
    ),
)
