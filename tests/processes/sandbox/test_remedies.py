"""What doctor says would raise the level, on machines as they are found."""

from pathlib import Path

import pytest

from vespe.processes.sandbox.levels import Machine
from vespe.processes.sandbox.remedies import remedy

LANDLOCK = Machine(landlock=4, namespaces=1, filter=0)


@pytest.mark.parametrize(
    ("machine", "files", "said"),
    [
        (Machine(landlock=7, namespaces=0, filter=0), {}, ""),
        (
            LANDLOCK,
            {"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"},
            "apparmor_restrict_unprivileged_userns=0`",
        ),
        (
            LANDLOCK,
            {"proc/sys/kernel/unprivileged_userns_clone": "0\n"},
            "kernel.unprivileged_userns_clone=1`",
        ),
        (LANDLOCK, {"proc/sys/user/max_user_namespaces": "0\n"}, "user.max_user_namespaces=15000`"),
        (
            LANDLOCK,
            {".dockerenv": ""},
            "this container forbids namespaces (Operation not permitted)",
        ),
        (LANDLOCK, {}, "namespaces cannot be made here"),
        (
            Machine(namespaces=0, filter=0),
            {"sys/kernel/security/lsm": "capability,yama\n"},
            "`lsm=landlock,capability,yama`",
        ),
        (Machine(namespaces=0, filter=0), {}, "Linux 5.13"),
        (Machine(landlock=7, namespaces=0, filter=1), {}, "seccomp"),
    ],
)
def test_what_would_raise_the_level_is_named(
    tmp_path: Path, machine: Machine, files: dict[str, str], said: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert said in remedy(machine, root=str(tmp_path)) and bool(said) == bool(
        remedy(machine, root=str(tmp_path))
    )
