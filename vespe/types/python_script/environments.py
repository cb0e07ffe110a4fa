"""Environments of their own for scripts with dependencies: made once in the user's cache directory,
kept by their digest.
"""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from vespe import defaults
from vespe.calls import sandboxing
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError, ToolExecutionError
from vespe.files import atomic, locations, staging
from vespe.lazy import hashlib, pattern, shutil
from vespe.models import JsonObject
from vespe.processes import process
from vespe.records import dataclass, json_of
from vespe.tools.python.script_lock import Lock

_TIMEOUT_S: Final = 600.0
"""For each of the two steps: making the environment, and fetching what goes into it."""
_CERTIFICATES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_ELSEWHERE: Final = {
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_USER",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_DRY_RUN",
    "PIP_PYTHON",
}
"""Settings of pip that would put what is installed elsewhere than into the environment."""
_CONFIGURATION: Final = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_CACHE_HOME", "NETRC")
"""Where pip and uv look for their own files, beside the home directory."""
_BROKEN: Final = pattern(r"after connection broken by '(.*)':")
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
_SOURCES: Final = ("index-url", "extra-index-url", "find-links", "no-index")
"""Settings of pip that say where packages are: uv does not read them."""
_HAS_PIP: Final = (
    "import pip, sys; sys.exit(tuple(map(int, pip.__version__.split('.')[:2])) < (22, 3))"
)
"""Whether an interpreter's pip knows `--python`: https://pip.pypa.io/en/stable/news/#v22-3."""
_NOTE: Final = "vespe.json"
_MISMATCH: Final = pattern(r"(?i)do not match the hashes|hash mismatch")
"""How pip and uv say that a file is not the one whose hash they were given."""
_UV_FRAME: Final = pattern(r"[\s×│╰─▶├]+")


def interpreter(
    dependencies: tuple[str, ...],
    progress: Callable[[str], None] | None = None,
    *,
    lock: Lock | None = None,
    environment: Mapping[str, str] | None = None,
    cancel: threading.Event | None = None,
    sandbox: str = "auto",
) -> str:
    """Return the path of an interpreter that has `dependencies` (PEP 508, sorted), and make it
    where there is none yet.

    With a `lock` it has the files that this names. It lies at `<user cache>/vespe/envs/<digest>`,
    made aside and renamed into its place, so that a half-made one never counts; one maker at a
    time. `progress` is told, in a sentence, what takes so long; `environment` is the caller's own
    (by default os.environ), of which uv or pip is given the allow-list, proxies, certificates and
    its own settings; it reads its own configuration files too. What is built then is others' code:
    `sandbox` is the user's setting of what holds it.

    Raises ToolExecutionError with the dependency that cannot be had, InvalidDocument for a lock
    that does not fit its script, StorageError, TimedOut, Interrupted.
    """
    root = _root()
    digest = hashlib.sha256(
        "\n".join((sys.version, sys.prefix, *dependencies)).encode()
        + (b"\n\n" + lock.data if lock else b"")
    ).hexdigest()
    python = os.path.join(root, digest, "bin", "python")
    if os.path.exists(python):
        return python
    atomic.private_directory(root)
    with atomic.locked(root, timeout_s=2 * _TIMEOUT_S):
        staging.sweep(root)
        if not os.path.exists(python):
            lines = lock.lines() if lock is not None else ()
            if progress is not None:
                progress(
                    f"installing {', '.join(dependencies)} into a separate environment (only once)"
                )
            installer = Installer(
                os.environ if environment is None else environment, cancel, sandbox=sandbox
            )
            try:
                _make(os.path.join(root, digest), dependencies, lines, installer)
            except ToolExecutionError as error:
                raise _other_bytes(error, lock) or error from None
    return python


def _other_bytes(error: ToolExecutionError, lock: Lock | None) -> InvalidDocument | None:
    """Return the error for a file whose hash is not the one that was written down; None for any
    other failure.
    """
    said = str(error.details.get("stderr", ""))
    if not _MISMATCH.search(said):
        return None
    names = ", ".join(error.details.get("dependencies", ()))
    refused = InvalidDocument(
        f"has another hash than the file that is there now: {names}",
        path=lock.path if lock is not None else "",
        hint="nothing was run. Find out why the file changed. If the change is right, `vespe "
        "tool lock` records the new hash",
    )
    refused.details |= {"stderr": said}
    return refused


