"""Processes that are started, bounded and ended as whole trees, and the signals that end Vespe
itself.

Uses `errors` and `defaults` alone; `supervisor` imports nothing of Vespe. Begin with `process.run`:
one program under a supervisor, with a deadline and a bound on what it prints.

Why a supervisor: when a call ends, nothing that it started may be left, not even when Vespe was
killed with -9. The supervisor is the subreaper of one call (PR_SET_CHILD_SUBREAPER in prctl(2),
https://man7.org/linux/man-pages/man2/prctl.2.html): an orphan below it becomes its child, so the
tree has ended exactly when no child is left. Its control pipe ends when Vespe dies.

What does not work instead:

- Killing the process group: setsid(2) leaves it.
- Making Vespe the subreaper: calls at the same time would wait for one another's orphans, and a
  library must not reap the children of the program that uses it.
- PR_SET_PDEATHSIG alone: grandchildren do not inherit it, and it is sent when the *thread* that
  forked ends.
- A PID namespace: it needs rights that many machines do not grant, and an init for each call.
- Forking in a process that has threads: a lock that another thread held stays locked in the child
  (https://docs.python.org/3/library/os.html#os.fork). So the library starts an interpreter, or asks
  a zygote, which has one thread; only the command forks itself, while it has one.

Not covered: on macOS, without subreapers, a daemon that left its group and lost its parent; and
what a tool had detached before it killed its own supervisor with -9.
"""
