"""The examples of the documentation that need more than Vespe: a browser, packages, a compiler.

Each page is done from nothing in an environment of its own, with the packages that it installs
itself.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.support.browser import BROWSER
from tests.support.pages import Reader

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES: Final = ROOT / "docs/examples"
LONG: Final[Mapping[str, str]] = {
    "browser.md": "mcp",
    "fastapi.md": "",
    "jupyter.md": "",
    "rust.md": "wasm",
    "program.md": "code",
}
"""The pages, with the extra that each needs. The gate does the others."""
INSTALLING_S: Final = 900
"""pip asks an index that does not answer again for hours: one page more is then a failure."""


def missing(page: str) -> str:
    """Say what this machine has not that a page needs."""
    if page == "browser.md" and not (shutil.which("npm") and BROWSER):
        return "npm or Chromium is missing"
    if page == "rust.md":
        return "" if shutil.which("rustc") else "rustc is missing"
    return ""


def environment(place: Path, extra: str) -> dict[str, str]:
    """Make a virtual environment with pip and Vespe, and return the variables of its user."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    python = place / "venv/bin/python"
    base = os.environ.get("PYTHON", "python3")
    wanted = f"{ROOT}[{extra}]" if extra else str(ROOT)
    words = ["-m", "pip", "--python", str(python), "install", "-q"]
    subprocess.run(
        [base, *words, "pip", wanted], check=True, stdout=sys.stderr, timeout=INSTALLING_S
    )
    home = place / "home"
    home.mkdir()
    own = {name: value for name, value in os.environ.items() if not name.startswith("VESPE_")}
    for name in [name for name in own if name.startswith(("XDG_", "PYTHON"))]:
        del own[name]
    path = os.pathsep.join((str(python.parent), os.environ["PATH"]))
    return {**own, "HOME": str(home), "PATH": path, "NO_COLOR": "1"}


def done(page: str) -> dict[str, Any]:
    """Do a page and say how it went."""
    if why := missing(page):
        return {"page": page, "skipped": why}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="example-") as made:
        place = Path(made)
        (place / "reader").mkdir()
        python, steps, why = str(place / "venv/bin/python"), 0, ""
        try:
            variables = environment(place, LONG[page])
            with Reader(place / "reader", python=python, environment=variables) as reader:
                try:
                    reader.read(EXAMPLES / page)
                finally:
                    steps = reader.count
        except (AssertionError, subprocess.SubprocessError) as wrong:
            why = str(wrong).replace(made, "…")
    told: dict[str, Any] = {"page": page, "commands": steps, "ok": not why}
    return told | ({"why": why} if why else {}) | {"seconds": round(time.monotonic() - began)}


def main() -> int:
    """Do the pages and return 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", default=[*LONG])
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = []
    for page in asked.pages:
        sys.stderr.write(f"{page}\n")
        found.append(done(page))
    sys.stdout.write(json.dumps({"pages": found}, indent=2, ensure_ascii=False) + "\n")
    return 0 if all(one.get("ok", True) for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
