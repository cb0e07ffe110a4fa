"""Every way to change an installed kit that comes to mind, one at a time: is each one noticed, and
does nothing changed run?

    python -m tests.acceptance.mutations [--json]

For each file of an installed kit, and for its manifest: another byte at its beginning, in its midst
and at its end, a byte more, a byte less, emptied, removed, renamed, its executable bit, and a link,
a FIFO, a directory or other bytes in its place; files added in each directory. `vespe kit verify`
must say it, with exit 4, and a tool whose own file was changed must not run.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.acceptance.crash import Verb, World
from tests.support.ondisk import python_tool, write_kit
from vespe.files import staging
from vespe.kits import lock, store

Change = Callable[[Path], object]


@dataclass
class Figures:
    """How many changes were tried, and which of them nobody noticed."""

    tried: int = 0
    missed: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)


def _flip(at: float) -> Change:
    def change(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[min(int(at * len(data)), len(data) - 1)] ^= 0x20
        path.write_bytes(bytes(data))

    return change


def _instead(make: Change) -> Change:
    def change(path: Path) -> None:
        path.unlink()
        make(path)

    return change


def _compiled(directory: Path) -> None:
    (directory / "__pycache__").mkdir()
    (directory / "__pycache__/main.cpython-311.pyc").write_bytes(b"x")


def _linked_to_itself(path: Path) -> None:
    path.rename(path.parent.parent / "aside")
    path.symlink_to("../aside")


CHANGES: dict[str, Change] = {
    "another first byte": _flip(0),
    "another byte in the midst": _flip(0.5),
    "another last byte": _flip(1),
    "a byte more": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
    "a byte less": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "other line ends": lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")),
    "emptied": lambda path: path.write_bytes(b""),
    "removed": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_name(f"{path.name}x")),
    "its executable bit": lambda path: path.chmod(path.stat().st_mode ^ 0o100),
    "other bytes of the same length": lambda path: path.write_bytes(bytes(len(path.read_bytes()))),
    "a link to its own bytes": _linked_to_itself,
    "a link elsewhere": _instead(lambda path: path.symlink_to("/etc/hostname")),
    "a FIFO": _instead(os.mkfifo),
    "a directory": _instead(Path.mkdir),
}
ADDED: dict[str, Change] = {
    "a file more": lambda directory: (directory / "more.py").write_text(
        "x = 1\n", encoding="utf-8"
    ),
    "a hidden file more": lambda directory: (directory / ".more").write_text(
        "x = 1\n", encoding="utf-8"
    ),
    "byte code": _compiled,
    "a link more": lambda directory: (directory / "more").symlink_to("main.py"),
    "a tool more": lambda directory: python_tool(directory / "tool-more", "more", "return 1"),
}


def run() -> Figures:
    """Install a kit, change it, ask, and put it back, again and again."""
    figures = Figures()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        root = Path(name).resolve()
        kit = write_kit(root / "source", "web")
        for tool in ("one", "two"):
            python_tool(kit / f"tool-{tool}", tool, "return 1")
        (kit / "tool-two/run.sh").write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
        (kit / "tool-two/run.sh").chmod(0o755)
        (root / "world").mkdir()
        world = World.built(
            root / "world",
            Verb("", (), (("kit", "install", str(root / "source"), "--activate", "--yes"),)),
        )
        installed = _writable(world)
        shutil.copytree(installed, root / "whole")
        for change, path, act in _changes(installed):
            relative = path.relative_to(installed)
            act(path)
            _ask(world, f"{change}: {relative}", relative, figures)
            shutil.rmtree(installed)
            shutil.copytree(root / "whole", installed)
        if world.run(("kit", "verify")) != 0:
            figures.missed.append("what was put back is not whole, so that nothing above counts")
        staging.delete(name)
    return figures


def _changes(installed: Path) -> Iterator[tuple[str, Path, Change]]:
    every = sorted(installed.rglob("*"))
    for path in every:
        if path.is_file():
            # The manifest is no part of the kit, and nothing runs it: of that file the bytes count.
            said = [
                name
                for name in CHANGES
                if path.name != store.MANIFEST or name != "its executable bit"
            ]
            yield from ((name, path, CHANGES[name]) for name in said)
    for directory in (installed, *(path for path in every if path.is_dir())):
        yield from ((name, directory, act) for name, act in ADDED.items())


def _ask(world: World, change: str, path: Path, figures: Figures) -> None:
    figures.tried += 1
    if world.run(("kit", "verify")) != 4:
        figures.missed.append(f"{change}: {world.said}")
    tool = next((part for part in path.parts if part.startswith("tool-")), "")
    if tool and world.run(("tool", "run", tool, "--trust")) == 0:
        figures.ran.append(change)


def _writable(world: World) -> Path:
    """Give the kit's place in the store, with what its user would have to do before changing it:
    the directories are read-only.
    """
    with world.entered():
        (kit,) = lock.read_lock(lock.project_lock(str(world.project))).values()
        place = Path(store.place_of(kit.digest))
    for path in (place, *(path for path in place.rglob("*") if path.is_dir())):
        path.chmod(0o755)
    return place


def _main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    found = run()
    sys.stderr.write(
        "".join(f"not noticed: {said}\n" for said in found.missed)
        + "".join(f"ran all the same: {said}\n" for said in found.ran)
    )
    said = (
        f"{found.tried} changes, {found.tried - len(found.missed)} noticed, "
        f"{len(found.ran)} ran all the same"
    )
    sys.stdout.write(f"{json.dumps(vars(found)) if as_json else said}\n")
    return 1 if found.missed or found.ran else 0


if __name__ == "__main__":
    sys.exit(_main())
