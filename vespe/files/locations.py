"""Where things are: the user's and the site's directories, the kits that ship, and the project's
root.
"""

import os
import stat
import sys
from collections.abc import Mapping
from typing import Final

from vespe import defaults
from vespe.errors import InvalidDocument, ProjectNotFound, Refused
from vespe.files import ownership
from vespe.lazy import platformdirs, pwd

_APP: Final = "vespe"
_XDG: Final = {
    "data": ("XDG_DATA_HOME", ".local/share"),
    "config": ("XDG_CONFIG_HOME", ".config"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
}
_SITE_DATA: Final = "/usr/local/share:/usr/share"
_NO_HOME: Final = "/nonexistent"
"""Stands for the home of a user who has none: reading finds nothing there, and writing fails with a
sentence.
"""


# Each of these four raises Refused for a directory that another user can change: what is in it
# decides what runs, and with which secrets.


def user_data_dir() -> str:
    """Return the user's data directory (kits filled by hand); it may not exist."""
    return _user_dir("data")


def user_config_dir() -> str:
    """Return the directory of the user's own configuration; it may not exist."""
    return _user_dir("config")


def user_state_dir() -> str:
    """Return the directory of approvals and of the log of calls; it may not exist."""
    return _user_dir("state")


def user_cache_dir() -> str:
    """Return the directory of what costs only time to lose; it may not exist."""
    return _user_dir("cache")


def hidden_dirs() -> tuple[str, ...]:
    """Return the directories of configuration, state and cache, whoever can change them: no tool
    may open them.
    """
    return _path_of("config"), _path_of("state"), _path_of("cache")


def moved_by(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an environment that put the directories above, or the site's, where
    they would not be without them.
    """
    if not _is_xdg():
        return {}
    home, moved = environ.get("HOME", ""), {}
    for variable, default in _XDG.values():
        named = environ.get(variable, "")
        if os.path.isabs(named) and named.rstrip("/") != os.path.join(home, default):
            moved[variable] = named
    named = environ.get("XDG_DATA_DIRS", "")
    usual = _SITE_DATA.split(":")
    if any(path not in usual and os.path.isdir(f"{path}/{_APP}") for path in named.split(":")):
        moved["XDG_DATA_DIRS"] = named
    return moved


def site_data_dirs() -> list[str]:
    """Return the data directories that an administrator fills, in their order; they may not
    exist.
    """
    if not _is_xdg():
        return platformdirs.site_data_dir(_APP, appauthor=False, multipath=True).split(os.pathsep)
    named = [path for path in os.environ.get("XDG_DATA_DIRS", "").split(":") if os.path.isabs(path)]
    return [os.path.join(path, _APP) for path in named or _SITE_DATA.split(":")]


def shipped_kits_dir() -> str | None:
    """Return the directory of the kits that ship with Vespe: inside the wheel, or beside the
    package in a source checkout.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    candidates = (
        os.path.join(package, "data", "kits"),
        os.path.join(os.path.dirname(package), "kits"),
    )
    return next((path for path in candidates if _holds_kits(path)), None)


def find_project(
    start: str | os.PathLike[str] | None = None,
    *,
    explicit: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> str:
    """Return the absolute path of the nearest directory, at the start or above it, that holds a
    directory `.vespe`.

    It starts at `explicit` (`--project DIR`), else at VESPE_PROJECT, else at `start`, else in the
    working directory. Raises ProjectNotFound, and InvalidDocument where `.vespe` is a symbolic
    link, which Vespe does not follow.
    """
    named = (
        os.fspath(explicit)
        if explicit is not None
        else (os.environ if environ is None else environ).get(defaults.ENV_PROJECT)
    )
    try:
        first = os.path.abspath(named or start or os.getcwd())
    except OSError as error:
        raise ProjectNotFound(
            ".", reason=f"the working directory cannot be read ({error.strerror})"
        ) from None
    if named and not os.path.isdir(first):
        raise ProjectNotFound(first, reason=f"there is no directory {first}")
    directory = first
    while not _is_project(directory):
        parent = os.path.dirname(directory)
        if parent == directory:
            raise ProjectNotFound(first)
        directory = parent
    return directory


def _is_project(directory: str) -> bool:
    path = os.path.join(directory, defaults.PROJECT_DIR)
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    if stat.S_ISLNK(mode):
        raise InvalidDocument("is a symbolic link, which Vespe does not follow", path=path)
    return stat.S_ISDIR(mode)


def _is_xdg() -> bool:
    return sys.platform.startswith("linux")


def _user_dir(kind: str) -> str:
    path = _path_of(kind)
    if path not in _own:
        _check_own(path, kind)
        if os.path.isdir(path):  # else somebody could still make it
            _own.add(path)
    return path


_own: Final[set[str]] = set()
"""The directories that this process has looked at; each is looked at once after it exists."""


def _check_own(path: str, kind: str) -> None:
    if why := ownership.foreign_writer(path):
        raise refuse_foreign(path, why, kind=kind)
    if replaced := ownership.foreign_place(path):
        raise refuse_foreign(*replaced, kind=kind)


def refuse_foreign(place: str, why: str, *, kind: str) -> Refused:
    """Return the error for a place that another user can change, on the way to a directory of that
    kind (`config`) or to a file in it.
    """
    variable = f"HOME, or {_XDG[kind][0]}," if _is_xdg() else "HOME"
    return Refused(
        f"{place} {why}, who could change what Vespe runs and which secrets it uses",
        hint=ownership.remedy(place, otherwise=f"set {variable} to a directory of your own"),
    )


def _path_of(kind: str) -> str:
    if not _is_xdg():
        return str(getattr(platformdirs, f"user_{kind}_dir")(_APP, appauthor=False))
    # platformdirs costs 10 ms of start-up, and the specification is these three lines.
    variable, default = _XDG[kind]
    named = os.environ.get(variable, "")
    return os.path.join(named if os.path.isabs(named) else os.path.join(_home(), default), _APP)


def _home() -> str:
    named = os.environ.get("HOME", "")
    if os.path.isabs(named):
        return named
    try:
        return pwd.getpwuid(os.getuid()).pw_dir or _NO_HOME
    except KeyError:
        return _NO_HOME


def _holds_kits(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(
                os.path.isfile(os.path.join(entry.path, defaults.KIT_CONFIG_FILE))
                for entry in entries
            )
    except OSError:
        return False
