"""Processes of tools as a test sees them: in a namespace of processes a tool has another number."""

import os

SAYS = "f\"{os.getpid()} {os.readlink('/proc/self/ns/pid')}\""
"""An expression for a tool's body, which imports `os`: what `outside` takes."""


def outside(said: str) -> int:
    """Return the number that a living process has here, by what `SAYS` gave in it; -1 for none."""
    pid, namespace = said.split()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/ns/pid") == namespace:
                with open(f"/proc/{name}/status", encoding="utf-8") as file:
                    numbers = next(line for line in file if line.startswith("NSpid:"))
                if numbers.split()[-1] == pid:
                    return int(name)
        except OSError:
            continue
    return -1
