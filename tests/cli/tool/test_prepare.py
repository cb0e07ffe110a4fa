"""`vespe prepare` in a project whose tools have nothing to prepare, or run in the project's own
environment.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]


def own(project: Path, command: Command) -> None:
    (project / "where.py").write_text(
        "import sys\n\ndef where() -> str:\n    import mine\n    return mine.X + sys.prefix\n",
        encoding="utf-8",
    )
    place = (
        Path(
            command("tool", "create", "where", "--from", "where.py:where", "--json").document[
                "path"
            ]
        )
        / "config.json"
    )
    config = json.loads(place.read_text(encoding="utf-8"))
    config["implementation_details"]["environment"] = "project"
    place.write_text(json.dumps(config), encoding="utf-8")


def test_a_tool_in_the_projects_environment_imports_what_is_there(
    command: Command, project: Path
) -> None:
    own(project, command)
    missing = command("tool", "run", "where")
    assert (
        missing.code == 1
        and "has no virtual environment .venv" in missing.err
        and "python -m venv" in missing.err
    )
    assert command("prepare").code == 1
    packages = project / ".venv" / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    (project / ".venv" / "bin").mkdir()
    (project / ".venv" / "bin" / "python").symlink_to(sys.executable)
    home = Path(sys.executable).resolve().parent
    (project / ".venv" / "pyvenv.cfg").write_text(
        f"home = {home}\nversion = 3.{sys.version_info[1]}.0\n", encoding="utf-8"
    )
    (packages / "mine.py").write_text("X = 'mine '", encoding="utf-8")
    assert command("tool", "run", "where").out.strip() == f"mine {project / '.venv'}"
    (environment,) = command("prepare", "--json").document["environments"]
    assert environment["python"] == str(project / ".venv" / "bin" / "python")


def test_another_version_of_python_compiles_our_scripts_itself(
    command: Command, project: Path
) -> None:
    own(project, command)
    packages = project / ".venv" / "lib" / "python3.99" / "site-packages"
    packages.mkdir(parents=True)
    (project / ".venv" / "bin").mkdir()
    (project / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (project / ".venv" / "pyvenv.cfg").write_text(
        f"home = {Path(sys.executable).resolve().parent}\nversion = 3.99.0\n", encoding="utf-8"
    )
    said = command("tool", "run", "where")
    # it ran, and looked for its packages where this version keeps them
    assert "No module named 'mine'" in said.err
    (project / ".venv" / "pyvenv.cfg").write_text("version = 3.9.1\n", encoding="utf-8")
    assert "has Python 3.9, but tools need 3.11 or later" in command("tool", "run", "where").err
