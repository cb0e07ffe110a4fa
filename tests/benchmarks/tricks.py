"""What each trick that makes commands start sooner saves: the package as it is against copies of it
that each lack one, in processor time: `python -m tests.benchmarks.tricks`.

A trick stays only while this shows that it is worth its lines; its docstring has the figures.
"""

import argparse
import compileall
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.interleaved import (
    RUN_MAIN,
    Program,
    home_environment,
    measure,
    processor_time,
)
from tests.benchmarks.startup import make_project
from tests.support.installs import copy_package

AS_IT_IS = "as it is"
TRICKS = {
    "records": (
        "records.py",
        "    dataclass = _dataclass",
        "    from dataclasses import dataclass",
    ),
    "first objects by hand": ("records.py", "_FEW: Final = 16", "_FEW: Final = 0"),
    "jsonschema_rs without mail": (
        "lazy.py",
        'with _without_mail() if self.__name__ == "jsonschema_rs" else contextlib.nullcontext():',
        "with contextlib.nullcontext():",
    ),
    "patterns that wait": ("lazy.py", "    pattern = _LazyPattern", "    pattern = re.compile"),
    "own SHA-256": ("files/digests.py", "from _sha2 import", "from hashlib import"),
    "supervisor as a fork": (
        "processes/supervised_tree.py",
        "return signals.in_command() and supervisor.is_single()",
        "return False",
    ),
}
"""For each trick the module that has it, and the text that another takes out."""
COMMANDS = {
    "tool list": ["tool", "list"],
    "shell tool": ["tool", "run", "shell_echo", "text=hi"],
    "Python tool": ["tool", "run", "python_echo", "text=hi"],
}


def copy_without(place: Path, trick: str) -> None:
    """Copy the package to `place/vespe`, without a trick; compiled, as an installation is."""
    install = copy_package(place)
    if trick != AS_IT_IS:
        name, old, new = TRICKS[trick]
        module = install.directory / "vespe" / name
        text = module.read_text(encoding="utf-8")
        if text.count(old) != 1:
            sys.exit(f"{name} no longer has the line of {trick!r}: {old}")
        module.write_text(text.replace(old, new), encoding="utf-8")
    compileall.compile_dir(str(place), quiet=1)


def main() -> None:
    """Read the options, measure, print what each trick saves in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=14, help="how often each is started (14)")
    parser.add_argument("tricks", nargs="*", help=f"which to measure; default: {list(TRICKS)}")
    options = parser.parse_args()
    tricks = [AS_IT_IS, *(options.tricks or TRICKS)]
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        env = home_environment(scratch / "home")
        (scratch / "home").mkdir()
        make_project(scratch / "project", env, tools=100)
        for trick in tricks:
            copy_without(scratch / trick, trick)
        print(f"{'saved, ms of processor time':30}" + "".join(f"{one:>28}" for one in tricks[1:]))
        for command, words in COMMANDS.items():
            programs = [
                Program(
                    name=trick,
                    argv=[sys.executable, "-c", RUN_MAIN, *words],
                    cwd=scratch / "project",
                    env=env | {"PYTHONPATH": str(scratch / trick), "PYTHONSAFEPATH": "1"},
                )
                for trick in tricks
            ]
            rows = measure(
                programs, rounds=options.rounds, reference=AS_IT_IS, clock=processor_time
            )
            floor = rows[0].median
            saved = "".join(f"{row.median - floor:+28.1f}" for row in rows[1:])
            print(f"{command:30}{saved}", flush=True)


if __name__ == "__main__":
    main()
