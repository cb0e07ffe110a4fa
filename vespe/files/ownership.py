"""Whether a directory is its user's alone to change: what is in it is only as trustworthy as
whoever can write there.
"""

import os
import stat
from collections.abc import Iterator

from vespe.lazy import grp, pwd


def foreign_writer(path: str) -> str | None:
    """Say why another user than this one and root can change a file or what is in a directory, as
    the end of a sentence that begins with it.

    None where nobody can, and for what is not there. A group of the user's own, which many systems
    give each user, is no other.
    """
    try:
        return _why(os.stat(path))
    except OSError:
        return None


def foreign_replacer(path: str) -> str | None:
    """Say why another user than this one and root can put something else in the place of what is at
    a path, as the end of a sentence that begins with the directory that it is in. None where nobody
    can.

    Where each may remove only what is theirs (the sticky bit, as in /tmp), nobody can.
    """
    directory = os.path.dirname(path)
    try:
        if os.stat(directory).st_mode & stat.S_ISVTX:
            return None
    except OSError:
        return None
    return foreign_writer(directory)


def foreign_part(path: str) -> str | None:
    """Say of the first file or directory, at or beneath a path, which one another user can change
    and why, as a whole clause. None where there is none. Links are not followed.
    """
    for part in _parts(path):
        try:
            status = os.lstat(part)
        except OSError:
            continue
        if why := _why(status):
            return f"{part} {why}"
    return None


def _parts(path: str) -> Iterator[str]:
    yield path
    for directory, directories, files in os.walk(path):
        yield from (os.path.join(directory, name) for name in (*directories, *files))


def _why(status: os.stat_result) -> str | None:
    if status.st_uid not in (0, os.geteuid()):
        return f"belongs to another user (number {status.st_uid})"
    if stat.S_ISLNK(status.st_mode):  # its mode means nothing
        return None
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
