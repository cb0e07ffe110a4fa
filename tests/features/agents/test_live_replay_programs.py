"""The calls of programs in recordings and kept conversations: replayed, compared with the tools as
they are now, and shown, as calls that the model makes itself.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool
from vespe.features.inspector import conversations

pytest.importorskip("pydantic_monty")
Command = Callable[..., Any]
CODE = "a = one()\nb = one()\na + b"


@pytest.fixture
def recorded(command: Command, project: Path) -> Path:
    python_tool(
        project / ".vespe/tools/tool-one", "one", "return 1", annotations={"readOnlyHint": True}
    )
    script = {
        "turns": [
            {"tool_calls": [{"name": "run_code", "arguments": {"code": CODE}}]},
            {"text": "Two."},
        ]
    }
    (project / "s.json").write_text(json.dumps(script), encoding="utf-8")
    done = command(
        "agent", "run", "hi", "--provider", "simulated", "--script", "s.json",
        "--tools-mode", "code", "--record", "r.json", "--save", "talk.json",
    )  # fmt: skip
    assert done.code == 0 and done.out == "Two.\n", done.err
    return project


@pytest.mark.parametrize("file", ["r.json", "talk.json"])
def test_inner_calls_are_compared_like_outer_ones(
    command: Command, recorded: Path, file: str
) -> None:
    live = ("agent", "run", "--replay", file, "--tools", "live", "--json")
    done = command(*live)
    assert done.code == 0, done.err
    rows = done.document["calls"]
    assert [(row["id"], row["tool"], row["state"]) for row in rows] == [
        ("call_1_1/1", "one", "same"),
        ("call_1_1/2", "one", "same"),
    ]
    (recorded / ".vespe/tools/tool-one/main.py").write_text(
        "def one(**inputs):\n    return 7\n", encoding="utf-8"
    )
    assert command("trust", "--yes").code == 0
    done = command(*live)
    assert done.code == 1 and [row["state"] for row in done.document["calls"]] == ["differs"] * 2


def test_a_replay_runs_no_program_and_run_tools_runs_it_again(
    command: Command, recorded: Path
) -> None:
    replay = ("agent", "run", "hi", "--tools-mode", "code", "--replay", "r.json")
    before = len(command("log", "--json").document["calls"])
    assert command(*replay).out == "Two.\n"
    assert len(command("log", "--json").document["calls"]) == before == 3
    assert command(*replay, "--run-tools").code == 0
    assert len(command("log", "--json").document["calls"]) == 6


def test_the_inspector_shows_the_code_and_the_calls(recorded: Path) -> None:
    said = conversations.read(str(recorded / "r.json")).said
    shown = next(one for one in said if one.calls).calls[0]
    assert shown.arguments == CODE and shown.outcome is not None
    assert [
        (one.name, one.arguments, one.outcome and one.outcome.result) for one in shown.inner
    ] == [
        ("one", "{}", 1),
        ("one", "{}", 1),
    ]


def test_a_secret_that_a_program_puts_together_is_in_no_recording_and_no_log(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    place = project / ".vespe/tools/tool-say"
    python_tool(place, "say", "return text", params="text", schema=schema, secrets=["TOKEN"])
    monkeypatch.setenv("TOKEN", "hunter2-and-more")
    code = "print(len(say(text='hunter2' + '-and-more')))\n'done'"
    turns = [{"tool_calls": [{"name": "run_code", "arguments": {"code": code}}]}, {"text": "!"}]
    (project / "s.json").write_text(json.dumps({"turns": turns}), encoding="utf-8")
    done = command(
        "agent", "run", "hi", "--provider", "simulated", "--script", "s.json", "--approve", "all",
        "--tools-mode", "code", "--record", "r.json", "--json",
    )  # fmt: skip
    assert done.code == 0 and "hunter2-and-more" not in done.out
    assert "hunter2-and-more" not in (project / "r.json").read_text(encoding="utf-8")
    (project / "p.py").write_text("say(text='hunter2-and-more')", encoding="utf-8")
    assert command("program", "run", "p.py", "--log-arguments").code == 0
    said = [line["arguments"] for line in command("log", "--json").document["calls"][-2:]]
    assert said == [{"text": "***"}, {"code": "say(text='***')"}]


def test_the_setting_has_the_model_write_programs(command: Command, recorded: Path) -> None:
    assert command("config", "set", "agent.tools_mode", "code").code == 0
    done = command("agent", "run", "hi", "--provider", "simulated", "--script", "s.json", "--json")
    assert done.code == 0 and done.document["calls"][0]["content"] == "2"
