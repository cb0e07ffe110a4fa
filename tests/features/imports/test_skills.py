"""A skill's scripts, run as programs through the one call path."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import UsageError
from vespe.features.imports import skills
from vespe.features.imports.made import Selection

Command = Callable[..., Any]
SKILL = "---\nname: words\ndescription: Counts words.\nmetadata: {version: '1.2'}\n---\n# Words\n"
COUNT = (
    '# /// script\n# dependencies = []\n# ///\n"""Count words."""\nimport sys\n'
    "from shared import words\n"
    'print(words(sys.argv[1]))\nif "bad" in sys.argv: sys.exit("ended")\n'
)
HI = '# Says hi.\necho "hi $*"; cat\n'


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "words/scripts").mkdir(parents=True)
    files = {
        "SKILL.md": SKILL,
        "scripts/count.py": COUNT,
        "scripts/shared.py": "def words(t):\n    return len(t.split())\n",
        "scripts/hi.sh": HI,
    }
    for name, text in files.items():
        (tmp_path / "words" / name).write_text(text, encoding="utf-8")
    return tmp_path / "words"


def test_each_program_is_a_tool_and_what_others_import_is_none(source: Path) -> None:
    made = skills.import_skill(str(source), kit_id="kit", selection=Selection())
    assert (made.title, made.description, made.version) == ("words", "Counts words.", "1.2")
    assert [(tool.name, tool.document["description"]) for tool in made.tools] == [
        ("count", "Count words."),
        ("hi", "Says hi."),
    ]
    assert [left.what for left in made.left_out] == ["scripts/shared.py"]
    assert b"# dependencies = []" in made.tools[0].files["run.py"].data


def test_a_script_whose_name_cannot_be_seen_is_no_tool_and_its_name_is_shown_inert(
    source: Path, command: Command
) -> None:
    for name in ("a\u202eyp.py", "b\x1b[2J.sh", "c\n.py"):
        (source / "scripts" / name).write_text("print(1)\n", encoding="utf-8")
    made = command("kit", "import", str(source), "--id", "kit")
    assert made.code == 0 and "\u202e" not in made.err and "\x1b" not in made.err
    assert r"scripts/a\u202eyp.py is left out: its name has characters" in made.err
    listed = command("tool", "list", "--all", "--json", "--kit", "kit").document["tools"]
    assert [tool["name"] for tool in listed] == ["count", "hi"]


def test_a_script_that_python_cannot_read_is_left_out_with_the_reason(source: Path) -> None:
    (source / "scripts/deep.py").write_text("x = " + "-" * 100_000 + "1\n", encoding="utf-8")
    made = skills.import_skill(str(source), kit_id="kit", selection=Selection())
    (left,) = [left for left in made.left_out if left.what == "scripts/deep.py"]
    assert left.reason.startswith("is not Python: ") and not left.reason.endswith(": ")


def test_the_tools_run_with_what_stands_beside_them(source: Path, command: Command) -> None:
    made = command("kit", "import", str(source), "--id", "kit", "--json").document
    assert command("lint", made["path"], "--severity", "error").code == 0
    command("kit", "activate", "kit")
    assert command("tool", "run", "count", 'arguments=["a b c"]').out.strip() == "3"
    assert "ended" in command("tool", "run", "count", 'arguments=["a", "bad"]').err
    assert (
        command("tool", "run", "hi", 'arguments=["--bob", "x y"]', "stdin=and you").out
        == "hi --bob x y\nand you"
    )


@pytest.mark.parametrize("front", ["", "---\nname: [\n---\n", "---\n- 1\n---\n", "no front"])
def test_front_matter_that_cannot_be_read_is_no_matter(source: Path, front: str) -> None:
    (source / "SKILL.md").write_text(front, encoding="utf-8")
    assert skills.import_skill(str(source), kit_id="kit", selection=Selection()).title == "words"


def test_a_skill_without_scripts_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(SKILL, encoding="utf-8")
    with pytest.raises(UsageError, match="has no directory scripts/"):
        skills.import_skill(str(tmp_path), kit_id="kit", selection=Selection())
