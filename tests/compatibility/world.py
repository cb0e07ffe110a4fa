"""A user's machine as Vespe 0.2 left it, laid out from the files in tests/cases/0.2.

The files contain tokens (`@PLACE-shop@`) where 0.2 wrote something that is bound to one machine.
They are filled in here by the rules of 0.2. The rules are written down again and not imported: a
later version may name its own files differently, and must still find those of 0.2.
"""

import ctypes
import fcntl
import hashlib
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

from tests.support.commands import run_here

FILES: Final = Path(__file__).resolve().parents[1] / "cases/0.2"
DEFAULT: Final = ("shop", "mine/linked", "home")
"""What is laid out by default. A test adds more: `studio`, `guest`, `packed`, …"""
_TOKEN: Final = re.compile(r"@(ROOT|VESPE|PORT|PLACE|SHA256|SHA256_32|SHA256_12)(?:-([^@\s]*))?@")
_PLACE: Final = re.compile(r"@PLACE-([^@]*)@")
_USER: Final = ("CONFIG", "DATA", "STATE", "CACHE")
_HEAVY: Final = "home/cache/vespe/search"
_PATIENCE_S: Final = 90.0
_GETVERSION: Final = 0x80087601
_WHO: Final = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "Test"), ("EMAIL", "t@localhost"))
}


