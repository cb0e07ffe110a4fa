"""Whether a directory is its user's alone to change: what is in it is only as trustworthy as
whoever can write there.
"""

import os
import stat

from vespe.lazy import grp, pwd


def foreign_writer(path: str) -> str | None:
    """Say why another user than this one and root can change what is in a directory, as the end of
    a sentence that begins with it.

    None where nobody can, and for what is not there. A group of the user's own, which many systems
    give each user, is no other.
    """
    try:
        status = os.stat(path)
    except OSError:
        return None
    if status.st_uid not in (0, os.geteuid()):
        return f"belongs to another user (number {status.st_uid})"
    if status.st_mode & stat.S_IWOTH:
        return f"can be written by everybody (mode {stat.S_IMODE(status.st_mode):o})"
    if status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid):
        return f"can be written by its group (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def _is_own_group(number: int) -> bool:
    """Whether nobody but this user and root is in a group, as far as the system tells: sshd's
    StrictModes on Debian asks the same.
    """
    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return (
        number == user.pw_gid
        and group.gr_name == user.pw_name
        and set(group.gr_mem) <= {user.pw_name, "root"}
    )