def of_project(root: str) -> tuple[str, str]:
    """Return the interpreter of a project's own `.venv`, and what tells it from what stood there
    before; raises ToolExecutionError.
    """
    place = os.path.join(root, ".venv")
    python, settings = os.path.join(place, "bin", "python"), os.path.join(place, "pyvenv.cfg")
    try:
        text = atomic.read_bytes(settings).decode("utf-8", "replace")
        made = os.stat(settings).st_mtime_ns
    except (StorageError, OSError):
        text, made = "", 0
    if not text or not os.path.exists(python):
        hint = (
            f"create one with `python -m venv {place}` or `uv venv {place}`, then install the "
            "project into it"
        )
        raise ToolExecutionError(
            f'its `environment` is "project", and {root} has no virtual environment .venv',
            hint=hint,
        )
    said = re.search(r"^version(?:_info)? *= *(\d+)\.(\d+)", text, re.MULTILINE)
    version = (int(said[1]), int(said[2])) if said else sys.version_info[:2]
    if version < (3, 11):
        raise ToolExecutionError(
            f"{place} has Python {version[0]}.{version[1]}, but tools need 3.11 or later",
            hint=f"create it again: {place}",
        )
    packages = os.path.join(place, "lib", f"python{version[0]}.{version[1]}", "site-packages")
    changed = os.stat(packages).st_mtime_ns if os.path.isdir(packages) else 0
    return python, f"{'own' if version == sys.version_info[:2] else 'foreign'} {made} {changed}"


def _root() -> str:
    return os.path.join(locations.user_cache_dir(), "envs")


def _make(
    place: str, dependencies: tuple[str, ...], locked: tuple[str, ...], installer: "Installer"
) -> None:
    with staging.staging(os.path.dirname(place), target=place) as aside:
        made, lines = os.path.join(aside, "environment"), os.path.join(aside, "requirements.txt")
        atomic.write_atomic(lines, "\n".join(locked), durable=False)
        installer.make(
            made,
            ("--no-deps", "--require-hashes", "-r", lines) if locked else ("--", *dependencies),
            names=locked or dependencies,
        )
        said = {
            "dependencies": [*dependencies],
            "locked": bool(locked),
            "python": sys.version.split()[0],
            "by": installer.name,
        }
        atomic.write_atomic(os.path.join(made, _NOTE), strict_json.dump_json(said), durable=False)
        # A virtual environment names its own place in its scripts only, which are not run:
        # `bin/python` finds its own.
        staging.place(made, place)


