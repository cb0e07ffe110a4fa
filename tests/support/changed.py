"""Print the test files of what changed since a revision, one a line: `python -m tests.support.changed`.

A module `vespe/a/b.py` is tested by `tests/a/test_b.py` and `tests/a/test_b_TOPIC.py`; a test file
is tested by itself. The floors are always among them: they take seconds and look at every module.
The code blocks of changed pages are not: they take a minute, and are among all of the tests.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = "tests/repository/test_floors.py"


def changed_files(root: Path, base: str = "HEAD") -> list[str]:
    """Return what differs from a revision, files that git does not know yet too.

    Where nothing differs from HEAD it is what the last commit changed.
    """
    found = _git(root, "diff", "--name-only", base, "--")
    found += _git(root, "ls-files", "--others", "--exclude-standard")
    if not found and base == "HEAD":
        found = _git(root, "diff", "--name-only", "HEAD~1", "HEAD", "--")
    return found


def tests_of(root: Path, files: list[str]) -> list[str]:
    """Return the test files that belong to changed files, sorted."""
    found = {ALWAYS}
    for file in files:
        found.update(str(path.relative_to(root)) for path in _tests_of(root, Path(file)))
    return sorted(found)


def _tests_of(root: Path, file: Path) -> Iterator[Path]:
    if file.suffix == ".py" and file.parts[0] == "vespe":
        name = file.parent.name if file.stem == "__init__" else file.stem.strip("_")
        folder = root / "tests" / Path(*file.parts[1:-1])
        yield from folder.glob(f"test_{name}.py")
        yield from folder.glob(f"test_{name}_*.py")
    elif file.name.startswith("test_") and (root / file).is_file():
        yield root / file
    elif file.suffix == ".md":
        yield root / "tests/repository/test_words.py"


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout.splitlines()


if __name__ == "__main__":
    print("\n".join(tests_of(ROOT, changed_files(ROOT, *sys.argv[1:2]))))
