"""Whether a directory is its user's alone to change: what is in it is only as trustworthy as
whoever can write there.
"""

import os
import stat
from collections.abc import Iterator

from vespe.lazy import grp, pwd, shlex


def foreign_writer(path: str) -> str | None:
    """Say why another user than this one and root can change a file or what is in a directory, as
    the end of a sentence that begins with it.

    None where nobody can, and for what is not there. A group of the user's own, which many systems
    give each user, is no other, and neither is root's.
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


def foreign_place(path: str) -> tuple[str, str] | None:
    """Return a directory in which another user than this one and root can replace what a path
    leads to, and why. None where there is none.

    This checks the directory that contains the path and, if one of these two is a link, the
    directory that contains the link's target. The directories above are refused only if everybody
    can write to them: homes for a shared group are common, for example in notebook servers. The
    search upwards ends at the first directory that is sticky or belongs to root or another user: in
    containers, another user's number may own the home directory, and root's may be open to all.
    """
    parent = os.path.dirname(path)
    real = os.path.realpath(path)
    linked = (os.path.realpath(parent),) if os.path.islink(parent) else ()
    for place in dict.fromkeys((path, real, *linked)):
        if why := foreign_replacer(place):
            return os.path.dirname(place), why
    for directory in dict.fromkeys((parent, os.path.dirname(real))):
        for above in _own_above(directory):
            if why := foreign_writer(above):
                return above, why
    return None


def _own_above(directory: str) -> Iterator[str]:
    """Yield the directories above one, from the nearest on, that everybody can write to."""
    while (above := os.path.dirname(directory)) != directory:
        directory = above
        try:
            status = os.stat(directory)
        except FileNotFoundError:
            continue
        except OSError:
            return
        is_own = status.st_uid == os.geteuid() and status.st_uid != 0
        if status.st_mode & stat.S_ISVTX or not is_own:
            return
        if status.st_mode & stat.S_IWOTH:
            yield directory


def remedy(path: str, *, otherwise: str) -> str:
    """Return the command with which this user takes the permission to change a file or directory
    from others, or `otherwise` where it is not this user's own.
    """
    return f"`chmod go-w {shlex.quote(path)}`" if is_own(path) else otherwise


def is_own(path: str, *, follow_links: bool = True) -> bool:
    """Whether a file or directory belongs to this user, who can then change its mode."""
    try:
        return os.stat(path, follow_symlinks=follow_links).st_uid == os.geteuid()
    except OSError:
        return False


def foreign_part(path: str) -> tuple[str, str] | None:
    """Return the first file or directory, at or beneath a path, that another user can change, and
    why. None where there is none. Links are not followed.
    """
    for part in _parts(path):
        try:
            status = os.lstat(part)
        except OSError:
            continue
        if why := _why(status):
            return part, why
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

    Root's own group counts as root: platforms that run containers under any number of a user, which
    may have no entry in the system's list of users, give them this group.
    """
    if number == 0:
        return True
    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return (
        number == user.pw_gid
        and group.gr_name == user.pw_name
        and set(group.gr_mem) <= {user.pw_name, "root"}
    )
