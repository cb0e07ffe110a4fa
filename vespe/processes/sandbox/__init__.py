"""What a tool's process may use: files, network, programs and memory, enforced by what this
machine's kernel offers.

Uses the ground floors alone. `policy` decides beforehand what a process is held to, and `enter`
does it in the child; `enter` imports nothing of Vespe. Begin with `policy.policy`: from what a tool
states to what its process is held to; `levels.machine` says which level this machine has.

How it works: Landlock (https://docs.kernel.org/userspace-api/landlock.html) says which files may be
read, written and run; a seccomp filter
(https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html) refuses kinds of sockets
and the system calls that lead out; where they can be made, mount, network and IPC namespaces
(https://man7.org/linux/man-pages/man7/namespaces.7.html) hide what Landlock can only leave readable
by name. Levels are found by trying them in a child, not by versions or settings: containers and
distributions refuse user namespaces in too many ways.

What does not work, and is therefore a named gap or done otherwise:

- Landlock takes nothing out of what it allows. A protected place in a readable directory means one
  rule for each of its neighbours, and their names can still be listed.
- Landlock knows ports, not hosts. A list of hosts needs a network namespace with our proxy in it.
- seccomp sees numbers, not what pointers point at: no path, no address, no flags of `clone3`, which
  is refused so that glibc falls back to `clone`. `io_uring` goes around it, and is refused whole.
- A bind mount that is read-only can be undone by who may mount, so the filter refuses mounting.
- Whoever may start an interpreter or a dynamic loader may run any file that can be read.
- All of it is for good: there is no way back, so it happens in the child, behind the last fork.
"""