@dataclass(frozen=True)
class Said:
    """What one command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


class World:
    """The home and the projects of a user of 0.2 in a directory of their own."""

    def __init__(self, root: Path, *parts: str, port: int = 47999) -> None:
        self.root = Path(os.path.realpath(root))
        self.port = port
        self.add(*(parts or DEFAULT))

    def add(self, *parts: str) -> Self:
        """Lay out more directories, and the records in the user's state that are about them."""
        for part in (*parts, "home/state"):
            self._lay_out(part)
        self._finish()
        return self

    def remove(self) -> None:
        """Delete it: a world has hundreds of files, and a run makes a hundred worlds."""
        for place in (self.user("data") / "store").glob("*"):
            place.chmod(0o755)
        shutil.rmtree(self.root, ignore_errors=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def shop(self) -> Path:
        return self.root / "shop"

    def user(self, kind: str) -> Path:
        """Return one of the user's directories: config, data, state or cache."""
        return self.home / kind / "vespe"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that tell a program where this user's files are."""
        directories = {f"XDG_{name}_HOME": str(self.home / name.lower()) for name in _USER}
        return {"HOME": str(self.home), **directories}

    def run(
        self,
        *words: str,
        cwd: str = "shop",
        code: int = 0,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
    ) -> Said:
        """Run a command of Vespe in this process; it must end with `code` and no traceback."""
        said = run_here(
            words, cwd=self.root / cwd, env={**self.environment, **(env or {})}, stdin=stdin
        )
        return _checked(Said(*said), words, code)

    def start(
        self,
        *words: str,
        cwd: str = "shop",
        code: int = 0,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
    ) -> Said:
        """Run a command in a process of its own, with the same checks as `run`."""
        done = subprocess.run(
            [sys.executable, "-m", "vespe", *words],
            cwd=self.root / cwd,
            env={**os.environ, **self.environment, **(env or {})},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=_PATIENCE_S,
            check=False,
        )
        return _checked(Said(done.returncode, done.stdout, done.stderr), words, code)

    def json(self, *words: str, cwd: str = "shop", code: int = 0) -> Any:
        """Run a command with --json, and return its document."""
        return self.run(*words, "--json", cwd=cwd, code=code).document

    def git(self, *words: str, cwd: str, stdin: bytes = b"") -> str:
        """Run git in a directory, and return what it printed."""
        done = subprocess.run(
            ["git", *words],
            cwd=self.root / cwd,
            env={**os.environ, **self.environment, **_WHO},
            input=stdin,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return done.stdout.decode("utf-8").strip()

    def sources(self) -> None:
        """Make the repository that the lock names, with the same commits and tags."""
        (self.root / "sources").mkdir()
        self.git("init", "--quiet", "-b", "main", cwd="sources")
        self.git(
            "fast-import",
            "--quiet",
            cwd="sources",
            stdin=(FILES / "sources.fast-export").read_bytes(),
        )

    def many(self) -> None:
        """Make the project of three hundred tools whose names 0.2 had kept."""
        (self.root / "many").mkdir()
        self.run("init", cwd="many")
        for number in range(300):
            directory = self.root / f"many/.vespe/tools/tool-t{number}"
            directory.mkdir()
            config = {"uid": f"tool-t{number}", "name": f"t{number}", "description": "A tool."}
            write(
                directory / "config.json",
                json.dumps({**config, "schema": {"input": {"type": "object"}}}),
            )
            write(directory / "description.md", "# A tool\n")

    def fill(self, text: str) -> str:
        """Return a text with what this machine has in the place of its tokens."""
        return _TOKEN.sub(lambda found: self._value(found[1], found[2]), text)

    def _value(self, kind: str, named: str | None) -> str:
        path = str(self.root / (named or "").replace("+", "/"))
        if kind == "ROOT":
            return str(self.root)
        if kind == "PORT":
            return str(self.port)
        if kind == "VESPE":
            return os.path.join(os.path.dirname(sys.executable), "vespe")
        if kind == "PLACE":
            return place_name(path)
        digits = hashlib.sha256(os.fsencode(path)).hexdigest()
        return digits[: int(kind.partition("_")[2] or 64)]

    def _lay_out(self, name: str) -> None:
        """Copy a directory with its tokens filled in. Files that exist already stay as they are."""
        for relative, data, is_text, mode in _files(name):
            places = [self.root / place.replace("+", "/") for place in _PLACE.findall(relative)]
            if not all(place.exists() for place in places):
                continue  # it is of a project that this world does not have
            target = self.root / self.fill(relative)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                filled = self.fill(data.decode("utf-8")).encode() if is_text else data
                target.write_bytes(checksummed(filled) if target.parent.name == "scan" else filled)
                target.chmod(mode)

    def _finish(self) -> None:
        """Give the files the modes that git does not carry, and make the links."""
        for directory, names, files in os.walk(self.home):
            private = directory.startswith(str(self.user("state")))
            os.chmod(directory, 0o700 if private else 0o755)
            names[:] = [name for name in names if name != "store"]
            for name in files:
                if private or name in ("server.token", "config.json"):
                    os.chmod(os.path.join(directory, name), 0o600)
        for place in (self.user("data") / "store").glob("*"):
            place.chmod(0o555)
        links = self.user("data") / "links"
        links.mkdir(parents=True, exist_ok=True)
        for name, target in read(FILES / "links.json").items():
            if not (links / name).is_symlink():
                (links / name).symlink_to(self.root / target.replace("+", "/"))


def _checked(said: Said, words: tuple[str, ...], code: int) -> Said:
    assert "Traceback" not in said.err, said.err
    assert said.code == code, (
        f"vespe {' '.join(words)}: exit code {said.code}\n{said.out}\n{said.err}"
    )
    return said


@cache
def _files(name: str) -> tuple[tuple[str, bytes, bool, int], ...]:
    """Return the files of a directory as (path, bytes, whether they contain tokens, mode)."""
    found = []
    for path in sorted(path for path in (FILES / name).rglob("*") if path.is_file()):
        relative = str(path.relative_to(FILES))
        if relative.startswith(_HEAVY) and not name.startswith(_HEAVY):
            continue
        data = path.read_bytes()
        if path.suffix == ".xz":
            relative, data = relative.removesuffix(".xz"), lzma.decompress(data)
        is_text = _TOKEN.search(data.decode("utf-8", "replace")) is not None
        found.append((relative, data, is_text, 0o755 if os.access(path, os.X_OK) else 0o644))
    return tuple(found)


def checksummed(data: bytes) -> bytes:
    """Return kept verdicts with the checksum of their body, as 0.2 wrote it."""
    body = data.partition(b"\n")[2]
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def place_name(path: str) -> str:
    """Return how 0.2 identifies a directory in the names of its records.

    These are its inode, file system, generation (or time of birth) and owner, in hexadecimal.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        status = os.fstat(descriptor)
        name = f"{status.st_ino:x}-d{os.fstatvfs(descriptor).f_fsid or status.st_dev:x}"
        generation = _generation(descriptor)
        birth = None if generation else _birth(descriptor, status)
    finally:
        os.close(descriptor)
    name += f"-g{generation:x}" if generation else f"-b{birth:x}" if birth else ""
    return f"{name}-u{status.st_uid:x}"


def _generation(descriptor: int) -> int:
    answer = bytearray(8)
    try:
        if sys.platform == "linux":
            fcntl.ioctl(descriptor, _GETVERSION, answer)
    except OSError:
        return 0
    return int.from_bytes(answer[:4], sys.byteorder)


def _birth(descriptor: int, status: os.stat_result) -> int:
    if sys.platform != "linux":
        return int(getattr(status, "st_birthtime", 0) * 1e9)
    answer = ctypes.create_string_buffer(256)
    if ctypes.CDLL(None).statx(descriptor, b"", 0x1000, 0x800, answer):
        return 0
    words = [
        int.from_bytes(answer.raw[a:b], sys.byteorder) for a, b in ((0, 4), (80, 88), (88, 92))
    ]
    return words[1] * 1_000_000_000 + words[2] if words[0] & 0x800 else 0


def write(path: Path, text: str) -> Path:
    """Write a file as its user would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> Any:
    """Return the document in a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change a JSON file by hand."""
    document = read(path)
    change(document)
    write(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
