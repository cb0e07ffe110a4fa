"""A directory made its user's project: `.vespe/` comes whole and trusted in one rename, or not at
all.
"""

import contextlib
import os

from vespe import defaults
from vespe.errors import StorageError
from vespe.files import atomic, staging
from vespe.projects import project
from vespe.records import dataclass
from vespe.trust import gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Founded:
    """The project's directory, absolute, and whether this call made its `.vespe/`."""

    root: str
    made: bool


def found_project(directory: str | os.PathLike[str]) -> Founded:
    """Make `directory` a project, itself too where it is missing, and trust it: it is its user's
    own.

    Of several at once exactly one makes it. Where there already is a `.vespe/` no trust is given,
    nothing is overwritten, and only what it lacks is added. What a killed one left goes. Raises
    StorageError, and then there is no `.vespe/`; InvalidDocument where `.vespe` is no directory.
    """
    root = _absolute(os.fspath(directory))
    inner = project.project_dir(root)
    if not os.path.lexists(inner) or staging.has_leftovers(root):
        _make(root)
        with atomic.locked(root):
            staging.sweep(root, before=_distrust)
            if not os.path.lexists(inner):
                _place(root, inner)
                return Founded(root=root, made=True)
    project.complete_project_dir(inner)
    return Founded(root=root, made=False)


def _place(root: str, inner: str) -> None:
    with staging.staging(root, target=inner) as aside:
        name = os.path.join(os.path.basename(aside), defaults.PROJECT_DIR)
        staged = os.path.join(root, name)
        try:
            with atomic.translated("make", inner):
                os.mkdir(staged, 0o755)
                project.complete_project_dir(staged)
                atomic.sync_directory(staged)
            gate.trust_place(root, staged=name)
            staging.place(staged, inner)
        except StorageError as error:
            if not error.path.startswith(staged):
                raise
            number = error.details["errno"]
            raise StorageError("make", inner, OSError(number, os.strerror(number))) from None
        finally:
            _distrust(aside)


def _distrust(aside: str) -> None:
    """Take back the trust of what did not become a `.vespe/`, before it is deleted: an inode's
    number may come back.
    """
    root, name = os.path.split(aside)
    if os.path.isdir(os.path.join(aside, defaults.PROJECT_DIR)):
        with contextlib.suppress(OSError, StorageError):
            gate.forget_staged(root, os.path.join(name, defaults.PROJECT_DIR))


def _absolute(directory: str) -> str:
    with atomic.translated("find", "the working directory"):
        return os.path.abspath(directory)


def _make(root: str) -> None:
    with atomic.translated("make", root):
        os.makedirs(root, exist_ok=True)
