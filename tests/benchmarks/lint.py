"""What linting 10,000 tool directories with every rule costs over reading and parsing their files:
`python -m tests.benchmarks.lint`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.interleaved import Program, home_environment, measure, show, vespe_command

REFERENCE = "read and parse"
FIGURES = Path(__file__).resolve().parent / "lint_speed.json"
READ_AND_PARSE = """
import json, os
root = ".vespe/tools"
for name in sorted(os.listdir(root)):
    for file in sorted(os.listdir(f"{root}/{name}")):
        with open(f"{root}/{name}/{file}", "rb") as stream:
            data = stream.read()
        if file == "config.json":
            json.loads(data)
"""
SCRIPT = '''"""One of very many."""


def {name}(text: str, count: int = {default}, loud: bool = False) -> dict[str, object]:
    """Repeat a text."""
    return {{"text": (text.upper() if loud else text) * count}}
'''
VERBS = (
    "read",
    "write",
    "list",
    "count",
    "merge",
    "split",
    "sort",
    "send",
    "fetch",
    "check",
    "draw",
    "move",
)
NOUNS = (
    "invoice",
    "order",
    "customer",
    "ticket",
    "image",
    "branch",
    "email",
    "calendar",
    "contract",
    "sensor",
    "route",
    "recipe",
)


def make_project(root: Path, env: dict[str, str], *, tools: int) -> None:
    """Make a project with `tools` tools, a third of each type, whose files are some 2 kB together,
    as real ones are.
    """
    root.mkdir()
    subprocess.run([*vespe_command(), "init"], cwd=root, env=env, check=True, capture_output=True)
    for number in range(tools):
        directory = root / ".vespe" / "tools" / f"tool-{number:05d}"
        directory.mkdir(parents=True)
        for name, text in files(number).items():
            (directory / name).write_text(text, encoding="utf-8")


def files(number: int) -> dict[str, str]:
    """Give the files of one tool by their names."""
    verb, noun = VERBS[number % 12], NOUNS[number // 12 % 12]
    name = f"{verb}_{noun}_{number:05d}"
    described = {
        "description": f"What this means when you {verb} the {noun} of department {number}, "
        "in plain words."
    }
    texts = {
        f"{noun}_{field}": {"type": "string", **described}
        for field in ("owner", "label", "place", "state")
    }
    inputs = {
        "text": {"type": "string", **described},
        "count": {"type": "integer", "minimum": 1, "default": number % 9 + 1, **described},
    }
    kind = ("python_script", "shell_command", "http_request")[number % 3]
    made = {"description.md": f"# {name}\n\nTo {verb} what department {number} keeps.\n"}
    if kind == "python_script":
        made["main.py"] = SCRIPT.format(name=name, default=number % 9 + 1)
        properties = {**inputs, "loud": {"type": "boolean", "default": False, **described}}
        details: dict[str, object] = {
            "type": kind,
            "path": "main.py",
            "entrypoint": name,
            "args": {},
        }
    elif kind == "shell_command":
        properties = {**inputs, **texts}
        argv = ["--", "{text}", "--count={count}", *(f"--{key}={{{key}}}" for key in texts)]
        details = {"type": kind, "entrypoint": "echo", "args": {"argv": argv}}
    else:
        properties = {**inputs, **texts}
        details = {
            "type": kind,
            "path": "https://api.example.com/{text}",
            "entrypoint": "GET",
            "args": {"query": {key: f"{{{key}}}" for key in ("count", *texts)}},
        }
    config = {
        "uid": f"tool-{number:05d}",
        "name": name,
        "description": f"To {verb} the {noun} of department {number}: gives what was asked for, "
        "or an error that says why not.",
        "schema": {
            "input": {
                "type": "object",
                "properties": properties,
                "required": ["text"],
                "additionalProperties": False,
            }
        },
        "implementation_details": details,
    }
    return {"config.json": json.dumps(config, indent=2) + "\n", **made}


def programs(scratch: Path, env: dict[str, str], *, tools: int) -> list[Program]:
    """Give the floor, reading alone, and lint with every rule."""
    project, vespe = scratch / "project", vespe_command()
    make_project(project, env, tools=tools)

    def forget() -> None:
        shutil.rmtree(Path(env["HOME"]) / ".cache", ignore_errors=True)

    return [
        Program(name="bare Python", argv=[sys.executable, "-c", "pass"], cwd=project, env=env),
        Program(name=REFERENCE, argv=[sys.executable, "-c", READ_AND_PARSE], cwd=project, env=env),
        Program(name="vespe --version", argv=[*vespe, "--version"], cwd=project, env=env),
        Program(
            name="vespe lint, every rule",
            argv=[*vespe, "lint", "--json"],
            cwd=project,
            env=env,
            before=forget,
        ),
    ]


def own_peak() -> float:
    """Give the most memory that an interpreter with nothing to do has resident, in MiB: by itself,
    not what it was forked from.
    """
    text = "import resource as r; print(r.getrusage(r.RUSAGE_SELF).ru_maxrss)"
    if sys.platform == "linux":
        text = (
            "print(next(line.split()[1] for line in open('/proc/self/status') if "
            "line.startswith('VmHWM')))"
        )
    said = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, encoding="utf-8", check=True
    )
    return int(said.stdout) / (1024 * 1024 if sys.platform == "darwin" else 1024)


def peak(program: Program) -> float:
    """Give the most memory that one run of a program had resident, in MiB."""
    started = subprocess.Popen(
        program.argv,
        cwd=program.cwd,
        env=program.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, usage = os.wait4(started.pid, 0)
    started.returncode = 0
    return usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Read the options, time, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=3, help="how often each program is started (3)"
    )
    parser.add_argument(
        "--tools", type=int, default=10_000, help="how many tools the project has (10,000)"
    )
    parser.add_argument(
        "--write", action="store_true", help=f"keep the figures for docs/lint.md in {FIGURES.name}"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        (scratch / "home").mkdir()
        timed = programs(scratch, home_environment(scratch / "home"), tools=options.tools)
        rows = measure(timed, rounds=options.rounds, reference=REFERENCE)
        floor, linted = round(own_peak()), round(peak(timed[-1]))
        show(rows, reference=REFERENCE, as_json=options.json)
        figures = {
            "tools": options.tools,
            "seconds": round(rows[-1].median / 1000, 1),
            "ratio": round(rows[-1].ratio),
            "mib": linted,
            "floor_mib": floor,
        }
        if options.write:
            FIGURES.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
        elif not options.json:
            print(f"peak memory: {linted} MiB; bare Python: {floor} MiB")


if __name__ == "__main__":
    main()
