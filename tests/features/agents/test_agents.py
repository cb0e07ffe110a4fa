"""The package of conversations: its name alone loads nothing."""

import subprocess
import sys


def test_importing_the_package_imports_nothing_else_of_vespe() -> None:
    code = "import sys, vespe.features.agents; print(*sorted(m for m in sys.modules if m.startswith('vespe')))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.split() == [
        "vespe",
        "vespe.defaults",
        "vespe.features",
        "vespe.features.agents",
    ]
