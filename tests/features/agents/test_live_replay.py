"""Yesterday's conversations on today's tools."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import OBJECT, call, turn_of
from tests.support.ondisk import python_tool
from vespe.errors import InvalidDocument
from vespe.features.agents.live_replay import recorded_calls

Command = Callable[..., Any]
READ = {"annotations": {"readOnlyHint": True, "openWorldHint": False}}
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TURNS = [
    [call("first", {"path": "a.txt"})],
    [call("note", {"path": "b.txt"}), call("first", {"path": "a.txt"})],
    {"text": "done"},
]


def tools(
    project: Path,
    *,
    first: str = "return open(path).read()[:1]",
    note: str = "open(path, 'w').write('new'); return 3",
    schema: Any = PATH,
) -> None:
    """Write `first`, which only reads, and `note`, which writes a file; again where they are
    there.
    """
    for name, body, more in (("first", first, READ), ("note", note, {})):
        directory = project / f".vespe/tools/tool-{name}"
        for file in directory.glob("*"):
            file.unlink()
        if directory.exists():
            directory.rmdir()
        python_tool(directory, name, body, params="path, **rest", schema=schema, **more)


@pytest.fixture
def talks(command: Command, project: Path) -> Command:
    """A conversation with both tools, as a recording in record.json and as it was kept in
    talk.json.
    """
    (project / "a.txt").write_text("xyz", encoding="utf-8")
    tools(project)
    script = [turn if isinstance(turn, dict) else {"tool_calls": turn} for turn in TURNS]
    (project / "script.json").write_text(json.dumps({"turns": script}), encoding="utf-8")
    kept = ("--record", "record.json", "--save", "talk.json")
    ran = command(
        "agent",
        "run",
        "go",
        "--provider",
        "simulated",
        "--script",
        "script.json",
        "--approve",
        "all",
        *kept,
    )
    assert ran.code == 0, ran.err
    (project / "b.txt").unlink()
    return command


def live(command: Command, *more: str, talk: str = "record.json") -> Any:
    return command("agent", "run", "--replay", talk, "--tools", "live", *more)


def states(command: Command, *more: str, **given: Any) -> list[tuple[int, str, str]]:
    return [
        (one["turn"], one["tool"], one["state"])
        for one in live(command, "--json", *more, **given).document["calls"]
    ]


@pytest.mark.parametrize("talk", ["record.json", "talk.json"])
def test_what_only_reads_runs_and_the_rest_is_held_to_its_schema(
    talks: Command, project: Path, talk: str
) -> None:
    assert states(talks, talk=talk) == [
        (1, "first", "same"),
        (2, "note", "fits"),
        (2, "first", "same"),
    ]
    assert live(talks, talk=talk).code == 0 and not (project / "b.txt").exists()


@pytest.mark.parametrize("talk", ["record.json", "talk.json"])
def test_another_result_is_a_difference_of_its_turn(
    talks: Command, project: Path, talk: str
) -> None:
    tools(project, first="return 'other'")
    told = live(talks, talk=talk)
    assert (
        told.code == 1
        and "differs" in told.out
        and "other" in told.out
        and "2 differences" in told.err
    )
    assert [state for *_, state in states(talks, talk=talk)] == ["differs", "fits", "differs"]


def test_a_schema_that_refuses_the_recorded_arguments_is_a_difference(
    talks: Command, project: Path
) -> None:
    tools(project, schema={**PATH, "properties": {"path": {"type": "string", "maxLength": 3}}})
    assert [state for *_, state in states(talks)] == ["differs"] * 3


def test_an_output_schema_that_refuses_the_recorded_result_is_a_difference(
    talks: Command, project: Path
) -> None:
    file = project / ".vespe/tools/tool-note/config.json"
    said = json.loads(file.read_text(encoding="utf-8"))
    said["schema"]["output"] = {"type": "string"}
    file.write_text(json.dumps(said), encoding="utf-8")
    assert states(talks)[1] == (2, "note", "differs")
    said["schema"]["output"] = {"type": "integer"}
    file.write_text(json.dumps(said), encoding="utf-8")
    assert states(talks)[1] == (2, "note", "fits")


def test_a_tool_that_is_gone_or_now_fails_is_a_difference(talks: Command, project: Path) -> None:
    tools(project, first="raise ValueError('broken')")
    assert "ValueError" in live(talks).out
    talks("tool", "expose", "first", "--never")
    assert "no tool called 'first'" in live(talks).out


def test_in_a_copy_every_call_runs_and_the_project_stays_as_it_is(
    talks: Command, project: Path
) -> None:
    assert states(talks, "--in-copy", "--approve", "all") == [
        (1, "first", "same"),
        (2, "note", "same"),
        (2, "first", "same"),
    ]
    assert not (project / "b.txt").exists()
    tools(project, note="open(path, 'w').write('new'); return 4")
    assert states(talks, "--in-copy", "--approve", "all")[1] == (2, "note", "differs")
    assert states(talks, "--in-copy")[1] == (2, "note", "fits")


def test_a_read_behind_a_write_that_did_not_run_says_so(
    command: Command, talks: Command, project: Path
) -> None:
    told = json.loads((project / "talk.json").read_text(encoding="utf-8"))
    told["messages"][-2]["content"] = "n"
    (project / "talk.json").write_text(json.dumps(told), encoding="utf-8")
    assert "note was not run before it; --in-copy runs it" in live(talks, talk="talk.json").out


def test_a_call_of_which_nothing_was_recorded_is_an_error(talks: Command, project: Path) -> None:
    told = json.loads((project / "record.json").read_text(encoding="utf-8"))
    told["outcomes"].pop()
    (project / "record.json").write_text(json.dumps(told), encoding="utf-8")
    assert states(talks)[-1] == (2, "first", "missing") and live(talks).code == 1


@pytest.mark.parametrize(
    "more", [["go"], ["--record", "x.json"], ["--save", "x.json"], ["--run-tools"]]
)
def test_what_does_not_go_with_it_is_refused(talks: Command, more: list[str]) -> None:
    assert live(talks, *more).code == 2
    assert (
        talks(
            "agent", "run", "go", "--in-copy", "--provider", "simulated", "--script", "script.json"
        ).code
        == 2
    )


def test_a_file_that_is_neither_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"turns": 1}', encoding="utf-8")
    with pytest.raises(InvalidDocument, match="version"):
        recorded_calls(str(tmp_path / "x.json"))


def test_a_bridges_calls_are_compared_under_their_own_names(talks: Command, project: Path) -> None:
    script = {
        "turns": [
            {
                "tool_calls": [
                    call("search_tools", {"query": "first"}),
                    call("call_tool", {"name": "first", "arguments": {"path": "a.txt"}}),
                ]
            },
            {"text": "x"},
        ]
    }
    (project / "script.json").write_text(json.dumps(script), encoding="utf-8")
    talks(
        "agent",
        "run",
        "go",
        "--provider",
        "simulated",
        "--script",
        "script.json",
        "--tools-mode",
        "bridge",
        "--record",
        "bridge.json",
    )
    assert states(talks, talk="bridge.json") == [(1, "search_tools", "same"), (1, "first", "same")]
    python_tool(project / ".vespe/tools/tool-more", "first_of_all", "return 1", schema=OBJECT)
    assert states(talks, talk="bridge.json") == [
        (1, "search_tools", "differs"),
        (1, "first", "same"),
    ]


@pytest.mark.parametrize("talk", ["record.json", "talk.json"])
def test_results_that_were_shown_in_part_are_compared_whole_and_by_their_handles(
    command: Command, project: Path, talk: str
) -> None:
    read_only: Any = READ
    python_tool(
        project / ".vespe/tools/tool-page", "page", "return open('page.txt').read()", **read_only
    )
    schema: Any = {"type": "object", "properties": {"text": {"type": "string"}}}
    python_tool(
        project / ".vespe/tools/tool-count",
        "count",
        "return len(text)",
        params="text",
        schema=schema,
        **read_only,
    )
    page = project / "page.txt"
    page.write_text("p" * 90_000, encoding="utf-8")
    turns = [
        [call("page", id="a")],
        [call("read_result", {"handle": "r1", "offset": 89_990}, id="b")],
        [call("count", {"text": {"$result": "r1"}}, id="c")],
        "end",
    ]
    script = {"turns": [turn_of(turn) for turn in turns]}
    (project / "script.json").write_text(json.dumps(script), encoding="utf-8")
    model = ("--provider", "simulated", "--script", "script.json", "--approve", "all")
    kept = ("--record", "record.json", "--save", "talk.json")
    assert command("agent", "run", "go", *model, *kept).code == 0
    assert [state for *_, state in states(command, talk=talk)] == ["same"] * 3
    page.write_text("p" * 89_999 + "q", encoding="utf-8")
    assert [state for *_, state in states(command, talk=talk)] == ["differs", "same", "same"]
