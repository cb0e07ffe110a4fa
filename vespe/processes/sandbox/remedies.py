"""What keeps this machine from a better level of sandbox, and the one command that mends it."""

import os

from vespe.processes.sandbox.levels import Machine

_SWITCHES = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "kernel.apparmor_restrict_unprivileged_userns=0",
        "AppArmor",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "kernel.unprivileged_userns_clone=1",
        "the kernel's setting",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "user.max_user_namespaces=15000",
        "the kernel's setting",
    ),
)
_CONTAINERS = ("/.dockerenv", "/run/.containerenv")


def remedy(machine: Machine, *, root: str = "/") -> str:
    """Say what would raise the level, as a sentence with a command; "" at the best one. `root` is
    where the machine's files are.
    """
    if machine.level in ("namespaces", "seatbelt"):
        return ""
    if machine.level == "landlock":
        return _namespaces(machine, root)
    if machine.landlock:
        return (
            f"the kernel refuses seccomp filters ({os.strerror(machine.filter)}), "
            "as some containers make it; run Vespe outside of it"
        )
    modules = _read(root, "/sys/kernel/security/lsm")
    if modules and "landlock" not in modules.split(","):
        return (
            f"Landlock is built in and not switched on: add `lsm=landlock,{modules}` to the "
            "kernel's command line, and start again"
        )
    return (
        "the kernel has no Landlock, which Linux 5.13 and later have, "
        "or a container's filter hides it"
    )


def _namespaces(machine: Machine, root: str) -> str:
    why = os.strerror(machine.namespaces)
    for path, value, setting, who in _SWITCHES:
        if _read(root, path) == value:
            return (
                f"{who} forbids namespaces ({why}): `sudo sysctl -w {setting}` allows them "
                "until the next start"
            )
    if any(os.path.exists(root + path) for path in _CONTAINERS):
        return (
            f"this container forbids namespaces ({why}): "
            "`docker run --security-opt seccomp=unconfined` starts one that does not"
        )
    return f"namespaces cannot be made here ({why})"


def _read(root: str, path: str) -> str:
    try:
        with open(root.rstrip("/") + path, encoding="ascii", errors="replace") as file:
            return file.read(4096).strip()
    except OSError:
        return ""
