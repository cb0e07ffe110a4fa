"""How long `vespe` takes to start, list and run, against an empty click command:
`python -m tests.benchmarks.startup`.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.interleaved import Program, home_environment, measure, show, vespe_command
from tests.support.ondisk import python_tool, write_tool

REFERENCE = "empty click command"
PEERS_DIR = Path(tempfile.gettempdir()) / "vespe-peers"
"""Where the peers stay that were installed."""
EMPTY_CLICK = "import click\n\n\n@click.command()\ndef main() -> None:\n    pass\n\n\nmain()\n"
PEERS = {
    "llm tools list": ("llm", ["llm", "tools", "list"]),
    "fastmcp version": ("fastmcp", ["fastmcp", "version"]),
}
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def make_project(root: Path, env: dict[str, str], *, tools: int) -> None:
    """Make a project of the user's own with `tools` tools, the first a shell command, the second a
    Python function.
    """
    root.mkdir()
    subprocess.run([*vespe_command(), "init"], cwd=root, env=env, check=True, capture_output=True)
    directory = root / ".vespe" / "tools"
    shell = {"type": "shell_command", "entrypoint": "echo", "args": {"argv": ["{text}"]}}
    write_tool(directory / "tool-shell", "shell_echo", implementation=shell, schema=SCHEMA)
    python_tool(
        directory / "tool-python", "python_echo", "return text", params="text", schema=SCHEMA
    )
    for number in range(tools - 2):
        python_tool(
            directory / f"tool-{number:05d}", f"tool_{number:05d}", "return inputs", schema=SCHEMA
        )


def peer_programs(cache: Path, cwd: Path, env: dict[str, str]) -> list[Program]:
    """Install each peer into a virtual environment of its own in `cache`, where it is not there
    yet, and give its command.
    """
    programs = []
    for name, (package, (command, *arguments)) in PEERS.items():
        venv = cache.resolve() / package
        if not (venv / "bin" / command).exists():
            print(f"installing {package} into {venv}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
            pip = [
                str(
                    Path(sys.base_prefix, "bin", "python3")
                ),  # a development environment has no pip
                "-m",
                "pip",
                "--python",
                str(venv / "bin" / "python"),
                "--disable-pip-version-check",
            ]
            subprocess.run([*pip, "install", "--quiet", package], check=True)
        programs.append(
            Program(name=name, argv=[str(venv / "bin" / command), *arguments], cwd=cwd, env=env)
        )
    return programs


def own_programs(scratch: Path, env: dict[str, str], *, tools: int) -> list[Program]:
    """Give bare Python, the empty click command, and the verbs whose start-up is promised."""
    project, empty, vespe = scratch / "project", scratch / "empty.py", vespe_command()
    make_project(project, env, tools=tools)
    empty.write_text(EMPTY_CLICK, encoding="utf-8")
    lines = {
        "bare Python": [sys.executable, "-c", "pass"],
        REFERENCE: [sys.executable, str(empty)],
        "vespe --version": [*vespe, "--version"],
        f"vespe tool list ({tools} tools)": [*vespe, "tool", "list"],
        "vespe tool run (shell)": [*vespe, "tool", "run", "shell_echo", "text=hi"],
        "vespe tool run (Python)": [*vespe, "tool", "run", "python_echo", "text=hi"],
    }
    return [Program(name=name, argv=argv, cwd=project, env=env) for name, argv in lines.items()]


def main() -> None:
    """Read the options, time, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=20, help="how often each program is started (20)"
    )
    parser.add_argument(
        "--tools", type=int, default=100, help="how many tools the project has (100)"
    )
    parser.add_argument(
        "--peers", action="store_true", help="time llm and fastmcp too, each in its own environment"
    )
    parser.add_argument(
        "--peers-dir",
        type=Path,
        default=PEERS_DIR,
        help="where those stay",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        env = home_environment(scratch / "home")
        (scratch / "home").mkdir()
        programs = own_programs(scratch, env, tools=options.tools)
        if options.peers:
            programs += peer_programs(options.peers_dir, scratch, env)
        show(
            measure(programs, rounds=options.rounds, reference=REFERENCE),
            reference=REFERENCE,
            as_json=options.json,
        )


if __name__ == "__main__":
    main()
