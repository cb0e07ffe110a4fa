"""Sandbox escapes that their author designed from the documentation, before reading the code of the
sandbox. Like the rows of `rows.py`, they use the functions of `attempts.py`.
"""

from typing import Final

from vespe.features.escapes.ways import Way

BLIND: Final = (
    # ---- keys and tokens
    Way(
        "read a key by a relative path, from its directory",
        "os.chdir(H/'.ssh'); read('id')",
        "os.chdir(H/'docs'); read('a')",
    ),
    Way(
        "read a key with RESOLVE_IN_ROOT (openat2)",
        "beneath(H, '/.ssh/id')",
        "beneath(H, '/notes')",
    ),
    Way(
        "create a hard link to a key through an O_PATH descriptor",
        "linked(H/'.ssh/id', P/'h6'); read(P/'h6')",
        "linked(P/'a2', P/'h8'); read(P/'h8')",
    ),
    Way(
        "read the size of a key",
        "os.stat(H/'.ssh/id').st_size > 0",
        "os.stat(H/'notes')",
        gap="names",
    ),
    Way(
        "read the size of a token",
        "os.stat(H/'.netrc').st_size > 0",
        "os.stat(H/'notes')",
        gap="names",
    ),
    Way(
        "watch a key with inotify",
        "call('inotify_add_watch', LIBC.inotify_init1(0), bytes(H/'.ssh/id'), 0xfff)",
        "call('inotify_add_watch', LIBC.inotify_init1(0), bytes(P/'a2'), 0xfff)",
        gap="names",
    ),
    # ---- writes
    Way("create a Unix socket outside the project", "own_socket(H/'own')", "own_socket(P/'own6')"),
    Way(
        "set an extended attribute of a file outside the project",
        "os.setxattr(O/'file', 'user.vespe', b'x')",
        "os.setxattr(P/'a', 'user.vespe', b'x')",
        gap="metadata",
    ),
    Way(
        "write .git/config through a hard link",
        "os.link(P/'.git/config', P/'h9'); write(P/'h9')",
        "os.link(P/'a2', P/'h10'); write(P/'h10')",
        gap="project",
    ),
    Way(
        "write .git/config through /proc/self/cwd and ..",
        "write(f'/proc/self/cwd/docs/../.git/config')",
        "write(f'/proc/self/cwd/docs/../config-x')",
        gap="project",
    ),
    Way(
        "write Mercurial's configuration in the project",
        "write(P/'.hg/hgrc')",
        "write(P/'hgrc')",
        gap="project",
    ),
    Way(
        "write Jujutsu's configuration in the project",
        "write(P/'.jj/repo/config.toml')",
        "write(P/'config.toml')",
        gap="project",
    ),
    Way(
        "add a tool to another project inside the project",
        "write(P/'sub/.vespe/tools/tool-x')",
        "write(P/'sub/tool-x')",
        gap="project",
    ),
    # ---- processes
    Way(
        "write another process's memory (process_vm_writev)",
        "judged(call, 'process_vm_writev', VICTIM, IOV, 1, IOV, 1, 0)",
        "pipe()",
    ),
    Way(
        "count the events of another process (perf_event_open)",
        "judged(call, 'syscall', 298 if X86 else 241, EVENT, VICTIM, -1, -1, 0)",
        "read('/proc/self/stat')",
    ),
    Way(
        "query the memory placement of another process (move_pages)",
        "call('syscall', 279 if X86 else 239, VICTIM, 0, 0, 0, 0, 0)",
        "os.getpid()",
    ),
    Way(
        "read another process's list of futexes (get_robust_list)",
        "call('syscall', 274 if X86 else 100, VICTIM, BUFFER, BUFFER)",
        "call('syscall', 274 if X86 else 100, 0, BUFFER, BUFFER)",
    ),
    Way(
        "compare kernel objects with another process (kcmp)",
        "call('syscall', 312 if X86 else 272, VICTIM, os.getpid(), 1, 0, 0)",
        "os.getpid()",
    ),
    Way(
        "signal another process's thread without its process number (tkill)",
        "call('syscall', 200 if X86 else 130, VICTIM, 0)",
        "call('syscall', 200 if X86 else 130, os.getpid(), 0)",
        gap="signals",
    ),
    Way(
        "signal another process through a descriptor of /proc/PID",
        "signal.pidfd_send_signal(os.open(f'/proc/{VICTIM}', os.O_DIRECTORY), 0)",
        "os.open('/proc/self', os.O_DIRECTORY)",
        gap="signals",
    ),
    Way(
        "lower the priority of another process's session (autogroup)",
        "Path(f'/proc/{VICTIM}/autogroup').write_text('19')",
        "read('/proc/self/autogroup')",
        needs="/proc/self/autogroup",
    ),
    Way(
        "lower another process's priority with a 32-bit system call",
        "native32(97, 0, VICTIM, 19)",
        "native(39)",
        needs="X86",
    ),
    Way(
        "attach another process's System V shared memory",
        "attached(SEGMENT)",
        "mmap.mmap(-1, 4096)",
        gap="ipc",
    ),
    # ---- the kernel
    Way(
        "create a user namespace (clone3)",
        "call('syscall', 435, NEW_USER, 64) or os._exit(0)",
        "os.waitpid(child(), 0)",
    ),
    Way(
        "copy the mount of a directory (open_tree)",
        "call('syscall', 428, -100, bytes(H), 1)",
        "os.open(H, os.O_PATH)",
    ),
    Way(
        "open a new file system (fsopen)",
        "call('syscall', 430, b'tmpfs', 0)",
        "os.statvfs(P)",
    ),
    Way(
        "request a key from the kernel's keyring (request_key)",
        "judged(call, 'syscall', 249 if X86 else 218, b'user', b'vespe-none', None, 0)",
        "os.getpid()",
    ),
    Way(
        "open the kernel log for writing (/dev/kmsg)",
        "os.close(os.open('/dev/kmsg', os.O_WRONLY))",
        "os.close(os.open('/dev/null', os.O_WRONLY))",
        needs="/dev/kmsg",
    ),
    Way(
        "open /dev/fuse",
        "os.close(os.open('/dev/fuse', os.O_RDWR))",
        "os.close(os.open('/dev/null', os.O_RDWR))",
        needs="/dev/fuse",
    ),
    Way("set the clock", "judged(call, 'adjtimex', TICK)", "os.times()", root_only=True),
    Way(
        "use a file as swap space",
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
    Way("switch to another user", "os.setuid(12345)", "os.setuid(os.getuid())", root_only=True),
    Way(
        "change a network interface",
        "fcntl.ioctl(socket.socket(2, 2), 0x8914, flags_of(b'lo'))",
        "flags_of(b'lo')",
        root_only=True,
    ),
    # ---- the network
    Way(
        "send to a Unix datagram socket with sendmsg",
        "socket.socket(1, 2).sendmsg([b'x'], [], 0, str(O/'datagrams'))",
        "socket.socketpair(1, 2)",
        gap="sockets",
    ),
    Way(
        "connect to a Unix socket through /proc/self/root",
        "reach(1, f'/proc/self/root{O}/socket'[:107])",
        "own_socket(P/'own7')",
        gap="sockets",
    ),
    Way(
        "connect over MPTCP to a local server that is not stated",
        "reach(2, ('127.0.0.1', TCP), 262)",
        "own_server()",
        gap="hosts",
        policy="hosts",
        needs="/proc/sys/net/mptcp",
    ),
    Way(
        "open an MPTCP connection",
        "reach(2, ('127.0.0.1', TCP), 262)",
        "socket.socketpair()",
        policy="closed",
        needs="/proc/sys/net/mptcp",
    ),
    # ---- everything stated
    Way(
        "list the project's root directory, which is not stated",
        "bool(os.listdir(P))",
        "os.listdir(P/'docs')",
        policy="closed",
    ),
    Way(
        "read the size of a file that is not stated",
        "os.stat(H/'notes')",
        "os.stat(P/'docs/a')",
        policy="closed",
        gap="names, names",
    ),
    Way(
        "start a program that is not stated, through a descriptor (fexecve)",
        "os.execve(os.open('/usr/bin/id', os.O_RDONLY), ['id'], {})",
        "out('cat', P/'docs/a')",
        policy="closed",
        needs="/usr/bin/id",
    ),
    Way(
        "create secret memory (memfd_secret)",
        "call('syscall', 447, 0)",
        "bytearray(1 << 20)",
        policy="closed",
    ),
    Way(
        "grow the heap beyond memory_mb (sbrk)",
        "call('sbrk', 300 << 20)",
        "call('sbrk', 1 << 20)",
        policy="closed",
    ),
    Way(
        "grow a mapping beyond memory_mb (mremap)",
        "mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).resize(300 << 20)",
        "mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).resize(2 << 20)",
        policy="closed",
    ),
    Way(
        "make a large inaccessible mapping writable (mprotect)",
        "unprotected(300 << 20)",
        "unprotected(1 << 20)",
        policy="closed",
    ),
    Way(
        "map a large private copy of a file",
        "copied(P/'out/m1', 300 << 20)",
        "copied(P/'out/m2', 1 << 20)",
        policy="closed",
    ),
    Way(
        "map /dev/zero with MAP_SHARED_VALIDATE",
        "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 300 << 20, 3)",
        "os.read(os.open('/dev/zero', os.O_RDONLY), 10)",
        policy="closed",
    ),
    Way(
        "raise the memory limit (RLIMIT_DATA)",
        "resource.setrlimit(resource.RLIMIT_DATA, (300 << 20, 300 << 20))",
        "resource.getrlimit(resource.RLIMIT_DATA)",
        policy="closed",
    ),
    # ---- stated places that are links
    Way(
        "read a key through a stated link, by a path with ..",
        "read(P/'keys2/id')",
        "read(P/'docs/a')",
        policy="links",
    ),
    Way(
        "append to the start-up file that a stated link leads to",
        "write(H/'.profile')",
        "write(P/'out/w1')",
        policy="links",
    ),
    Way(
        "connect to the Unix socket that a stated link leads to",
        "reach(1, str(O/'socket'))",
        "reach(1, str(H/'docs/socket'))",
        policy="sockets",
        gap="sockets",
    ),
    # ---- late
    Way(
        "write a git hook of a repository that was cloned later",
        "write(P/'since/.git/hooks/post-checkout')",
        "write(P/'since/a')",
        policy="late",
        gap="late-project, project",
    ),
)
