"""`vespe tool search`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import write_tool
from tests.support.terminal import vespe_on_a_terminal
from vespe.tools import search

Command = Callable[..., Any]
EVALUATION = {
    "tools": [
        {"name": "weather", "description": "Tell the weather of a city."},
        {"name": "mail", "description": "Send a letter."},
    ],
    "queries": [
        {"query": "will it rain in the city", "gold": ["weather"]},
        {"query": "send a letter", "gold": [["mail"]]},
    ],
}


@pytest.fixture(autouse=True)
def kit(command: Command) -> None:
    command("kit", "activate", "file_io_without_git")


def test_the_best_tool_comes_first(command: Command) -> None:
    document = command("tool", "search", "replace a string in a file", "--json").document
    assert (
        document["tools"][0]["name"] == "edit_file"
        and document["tools"][0]["scope"] == "file_io_without_git"
    )


def test_a_table_is_shown_and_no_more_than_asked_for(command: Command) -> None:
    said = command("tool", "search", "files", "--limit", "1")
    assert said.out.count("file_io_without_git") == 1 and said.err == ""


def test_a_person_is_told_how_to_see_more_than_was_asked_for(project: Path) -> None:
    assert "the best 1 tool: --limit 10 shows more\n" in vespe_on_a_terminal(
        "tool", "search", "files", "--limit", "1", cwd=project
    )
    assert "shows more" not in vespe_on_a_terminal(
        "tool", "search", "files", "--limit", "1000", cwd=project
    )


def test_what_changed_is_found_by_its_new_words_where_an_index_is_kept(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "IN_MEMORY", 0)
    tool = project / ".vespe/tools/tool-x"
    for said in ("Feed a zebra.", "Wash a giraffe.", "Feed a zebra."):
        write_tool(tool, "care", description=said)
        for _ in range(2):
            for animal in ("zebra", "giraffe"):
                found = command("tool", "search", animal, "--json").document["tools"]
                assert [one["description"] for one in found] == [said] * (animal in said)
        shutil.rmtree(tool)
        assert command("tool", "search", "zebra", "--json").document["tools"] == []


def test_of_very_many_tools_those_are_found_that_a_listing_shows_as_available(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "IN_MEMORY", 0)
    tools = project / ".vespe/tools"
    write_tool(tools / "tool-good", "care", description="Feed a zebra with a lot of green hay.")
    for number in range(3):
        write_tool(tools / f"tool-b{number}", f"zebra_{number}", description=7)
    for uid in ("tool-c", "tool-d"):
        write_tool(tools / uid, "zebra", description="Wash the zebra.")
    (tools / "tool-e").mkdir()
    (tools / "tool-e/config.json").write_text('{"name": "zebra_e", ', encoding="utf-8")
    (tools / "tool-f").symlink_to(tools / "tool-good")
    write_tool(tools / "tool-g", "edit_file", description="Comb a zebra.")

    def found(*more: str) -> list[tuple[str, str, float]]:
        document = command("tool", "search", "zebra", "--json", *more).document
        return [(one["name"], one["scope"], one["score"]) for one in document["tools"]]

    first = found()
    assert [one[:2] for one in first] == [("edit_file", "project_tools"), ("care", "project_tools")]
    command("tool", "list")
    assert found() == first and found("--limit", "1") == first[:1]
    # the project's own comes before the kit's
    edited = command("tool", "search", "edit a file", "--json").document["tools"]
    assert [one["scope"] for one in edited if one["name"] == "edit_file"] == ["project_tools"]


def test_where_nothing_fits_a_note_says_so(command: Command) -> None:
    said = command("tool", "search", "zebra")
    assert said.out == "" and "vespe tool list" in said.err


def test_an_evaluation_over_the_files_own_tools_prints_its_figures(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "cases.json").write_text(json.dumps(EVALUATION), encoding="utf-8")
    document = command("tool", "search", "--eval", str(tmp_path / "cases.json"), "--json").document
    assert (document["tools"], document["queries"], document["recall_at_1"], document["mrr"]) == (
        2,
        2,
        1.0,
        1.0,
    )


def test_an_evaluation_without_tools_of_its_own_is_over_the_projects(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "cases.json").write_text(
        '{"queries": [{"query": "read a file", "gold": ["read_file"]}]}', encoding="utf-8"
    )
    assert (
        "5 tools, 1 need of queries: R@1 1.000"
        in command("tool", "search", "--eval", str(tmp_path / "cases.json")).out
    )


def test_a_tool_that_is_wanted_and_not_there_is_named(command: Command, tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text(
        '{"queries": [{"query": "read a file", "gold": ["red_file"]}]}', encoding="utf-8"
    )
    said = command("tool", "search", "--eval", str(tmp_path / "cases.json"))
    assert said.code == 0 and "not among the 5 tools: red_file" in said.err


def test_what_people_ask_for_is_searched_in_the_files_own_tools_too(
    command: Command, tmp_path: Path
) -> None:
    tools = [
        {"name": "a", "description": "Tell."},
        {"name": "b", "description": "Tell.", "queries": ["will it rain"]},
    ]
    cases = {"tools": tools, "queries": [{"query": "rain tomorrow", "gold": ["b"]}]}
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    assert (
        command("tool", "search", "--eval", str(tmp_path / "cases.json"), "--json").document[
            "recall_at_1"
        ]
        == 1.0
    )


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "either a query or --eval"),
        (("a", "--eval", "x"), 2, "either"),
        (("--eval", "missing.json"), 1, "missing.json"),
    ],
)
def test_what_cannot_be_searched_is_a_sentence(
    command: Command, arguments: tuple[str, ...], code: int, words: str
) -> None:
    said = command("tool", "search", *arguments)
    assert said.code == code and words in said.err


def test_a_file_of_cases_that_is_wrong_is_named(command: Command, tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text('{"queries": [1]}', encoding="utf-8")
    said = command("tool", "search", "--eval", str(tmp_path / "cases.json"))
    assert said.code == 4 and "/queries/0" in said.err


def test_on_a_terminal_it_is_said_that_other_kits_were_left_out(project: Path) -> None:
    shown = vespe_on_a_terminal("tool", "search", "replace a string in a file", cwd=project)
    assert "4 kits that are not active were not searched" in " ".join(shown.split())


def test_if_nothing_is_found_the_kits_that_were_not_searched_are_told_in_a_pipe_too(
    command: Command, project: Path
) -> None:
    said = command("tool", "search", "telephone")
    assert (said.code, said.out) == (0, "")
    assert "no tool here has any of these words" in said.err
    assert "4 kits that are not active were not searched: `vespe kit list`" in said.err
    assert command("tool", "search", "telephone", "--json").err == ""
