"""Builds what is released, twice, and checks that it can be: `./dev release --check`; `dist/` then
holds it, with a bill of materials.

The version stands in one place, its changelog has a date, workflows are pinned by commit, and the
same commit gives the same bytes. https://reproducible-builds.org/docs/source-date-epoch/
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from vespe.defaults import VERSION

ROOT = Path(__file__).resolve().parents[2]
PINNED = re.compile(r"uses: (?:\./\S+|\S+@[0-9a-f]{40}  # v[\d.]+)$")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="./dev release")
    parser.add_argument(
        "--check", action="store_true", help="build and check; nothing is published"
    )
    if not parser.parse_args().check:
        parser.error(
            "a release is published by pushing its tag, vVERSION; here it is only checked: "
            "./dev release --check"
        )
    wrong = [*changelog(), *tag(), *workflows()]
    built = [build(Path(directory)) for directory in (_fresh("first"), _fresh("second"))]
    wrong += [
        f"{name}: two builds of one commit differ"
        for name in built[0]
        if digest(built[0][name]) != digest(built[1][name])
    ]
    out = ROOT / "dist"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    for name, path in built[0].items():
        shutil.copy(path, out)
        print(f"{digest(path)}  {name}")
    (out / f"vespe-{VERSION}.cdx.json").write_text(
        bill_of_materials(next(out.glob("*.whl"))), encoding="utf-8"
    )
    for line in wrong:
        print(f"release: {line}", file=sys.stderr)
    print(
        f"vespe {VERSION}: "
        + (f"{len(wrong)} things are in the way" if wrong else "ready; push the tag to publish it")
    )
    return bool(wrong)


def changelog() -> list[str]:
    """What is wrong with the changelog: the newest entry must be this version's, with a date."""
    newest = re.search(
        r"^## (.*)$", (ROOT / "docs/changelog.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    fits = newest and re.fullmatch(rf"{re.escape(VERSION)} \(\d{{4}}-\d\d-\d\d\)", newest[1])
    return (
        []
        if fits
        else [
            f"docs/changelog.md begins with {newest[1] if newest else 'nothing'!r}, "
            f"not with {VERSION} and its date"
        ]
    )


def tag() -> list[str]:
    name = os.environ.get("GITHUB_REF_NAME", "")
    return (
        [f"the tag {name} is not v{VERSION}"]
        if os.environ.get("GITHUB_REF_TYPE") == "tag" and name != f"v{VERSION}"
        else []
    )


def workflows() -> list[str]:
    """Which actions are not pinned by a commit; a tag can be moved by whoever takes the action
    over.
    """
    files = sorted((ROOT / ".github").rglob("*.yml"))
    return [
        f"{path.relative_to(ROOT)}: `{line.strip()}` is not pinned by a commit"
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*-? *uses:", line) and not PINNED.search(line)
    ]


def _fresh(name: str) -> str:
    """Return a new directory with what git has of this commit, and nothing else."""
    directory = tempfile.mkdtemp(prefix=f"vespe-release-{name}-")
    tree = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", directory], input=tree, check=True)
    return directory


def build(source: Path) -> dict[str, Path]:
    """Build the wheel and the source distribution; return their paths by name."""
    when = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout.strip()
    command = [sys.executable, "-m", "build", "--outdir", str(source / "dist"), str(source)]
    subprocess.run(
        command, env=os.environ | {"SOURCE_DATE_EPOCH": when}, check=True, stdout=subprocess.DEVNULL
    )
    return {path.name: path for path in sorted((source / "dist").iterdir())}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def bill_of_materials(wheel: Path) -> str:
    """Return what a fresh `pip install vespe` brings, as CycloneDX says it:
    https://cyclonedx.org/specification/overview/
    """
    with tempfile.TemporaryDirectory(prefix="vespe-sbom-") as directory:
        for name in ("tool", "target"):
            subprocess.run([sys.executable, "-m", "venv", f"{directory}/{name}"], check=True)
        install = ("-m", "pip", "--disable-pip-version-check", "install", "-q")
        subprocess.run([f"{directory}/tool/bin/python", *install, "cyclonedx-bom"], check=True)
        subprocess.run([f"{directory}/target/bin/python", *install, str(wheel)], check=True)
        command = [
            f"{directory}/tool/bin/cyclonedx-py",
            "environment",
            "--output-reproducible",
            f"{directory}/target/bin/python",
        ]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
