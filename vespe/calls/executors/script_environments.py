"""Environments of their own for scripts with dependencies: made once in the user's cache directory, kept by their digest."""

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import StorageError, ToolExecutionError
from vespe.files import locations
from vespe.lazy import deferred
from vespe.processes import process
from vespe.processes.signals import whole

if TYPE_CHECKING:
    import shutil
else:
    shutil = deferred("shutil")

_TIMEOUT_S: Final = 600.0
"""For each of the two steps: making the environment, and fetching what goes into it."""
_OWN_VARIABLES: Final = (
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
    "PIP_CERT",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


def interpreter(
    dependencies: tuple[str, ...],
    progress: Callable[[str], None] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    cancel: threading.Event | None = None,
) -> str:
    """Give the path of an interpreter that has `dependencies` (PEP 508, sorted), and make it where there is none yet.

    It lies at `<user cache>/vespe/envs/<digest>`, made aside and renamed into its place, so that a half-made one never counts;
    one maker at a time. `progress` is told, in a sentence, what takes so long; `environment` is the caller's own (by default
    os.environ), of which pip is given the allow-list, proxies and its own settings of indexes.

    Raises ToolExecutionError with the dependency that cannot be had, StorageError, TimedOut, Interrupted.
    """
    root = os.path.join(locations.user_cache_dir(), "envs")
    digest = hashlib.sha256("\n".join((sys.version, sys.prefix, *dependencies)).encode()).hexdigest()
    python = os.path.join(root, digest, "bin", "python")
    if os.path.exists(python):
        return python
    try:
        os.makedirs(root, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StorageError("make", root, error) from error
    with strict_json.locked(root, timeout_s=2 * _TIMEOUT_S):
        if not os.path.exists(python):
            if progress is not None:
                progress(f"installing {', '.join(dependencies)} into an environment of their own, once")
            _make(os.path.join(root, digest), dependencies, environment=os.environ if environment is None else environment, cancel=cancel)
    return python


@whole
def _make(place: str, dependencies: tuple[str, ...], *, environment: Mapping[str, str], cancel: threading.Event | None) -> None:
    aside = f"{place}.{os.getpid():x}.tmp"
    extra = {name: environment[name] for name in (*_OWN_VARIABLES, *_PROXIES) if name in environment}
    env = process.child_environment(environment, extra | {"PIP_CONFIG_FILE": os.devnull})
    try:
        for argv in (_venv(aside), _pip(aside, dependencies)):
            command = process.Command(argv=argv, cwd="/", env=env, timeout_s=_TIMEOUT_S)
            finished = process.run(command, cancel=cancel)
            if finished.returncode != 0:
                raise _refusal(dependencies, finished)
        # A virtual environment names its own place in its scripts only, which are not run: `bin/python` finds its own.
        os.rename(aside, place)
    except OSError as error:
        raise StorageError("make", place, error) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _venv(place: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-m", "venv", place)


def _pip(place: str, dependencies: tuple[str, ...]) -> tuple[str, ...]:
    options = ("--quiet", "--disable-pip-version-check", "--no-input")
    return (os.path.join(place, "bin", "python"), "-I", "-m", "pip", "install", *options, "--", *dependencies)


def _refusal(dependencies: tuple[str, ...], finished: process.Finished) -> ToolExecutionError:
    said = finished.stderr.decode("utf-8", "replace").strip()
    errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    why = errors[-1] if errors else said.splitlines()[-1] if said else f"pip ended with status {finished.returncode}"
    names = [item for item in dependencies if any(item in line for line in errors)] or list(dependencies)
    return ToolExecutionError(
        f"the dependency {', '.join(names)} cannot be had: {why}",
        hint="mend `dependencies` in the script's `# /// script` block, or the network that pip needs",
        details={"dependencies": names, "stderr": said[-defaults.LOG_TAIL_BYTES // 16 :]},
    )
