"""Environments of their own for scripts with dependencies: made once in the user's cache directory, kept by their digest."""

import os
import re
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from vespe import defaults
from vespe.errors import InvalidDocument, ToolExecutionError
from vespe.files import atomic, locations, staging
from vespe.files.digests import sha256
from vespe.lazy import packaging_specifiers, pattern, tomllib
from vespe.processes import process
from vespe.records import dataclass

_TIMEOUT_S: Final = 600.0
"""For each of the two steps: making the environment, and fetching what goes into it."""
_CERTIFICATES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_ELSEWHERE: Final = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_DRY_RUN", "PIP_PYTHON"}
"""Settings of pip that would put what is installed elsewhere than into the environment."""
_CONFIGURATION: Final = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "NETRC")
"""Where pip looks for its own files, beside the home directory."""
_BROKEN: Final = pattern(r"after connection broken by '(.*)':")
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


def interpreter(
    dependencies: tuple[str, ...],
    progress: Callable[[str], None] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    cancel: threading.Event | None = None,
) -> str:
    """Return the path of an interpreter that has `dependencies` (PEP 508, sorted), and make it where there is none yet.

    It lies at `<user cache>/vespe/envs/<digest>`, made aside and renamed into its place, so that a half-made one never counts;
    one maker at a time. `progress` is told, in a sentence, what takes so long; `environment` is the caller's own (by default
    os.environ), of which pip is given the allow-list, proxies, certificates and its own settings; it reads its own configuration files too.

    Raises ToolExecutionError with the dependency that cannot be had, StorageError, TimedOut, Interrupted.
    """
    root = os.path.join(locations.user_cache_dir(), "envs")
    digest = sha256("\n".join((sys.version, sys.prefix, *dependencies)).encode()).hexdigest()
    python = os.path.join(root, digest, "bin", "python")
    if os.path.exists(python):
        return python
    atomic.private_directory(root)
    with atomic.locked(root, timeout_s=2 * _TIMEOUT_S):
        staging.sweep(root)
        if not os.path.exists(python):
            if progress is not None:
                progress(f"installing {', '.join(dependencies)} into an environment of their own, once")
            _make(os.path.join(root, digest), dependencies, environment=os.environ if environment is None else environment, cancel=cancel)
    return python


def _make(place: str, dependencies: tuple[str, ...], *, environment: Mapping[str, str], cancel: threading.Event | None) -> None:
    named = (*_CERTIFICATES, *_CONFIGURATION, *_PROXIES, *(name for name in environment if name.startswith("PIP_")))
    extra = {name: environment[name] for name in named if name in environment and name not in _ELSEWHERE}
    env = process.child_environment(environment, extra | {"PIP_USER": "0"})
    with staging.staging(os.path.dirname(place), target=place) as aside:
        made = os.path.join(aside, "environment")
        for argv in (_venv(made), _pip(made, dependencies)):
            command = process.Command(argv=argv, cwd="/", env=env, timeout_s=_TIMEOUT_S)
            finished = process.run(command, cancel=cancel)
            if finished.returncode != 0:
                raise _refusal(dependencies, finished)
        # A virtual environment names its own place in its scripts only, which are not run: `bin/python` finds its own.
        staging.place(made, place)


def _venv(place: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-m", "venv", place)


def _pip(place: str, dependencies: tuple[str, ...]) -> tuple[str, ...]:
    options = ("--quiet", "--disable-pip-version-check", "--no-input")
    return (os.path.join(place, "bin", "python"), "-I", "-m", "pip", "install", *options, "--", *dependencies)


def _refusal(dependencies: tuple[str, ...], finished: process.Finished) -> ToolExecutionError:
    said = finished.stderr.decode("utf-8", "replace").strip()
    errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    if broken := _BROKEN.search(said):
        errors.append(f"{errors[-1] if errors else 'pip failed'} (the index did not answer: {broken[1]})")
    why = errors[-1] if errors else said.splitlines()[-1] if said else f"pip ended with status {finished.returncode}"
    names = [item for item in dependencies if any(item in line for line in errors)] or list(dependencies)
    return ToolExecutionError(
        f"the dependency {', '.join(names)} cannot be had: {why}",
        hint="mend `dependencies` in the script's `# /// script` block, or the network that pip needs",
        details={"dependencies": names, "stderr": said[-defaults.LOG_TAIL_BYTES // 16 :]},
    )


_OPEN, _CLOSE = "# /// script", "# ///"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a script's `# /// script` block says: a `requires-python` specifier ("" for none) and `dependencies`."""

    requires_python: str = ""
    dependencies: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The distributions' names, without versions, extras and markers."""
        return tuple(sorted({re.split(r"[^A-Za-z0-9._-]", item, maxsplit=1)[0] for item in self.dependencies}))


def read_metadata(source: bytes, *, path: str = "") -> Metadata:
    """Read the block of a script's source; one without a block needs nothing.

    Raises InvalidDocument for two blocks, a block that is no TOML, and values of another type than PEP 723 says.
    """
    if _OPEN.encode() not in source:
        return Metadata()
    blocks = _blocks(source.decode("utf-8", "replace").splitlines())
    if len(blocks) > 1:
        raise InvalidDocument("has two `# /// script` blocks", path=path, line=blocks[1][0])
    if not blocks:
        return Metadata()
    line, content = blocks[0]
    try:
        document = tomllib.loads(content)
    except ValueError as error:
        raise InvalidDocument(f"has a `# /// script` block that is no TOML: {error}", path=path, line=line) from None
    return _checked(document, path, line)


def python_satisfies(specifier: str, version: tuple[int, int, int]) -> bool | None:
    """Whether a Python version satisfies a version specifier such as `~=3.11`; None if it is not one (PEP 440)."""
    try:
        return packaging_specifiers.SpecifierSet(specifier).contains(".".join(map(str, version)), prereleases=True)
    except packaging_specifiers.InvalidSpecifier:
        return None


def _blocks(lines: list[str]) -> list[tuple[int, str]]:
    """Each block's first line, counted from 1, and its content; one that nothing closes is no block."""
    blocks, index = [], 0
    while index < len(lines):
        if lines[index].rstrip() == _OPEN:
            end = next((i for i in range(index + 1, len(lines)) if not (lines[i] == "#" or lines[i].startswith("# "))), len(lines))
            closes = [i for i in range(index + 1, end) if lines[i].rstrip() == _CLOSE]
            if closes:
                blocks.append((index + 1, "\n".join(line[2:] for line in lines[index + 1 : closes[-1]])))
                index = closes[-1]
        index += 1
    return blocks


def _checked(document: dict[str, Any], path: str, line: int) -> Metadata:
    requires, dependencies = document.get("requires-python", ""), document.get("dependencies", [])
    if not isinstance(requires, str):
        raise InvalidDocument("has a `requires-python` that is not a string", path=path, line=line)
    if not isinstance(dependencies, list) or not all(isinstance(item, str) for item in dependencies):
        raise InvalidDocument("has `dependencies` that are not a list of strings", path=path, line=line)
    for item in dependencies:
        if not re.match(r"[A-Za-z0-9]", item.strip()) or not item.isprintable():
            raise InvalidDocument(f"has the dependency {item!r}, which names no distribution", path=path, line=line)
    return Metadata(requires_python=requires, dependencies=tuple(sorted({item.strip() for item in dependencies})))
