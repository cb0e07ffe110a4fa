"""What a person sees on terminals of 60, 80, 100 and 200 columns, kept in tests/cases/terminal/ to
be looked at.

`UPDATE_SNAPSHOTS=1` writes the files anew; read the diff before you commit it.
"""

import os
import re
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, vespe
from tests.support.terminal import plain, vespe_on_a_terminal

KEPT = Path(__file__).parents[1] / "cases" / "terminal"
WIDTHS = (60, 80, 100, 200)
CALC = {
    "type": "object",
    "properties": {
        "a": {"type": "number"},
        "b": {"type": "number"},
        "op": {"enum": ["add", "mul"], "default": "add"},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
}
COMMANDS = {
    "tool-list": "tool list",
    "tool-list-all": "tool list --all --kit project_tools",
    "tool-list-size": "tool list --size",
    "tool-show": "tool show calc",
    "kit-list": "kit list",
    "kit-show": "kit show file_io_without_git",
    "resolve-all": "tool resolve --all",
    "agent-answers": "agent answers",
}


@pytest.fixture
def stocked(project: Path) -> Path:
    python_tool(
        project / ".vespe/tools/tool-calc",
        "calc",
        "return 1",
        schema=CALC,
        annotations={"readOnlyHint": True},
    )
    python_tool(project / ".vespe/tools/tool-mine", "read_file", "return 1")
    (project / ".vespe/tools/tool-broken").mkdir()
    (project / ".vespe/tools/tool-broken/config.json").write_text("{", encoding="utf-8")
    assert vespe("kit", "activate", "file_io_without_git", cwd=project).returncode == 0
    return project


@pytest.mark.parametrize("name", COMMANDS)
def test_a_table_is_shown_as_it_is_kept(name: str, stocked: Path) -> None:
    shown = "".join(f"=== {columns} columns\n{table(name, stocked, columns)}" for columns in WIDTHS)
    kept = KEPT / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(shown, encoding="utf-8")
    assert shown == kept.read_text(encoding="utf-8")


def table(name: str, project: Path, columns: int) -> str:
    shown = plain(
        vespe_on_a_terminal(
            *COMMANDS[name].split(), columns=columns, cwd=project, TIKTOKEN_CACHE_DIR=""
        )
    )
    return re.sub(r"\S*/(?=\.vespe/tools/|vespe/data/kits/|kits/file_io)", "/…/", shown)


def test_no_name_in_a_table_is_cut_at_any_width(stocked: Path) -> None:
    for columns in WIDTHS:
        shown = plain(vespe_on_a_terminal("tool", "list", "--all", columns=columns, cwd=stocked))
        assert all(
            re.search(rf"^{name}  ", shown, re.MULTILINE)
            for name in ("calc", "git_list_files", "github_repository")
        )
        assert columns < 80 or all(
            len(line) <= columns for line in shown.splitlines() if not line.startswith("vespe:")
        )


@pytest.mark.parametrize(
    "page", ["--help", "tool --help", "kit --help", "tool run --help", "mcp config --help"]
)
def test_a_page_of_help_fits_its_terminal(page: str, home: Path) -> None:
    for columns in WIDTHS:
        shown = plain(vespe_on_a_terminal(*page.split(), columns=columns))
        assert all(
            len(line) <= columns or line.startswith("Example: ") for line in shown.splitlines()
        ), shown


@pytest.mark.parametrize(
    "said",
    [
        "tool run nothing_of_this_name_is_here",
        "kit show nothing",
        "doctor",
        "lint",
        "trust",
        "tool resolve calc",
        "help environment",
        "help arguments",
        "lint --explain flow-exfiltration",
    ],
)
def test_a_sentence_breaks_between_words(said: str, stocked: Path) -> None:
    narrow, wide = (
        plain(vespe_on_a_terminal(*said.split(), columns=columns, cwd=stocked))
        for columns in (60, 500)
    )
    assert narrow.split() == wide.split()
    assert all(
        len(line) <= 60 or len(max(line.split(), key=len)) > 30 or "`" in line
        for line in narrow.splitlines()
    ), narrow


def test_tables_are_coloured_where_colour_is_wanted(stocked: Path) -> None:
    assert "\x1b[31mbroken" in vespe_on_a_terminal(
        "tool", "list", "--all", cwd=stocked, NO_COLOR=""
    )
    assert "\x1b[" not in vespe_on_a_terminal("tool", "list", "--all", cwd=stocked, NO_COLOR="1")
