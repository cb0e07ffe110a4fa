"""Without the folder of a feature the rest of Vespe works, and what is gone says which feature it was.

Each test runs a copy of the package without one folder in processes of its own.
"""

import json
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import vespe
from tests.support.installs import PACKAGE, copy_package
from vespe import features

Run = Callable[..., "subprocess.CompletedProcess[str]"]
LACKING = {
    name: [
        one for one in features.FEATURES if one == name or name in features.FEATURES[one]["needs"]
    ]
    for name in features.FEATURES
}
"""The features that are gone with the folder of one: itself, and those that need it."""


@pytest.fixture(params=features.FEATURES)
def lacking(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run(lacking: str, home: Path, tmp_path: Path) -> Run:
    """Run Python in a project, with a copy of the package that lacks one feature."""
    install = copy_package(tmp_path / "copy", without=[f"features/{lacking}"], copy=os.link)
    os.symlink(PACKAGE.parent / "kits", tmp_path / "copy/kits")
    (tmp_path / "mine").mkdir()
    return partial(install.run, cwd=tmp_path / "mine")


COMMANDS = """
import json, sys
from vespe.cli import main

for arguments in json.loads(sys.argv[1]):
    code = main(arguments)
    sys.stdout.flush()
    print(f"\\0{code}\\0", end="", flush=True)
"""


def said(run: Run, *commands: list[str]) -> list[tuple[int, str]]:
    """Run the commands one after the other in one process; return the exit code of each and what it
    printed.
    """
    done = run("-c", COMMANDS, json.dumps(commands))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    parts = done.stdout.split("\0")
    return [(int(code), out) for out, code in zip(parts[::2], parts[1::2], strict=False)]


def test_tools_are_made_listed_resolved_and_run_without_any_one_feature(
    run: Run, lacking: str
) -> None:
    commands = {
        "init": "",
        "tool create count --type python_script": "",
        "tool list": "count",
        "tool resolve count": "project_tools",
        "tool run count text=a": '"words":1',
        "doctor": "vespe",
        "config list": "sandbox",
        "--help": "Usage",
    }
    told = said(run, *(line.split() for line in commands))
    assert [code for code, _ in told] == [0] * len(commands), told
    for (_, out), part in zip(told, commands.values(), strict=True):
        assert part in out.replace('"words": 1', '"words":1')
    for words in features.FEATURES[lacking]["verbs"]:
        assert " " in words or f"  {words} " not in told[-1][1]


def test_the_verbs_of_what_is_gone_are_unknown_words_that_name_the_feature(
    run: Run, lacking: str
) -> None:
    verbs = [words for one in LACKING[lacking] for words in features.FEATURES[one]["verbs"]]
    told = said(run, *([*words.split(), "--json"] for words in verbs))
    assert len(told) == len(verbs)
    for code, out in told:
        error = json.loads(out)["error"]
        assert (code, error["code"]) == (2, "missing_feature")
        assert repr(lacking) in error["message"] and f"features/{lacking}" in error["hint"]


LIBRARY = """
import json, sys
import vespe
from vespe import features
from vespe.errors import MissingFeature

told = {}
for name in vespe.__all__:
    try:
        getattr(vespe, name)
    except MissingFeature as error:
        assert isinstance(error, AttributeError) and not hasattr(vespe, name)
        told[name] = error.details["feature"]
project = vespe.Project.init(".")
project.create_tool("count", type="python_script")
assert project.call("count", text="a b").unwrap()["words"] == 2
for name, use in (
    ("Project.batch", lambda: list(project.batch("count", [{"text": "a"}]))),
    ("vespe.testing", lambda: __import__("vespe.testing")),
    ("vespe.agents.recordings", lambda: __import__("vespe.agents.recordings")),
):
    try:
        use()
    except MissingFeature as error:
        told[name] = error.details["feature"]
print(json.dumps(told))
"""


def test_the_public_names_of_what_is_gone_say_which_feature_is_missing(
    run: Run, lacking: str
) -> None:
    done = run("-c", LIBRARY)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    owners = {
        name: where.partition(":")[0] for name, where in vespe._MODULES.items() if ":" in where
    }
    gone = {name for name, feature in owners.items() if feature in LACKING[lacking]}
    gone |= {"Project.batch"} if lacking == "batch" else set()
    gone |= {"vespe.testing"} if "testing" in LACKING[lacking] else set()
    gone |= {"vespe.agents.recordings"} if lacking == "agents" else set()
    assert told == dict.fromkeys(gone, lacking)
