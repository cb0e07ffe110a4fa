"""`python -m vespe` is the same command."""

import subprocess
import sys
from pathlib import Path

from tests.support.ondisk import vespe


def test_the_module_runs_as_the_command_does(tmp_path: Path) -> None:
    done = vespe("--version", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("vespe, version")


def test_p16_the_working_directory_is_not_on_the_path_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    command = Path(sys.executable).parent / "vespe"
    done = subprocess.run([str(command), "--version"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.stdout.startswith("vespe, version"), done.stderr
