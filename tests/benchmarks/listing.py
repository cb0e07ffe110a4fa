"""What a project of 10,000 tools costs over reading and parsing its files:
`python -m tests.benchmarks.listing`.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.interleaved import Program, home_environment, measure, show, vespe_command

REFERENCE = "read and parse"
READ_AND_PARSE = """
import json, os, sys
root = ".vespe/tools"
for name in sorted(os.listdir(root)):
    descriptor = os.open(f"{root}/{name}/config.json", os.O_RDONLY)
    data = os.read(descriptor, 1 << 20)
    os.close(descriptor)
    tool = json.loads(data)
    sys.stdout.write(f"{tool['name']}\\t{tool['description']}\\n")
"""


def make_project(root: Path, env: dict[str, str], *, tools: int) -> None:
    """Make a project of the user's own with `tools` tools whose config.json is some 1.5 kB, as real
    ones are.
    """
    root.mkdir()
    subprocess.run([*vespe_command(), "init"], cwd=root, env=env, check=True, capture_output=True)
    properties = {
        f"field_{n}": {"type": "string", "description": "What this field means to the tool. " * 2}
        for n in range(8)
    }
    for number in range(tools):
        directory = root / ".vespe" / "tools" / f"tool-{number:05d}"
        directory.mkdir(parents=True)
        config = {
            "uid": directory.name,
            "name": f"tool_{number:05d}",
            "description": f"Tool number {number}, one of very many.",
            "schema": {
                "input": {"type": "object", "properties": properties, "additionalProperties": False}
            },
            "implementation_details": {
                "type": "shell_command",
                "entrypoint": "echo",
                "args": {"argv": ["{field_0}"]},
            },
        }
        (directory / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
        (directory / "description.md").write_text("# A tool\n", encoding="utf-8")


def programs(scratch: Path, env: dict[str, str], *, tools: int) -> list[Program]:
    """Give the floor, and listing and resolving with Vespe's cache empty (cold) and filled
    (warm).
    """
    project, home, vespe = scratch / "project", Path(env["HOME"]), vespe_command()
    make_project(project, env, tools=tools)

    def forget() -> None:
        for cache in (home / ".cache", home / "Library" / "Caches"):
            shutil.rmtree(cache, ignore_errors=True)

    def remember() -> None:
        subprocess.run(
            [*vespe, "tool", "list"], cwd=project, env=env, check=True, capture_output=True
        )

    one = f"tool_{tools // 2:05d}"
    return [
        Program(name="bare Python", argv=[sys.executable, "-c", "pass"], cwd=project, env=env),
        Program(name=REFERENCE, argv=[sys.executable, "-c", READ_AND_PARSE], cwd=project, env=env),
        Program(
            name="vespe tool list, cold",
            argv=[*vespe, "tool", "list"],
            cwd=project,
            env=env,
            before=forget,
        ),
        Program(
            name="vespe tool list, warm",
            argv=[*vespe, "tool", "list"],
            cwd=project,
            env=env,
            before=remember,
        ),
        Program(
            name="vespe tool list --json, warm",
            argv=[*vespe, "tool", "list", "--json"],
            cwd=project,
            env=env,
            before=remember,
        ),
        Program(
            name="vespe tool resolve one, cold",
            argv=[*vespe, "tool", "resolve", one],
            cwd=project,
            env=env,
            before=forget,
        ),
        Program(
            name="vespe tool resolve one, warm",
            argv=[*vespe, "tool", "resolve", one],
            cwd=project,
            env=env,
            before=remember,
        ),
        Program(
            name="vespe tool run one",
            argv=[*vespe, "tool", "run", one, "field_0=hi"],
            cwd=project,
            env=env,
            before=remember,
        ),
    ]


def main() -> None:
    """Read the options, time, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=5, help="how often each program is started (5)"
    )
    parser.add_argument(
        "--tools", type=int, default=10_000, help="how many tools the project has (10,000)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        (scratch / "home").mkdir()
        timed = programs(scratch, home_environment(scratch / "home"), tools=options.tools)
        show(
            measure(timed, rounds=options.rounds, reference=REFERENCE),
            reference=REFERENCE,
            as_json=options.json,
        )


if __name__ == "__main__":
    main()