class Installer:
    """uv where there is one and its settings say where packages are, else venv and pip: as the
    user's own settings have them.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        cancel: threading.Event | None = None,
        *,
        sandbox: str = "auto",
    ) -> None:
        self._sandbox = sandbox
        own = (name for name in environment if name.startswith(("PIP_", "UV_")))
        named = (*_CERTIFICATES, *_CONFIGURATION, *_PROXIES, *own)
        extra = {
            name: environment[name]
            for name in named
            if name in environment and name not in _ELSEWHERE
        }
        self.environment = process.child_environment(environment, extra | {"PIP_USER": "0"})
        self.cancel = cancel
        path = [
            part for part in environment.get("PATH", "").split(os.pathsep) if os.path.isabs(part)
        ]
        self.uv = (
            None if _is_for_pip(environment) else shutil.which("uv", path=os.pathsep.join(path))
        )
        self.name = "uv" if self.uv else "pip"

    def make(self, place: str, arguments: Sequence[str], *, names: Sequence[str]) -> None:
        """Make a virtual environment with what the arguments of an install say; `names` are the
        requirements, for a failure.
        """
        python, aside = os.path.join(place, "bin", "python"), os.path.dirname(place)
        if self.uv:
            self.run(
                (self.uv, "venv", "--quiet", "--no-project", "--python", sys.executable, place),
                names,
                aside=aside,
            )
            self.run(
                (self.uv, "pip", "install", "--quiet", "--python", python, *arguments),
                names,
                aside=aside,
            )
        else:
            pip = self._pip()
            self.run(
                (sys.executable, "-I", "-m", "venv", *(("--without-pip",) if pip else ()), place),
                names,
                aside=aside,
            )
            argv = (*pip, "--python", python) if pip else (python, "-I", "-m", "pip")
            self.run(
                (
                    *argv,
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--no-input",
                    *arguments,
                ),
                names,
                aside=aside,
            )

    def _pip(self) -> tuple[str, ...]:
        """Return the command of a pip that installs for other interpreters: this one's, or its
        base's; () where neither has one.

        An environment that brings a pip of its own takes seconds longer to make, and Debian's
        Python cannot make one.
        """
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        for python in (sys.executable, os.path.join(sys.base_prefix, "bin", version)):
            if not os.path.exists(python):
                continue
            asked = process.Command(
                argv=(python, "-I", "-c", _HAS_PIP),
                cwd="/",
                env=self.environment,
                timeout_s=_TIMEOUT_S,
            )
            if process.run(asked, cancel=self.cancel).returncode == 0:
                return (python, "-I", "-m", "pip")
        return ()

    def run(self, argv: Sequence[str], names: Sequence[str], *, aside: str) -> bytes:
        """Run one step, which writes in `aside`, and return what it printed.

        Raises ToolExecutionError with the requirement that cannot be had.
        """
        with sandboxing.installing(
            self.environment, written=[aside], setting=self._sandbox
        ) as held:
            env = {**self.environment, **(held.environment if held is not None else {})}
            command = process.Command(
                argv=argv, cwd="/", env=env, timeout_s=_TIMEOUT_S, sandbox=held
            )
            finished = process.run(command, cancel=self.cancel)
        if finished.returncode != 0:
            raise _refusal([name.split(" --hash=")[0] for name in names], finished, by=self.name)
        return finished.stdout


def _is_for_pip(environment: Mapping[str, str]) -> bool:
    """Whether the user has told pip alone where packages are."""
    if any(name.startswith("UV_") for name in environment):
        return False
    if any(environment.get("PIP_" + name.replace("-", "_").upper()) for name in _SOURCES):
        return True
    home = environment.get("HOME", "")
    own = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    places = (
        "/etc/pip.conf",
        f"{home}/.pip/pip.conf",
        f"{own}/pip/pip.conf",
        environment.get("PIP_CONFIG_FILE", ""),
    )
    return any(name in text for text in _texts(places) for name in _SOURCES)


def _texts(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        try:
            yield (
                atomic.read_bytes(path).decode("utf-8", "replace")
                if path and os.path.exists(path)
                else ""
            )
        except StorageError:
            continue


def _refusal(
    dependencies: Sequence[str], finished: process.Finished, *, by: str
) -> ToolExecutionError:
    said = finished.stderr.decode("utf-8", "replace").strip()
    errors = [
        line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")
    ]
    if by == "uv":
        errors = [" ".join(_UV_FRAME.sub(" ", said.removeprefix("error: ")).split())]
    if broken := _BROKEN.search(said):
        errors.append(
            f"{errors[-1] if errors else 'pip failed'} (the index did not answer: {broken[1]})"
        )
    why = (
        errors[-1]
        if errors
        else said.splitlines()[-1]
        if said
        else f"{by} ended with status {finished.returncode}"
    )
    names = [item for item in dependencies if any(item in line for line in errors)] or list(
        dependencies
    )
    return ToolExecutionError(
        f"the dependency {', '.join(names)} cannot be installed: {why}",
        hint="check `dependencies` in the script's `# /// script` block, and the network "
        f"that {by} needs",
        details={"dependencies": names, "stderr": said[-defaults.LOG_TAIL_BYTES // 16 :]},
    )


# ---- what is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """One environment that is kept: what is in it, its `size` in bytes, and the day of its last
    start, as far as the file system tells.
    """

    digest: str
    dependencies: tuple[str, ...]
    python: str
    size: int
    used: float

    @property
    def title(self) -> str:
        """What it is for, in a few words."""
        return ", ".join(self.dependencies) or "packages that are not in the lock"

    def to_json(self) -> JsonObject:
        """Return it as `cache list --json` prints it."""
        return json_of(self, size="bytes") | {"used": round(self.used)}


def list_kept() -> tuple[Environment, ...]:
    """Return every environment that is kept, the one that was used last first."""
    try:
        names = os.listdir(_root())
    except OSError:
        return ()
    found = [_kept(name) for name in names if re.fullmatch(r"[0-9a-f]{64}", name)]
    return tuple(sorted(found, key=lambda one: -one.used))


def _kept(digest: str) -> Environment:
    place = os.path.join(_root(), digest)
    try:
        said = strict_json.read_object(os.path.join(place, _NOTE))
        # the interpreter reads it at each start
        used = os.stat(os.path.join(place, "pyvenv.cfg")).st_atime
    except (InvalidDocument, StorageError, OSError):
        said, used = {}, os.stat(place).st_mtime
    dependencies = tuple(map(str, said.get("dependencies", ())))
    return Environment(
        digest=digest,
        dependencies=dependencies,
        python=str(said.get("python", "")),
        size=_size(place),
        used=used,
    )


def _size(place: str) -> int:
    total = 0
    for directory, _, files in os.walk(place):
        for name in files:
            status = os.lstat(os.path.join(directory, name))
            total += 0 if status.st_nlink > 1 and status.st_size == 0 else status.st_size
    return total


def forget(environments: Sequence[Environment]) -> None:
    """Take environments out; a call that needs one makes it again. Raises StorageError."""
    with atomic.locked(_root(), timeout_s=2 * _TIMEOUT_S):
        for one in environments:
            staging.remove(os.path.join(_root(), one.digest))
