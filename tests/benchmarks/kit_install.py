"""What installing costs: a kit of 1,000 tools against `git clone` of the same repository, and a
tree bomb until it is refused.

python -m tests.benchmarks.kit_install [--tools 1000] [--rounds 5]
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.ondisk import python_tool, write_kit

GIT = (
    "git",
    "-c",
    "user.name=t",
    "-c",
    "user.email=t@example.invalid",
    "-c",
    "commit.gpgsign=false",
)


def repository(root: Path, tools: int) -> Path:
    """Make a repository of one kit with so many tools of three files each."""
    kit = write_kit(root / "source", "large")
    for number in range(tools):
        python_tool(kit / f"tool-n{number}", f"n{number}", f"return {number}")
    for arguments in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        ("commit", "-qm", "first"),
        ("gc", "-q"),
    ):
        subprocess.run([*GIT, "-C", str(root / "source"), *arguments], check=True)
    return root / "source"


def bomb(root: Path) -> Path:
    """Make a repository whose one commit names 10^7 files in a handful of objects."""
    source = root / "bomb"
    subprocess.run([*GIT, "init", "-q", "-b", "main", str(source)], check=True)

    def made(*arguments: str, stdin: bytes) -> str:
        return (
            subprocess.run(
                [*GIT, "-C", str(source), *arguments],
                input=stdin,
                stdout=subprocess.PIPE,
                check=True,
            )
            .stdout.decode()
            .strip()
        )

    blob = made("hash-object", "-w", "--stdin", stdin=b"x")
    tree = made("mktree", stdin=b"".join(f"100644 blob {blob}\tf{n}\n".encode() for n in range(10)))
    for _ in range(6):
        tree = made(
            "mktree", stdin=b"".join(f"040000 tree {tree}\td{n}\n".encode() for n in range(10))
        )
    config = made("hash-object", "-w", "--stdin", stdin=b'{"kit_id": "bomb"}')
    top = made(
        "mktree",
        stdin=f"100644 blob {config}\tkit_config.json\n040000 tree {tree}\tdeep\n".encode(),
    )
    subprocess.run(
        [
            *GIT,
            "-C",
            str(source),
            "update-ref",
            "refs/heads/main",
            made("commit-tree", top, "-m", "first", stdin=b""),
        ],
        check=True,
    )
    return source


def timed(arguments: list[str], *, cwd: Path, home: Path) -> tuple[float, int]:
    """Run a command as a user with that home; gives seconds and its exit code."""
    kinds = {
        f"XDG_{kind.upper()}_HOME": str(home / kind)
        for kind in ("config", "data", "state", "cache")
    }
    environment = {**os.environ, **kinds, "HOME": str(home), "GIT_CONFIG_GLOBAL": "/dev/null"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    done = subprocess.run(arguments, cwd=cwd, env=environment, capture_output=True, check=False)
    return time.perf_counter() - started, done.returncode


def install(root: Path, source: Path, number: int) -> tuple[float, int]:
    """Install into a fresh project of a fresh user, and leave it: ext4 looks long for a place where
    much was deleted just now.
    """
    project, home = root / f"project-{number}", root / f"home-{number}"
    (project / ".vespe").mkdir(parents=True)
    return timed(
        [sys.executable, "-m", "vespe", "kit", "install", str(source), "--yes"],
        cwd=project,
        home=home,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tools", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        source = repository(root, given.tools)
        clones, installs = [], []
        for number in range(given.rounds):
            clones.append(
                timed(
                    [*GIT, "clone", "-q", f"file://{source}", str(root / f"clone-{number}")],
                    cwd=root,
                    home=root / "home",
                )[0]
            )
            seconds, code = install(root, source, number)
            assert code == 0
            installs.append(seconds)
        clone, taken = statistics.median(clones), statistics.median(installs)
        ratio = statistics.median(one / other for one, other in zip(installs, clones, strict=True))
        print(
            f"{given.tools} tools: git clone {clone:.3f} s, vespe kit install {taken:.3f} s, "
            f"ratio {ratio:.2f}"
        )
        source = bomb(root)
        objects = sum(
            path.stat().st_size for path in (source / ".git/objects").rglob("*") if path.is_file()
        )
        seconds, code = install(root, source, given.rounds)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(
            f"tree bomb: 10^7 files in {objects} bytes of objects, exit {code} after {seconds:.2f} "
            f"s, at most {peak:.0f} MiB"
        )
        subprocess.run(["chmod", "-R", "u+w", name], check=True)


if __name__ == "__main__":
    main()
