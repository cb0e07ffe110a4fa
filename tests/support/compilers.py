"""The compilers of this machine, for tests that compile: where there is none they are skipped, and
the gate says so.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest


@cache
def _rust() -> bool:
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        if os.access(program := f"{directory}/rustc", os.X_OK):
            asked = subprocess.run(
                [program, "--print", "sysroot"], capture_output=True, encoding="utf-8", check=False
            )
            library = Path(asked.stdout.strip()) / "lib" / "rustlib"
            if asked.returncode == 0 and any(
                (library / target / "lib").is_dir() for target in ("wasm32-wasip1", "wasm32-wasi")
            ):
                return True
    return False


needs_rust = pytest.mark.skipif(
    not _rust(), reason="no rustc that compiles to WebAssembly: see docs/compiled.md"
)

STAND_IN = """#!{python} -ISB
import pathlib, sys
if "--version" in sys.argv: sys.exit(print("standin 1.0"))
source = pathlib.Path([word for word in sys.argv if word.endswith((".c", ".rs"))][-1])
text = source.read_text(encoding="utf-8")
for found in sorted(source.parent.glob("*.rs")): text += found.read_text(encoding="utf-8")
if "broken" in text: sys.exit("source:1: error: broken")
pathlib.Path(sys.argv[-1]).write_text(text, encoding="utf-8")
"""
"""Takes a compiler's words, and writes its source for a module: for tests of what is around a
compiler.
"""


def stand_in(directory: Path) -> str:
    """Write the stand-in, and return its path."""
    program = directory / "standin"
    program.write_text(STAND_IN.replace("{python}", sys.executable), encoding="utf-8")
    program.chmod(0o755)
    return str(program)
