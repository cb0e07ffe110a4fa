"""Directories of llm-functions, each language once through the one call path."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import UsageError
from vespe.features.imports import llm_functions, writing
from vespe.features.imports.made import Imported, Selection

Command = Callable[..., Any]
RECORDED = Path(__file__).parents[4] / "shared/corpus/dirs/llm-functions.json"
BASH = """#!/usr/bin/env bash
# @describe Say words.
# @option --word! A word.
# @option --more* More words.
# @flag --loud
main() {
  echo "$argc_word ${argc_more[*]} ${#argc_more[@]} ${argc_loud:-quiet}" >> "$LLM_OUTPUT"
}
eval "$(argc --argc-eval "$0" "$@")"
"""
AGENT = """# @cmd One.
one() {
  "$LLM_ROOT_DIR/utils/guard_operation.sh" "Really?"
  echo one >> "$LLM_OUTPUT"
}
# @cmd Two.
two() {
  echo two >> "$LLM_OUTPUT"
}
eval "$(argc --argc-eval "$0" "$@")"
"""
PYTHON = (
    'def run(a: int, b: int = 2):\n    """Add.\n    Args:\n        a: '
    'one\n    """\n    return a + b\n'
)
JS = """/**
 * Join words.
 * @typedef {Object} Args
 * @property {string[]} words - Words
 * @property {string} [between] - What stands between
 * @param {Args} args
 */
exports.run = function ({ words, between }) { return words.join(between ?? " "); }
"""
FILES = {
    "tools/say.sh": BASH,
    "tools/add.py": PYTHON,
    "tools/join.js": JS,
    "agents/two/tools.sh": AGENT,
    "tools/notes.txt": "no",
    "tools/bad.py": "def (",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "functions" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path / "functions"


def imported(source: Path, **selected: Any) -> Imported:
    return llm_functions.import_directory(
        str(source), kit_id="kit", selection=Selection(**selected)
    )


def test_each_function_is_a_tool_and_what_cannot_be_read_a_reason(source: Path) -> None:
    made = imported(source)
    assert [tool.source for tool in made.tools] == [
        "agents/two/tools.sh:one",
        "agents/two/tools.sh:two",
        "tools/add.py",
        "tools/join.js",
        "tools/say.sh",
    ]
    assert [left.what for left in made.left_out] == ["tools/bad.py"]
    assert [tool.name for tool in imported(source, paths=("tools/*",)).tools] == [
        "add",
        "join",
        "say",
    ]


def test_the_tools_run_as_they_did(source: Path, command: Command) -> None:
    made = command("kit", "import", str(source), "--id", "kit", "--json").document
    assert command("lint", made["path"], "--severity", "error").code == 0
    assert command("kit", "activate", "kit").code == 0
    assert (
        command(
            "tool", "run", "say", "word=a'b $HOME", 'more=["x y", "$(z)"]', "loud=true"
        ).out.strip()
        == "a'b $HOME x y $(z) 2 1"
    )
    assert command("tool", "run", "say", "word=a").out.strip() == "a  0 quiet"
    assert command("tool", "run", "two").out.strip() == "two"
    assert command("tool", "run", "add", "a=1").out.strip() == "3"
    if shutil.which("node"):
        assert command("tool", "run", "join", 'words=["a", "b"]', "between=-").out.strip() == "a-b"


def test_a_guard_is_a_hint_for_vespes_own_rules(source: Path) -> None:
    (one,) = [tool for tool in imported(source).tools if tool.name == "one"]
    assert one.document["annotations"] == {"destructiveHint": True}
    assert any("confirmation prompts on the terminal are turned off" in note for note in one.notes)


def test_a_directory_without_tools_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not contain tools"):
        imported(tmp_path)


def test_the_recorded_directory_becomes_its_declared_tools(tmp_path: Path) -> None:
    if not RECORDED.is_file():
        pytest.skip(f"NOT RUN: the recorded directory is not at {RECORDED}")
    recorded = json.loads(RECORDED.read_bytes())
    for name, text in recorded["files"].items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    made = {tool.source.partition(":")[0]: tool.document for tool in imported(tmp_path).tools}
    for name, (declared, *_) in recorded["declarations"].items():
        said = made[name]["schema"]["input"]
        assert (made[name]["name"], said.get("required")) == (
            declared["name"],
            declared["parameters"].get("required"),
        ), name
        assert list(said["properties"]) == list(declared["parameters"]["properties"]), name
    assert not writing.written(imported(tmp_path), "kit").left_out
