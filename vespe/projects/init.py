"""A directory made its user's project: `.vespe/` comes whole and trusted in one rename, or not at all."""

import contextlib
import os
import re
from dataclasses import dataclass
from typing import Final

from vespe import defaults
from vespe.errors import StorageError
from vespe.files import atomic, trees
from vespe.processes.signals import whole
from vespe.projects import project
from vespe.trust import gate

_STAGED: Final = f"{defaults.PROJECT_DIR}.new-"
_LEFTOVER: Final = re.compile(re.escape(_STAGED) + "[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Founded:
    """The project's directory, absolute, and whether this call made its `.vespe/`."""

    root: str
    made: bool


def found_project(directory: str | os.PathLike[str]) -> Founded:
    """Make `directory` a project, itself too where it is missing, and trust it: it is its user's own.

    Of several at once exactly one makes it. Where there already is a `.vespe/` no trust is given, nothing is overwritten,
    and only what it lacks is added. What a killed one left goes. Raises StorageError, and then there is no `.vespe/`;
    InvalidDocument where `.vespe` is no directory.
    """
    root = _absolute(os.fspath(directory))
    inner = project.project_dir(root)
    if not os.path.lexists(inner):
        _make(root)
        with atomic.locked(root):
            _sweep(root)
            if not os.path.lexists(inner):
                _place(root, inner)
                return Founded(root=root, made=True)
    project.complete_project_dir(inner)
    return Founded(root=root, made=False)


@whole
def _place(root: str, inner: str) -> None:
    name = f"{_STAGED}{os.urandom(16).hex()}"
    staged = os.path.join(root, name)
    try:
        os.mkdir(staged)
        project.complete_project_dir(staged)
        atomic.sync_directory(staged)
        gate.trust_place(root, staged=name)
        os.rename(staged, inner)
        atomic.sync_directory(root)
    except StorageError as error:
        if not error.path.startswith(staged):
            raise
        number = error.details["errno"]
        raise StorageError("make", inner, OSError(number, os.strerror(number))) from None
    except OSError as error:
        raise StorageError("make", inner, error) from error
    finally:
        _discard(root, name)


def _sweep(root: str) -> None:
    with contextlib.suppress(OSError):
        for name in os.listdir(root):
            if _LEFTOVER.fullmatch(name):
                _discard(root, name)


def _discard(root: str, name: str) -> None:
    """Delete what did not become a `.vespe/`, and its trust before it: an inode's number may come back."""
    staged = os.path.join(root, name)
    if os.path.isdir(staged) and not os.path.islink(staged):
        with contextlib.suppress(OSError):
            gate.forget_staged(root, name)
        with contextlib.suppress(OSError):
            trees.delete_tree(staged)


def _absolute(directory: str) -> str:
    try:
        return os.path.abspath(directory)
    except OSError as error:
        raise StorageError("find", "the working directory", error) from error


def _make(root: str) -> None:
    try:
        os.makedirs(root, exist_ok=True)
    except OSError as error:
        raise StorageError("make", root, error) from error
