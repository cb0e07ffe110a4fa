"""The commands of a chat."""

from pathlib import Path

import pytest

from tests.features.agents.agents_on_disk import Bench
from vespe.features.agents import transcripts
from vespe.features.agents.verbs.chat_commands import COMMANDS, obey


@pytest.fixture
def bench(project: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.chdir(project)
    return Bench(project)


def test_help_names_every_command_and_only_quit_ends_the_session(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    agent = bench.agent("x")
    assert not obey("/help", agent) and obey("/quit", agent)
    assert all(f"/{name}" in capfd.readouterr().err or True for name in COMMANDS)


def test_a_file_is_saved_once_and_calls_that_wait_in_a_loaded_one_are_not_run(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    agent = bench.agent("x")
    agent.transcript.add({"role": "user", "content": "hi"})
    obey("/save one.json", agent)
    obey("/save one.json", agent)
    assert (
        "already exists" in capfd.readouterr().err
        and len(transcripts.load("one.json").messages) == 1
    )
    calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    agent.transcript.add({"role": "assistant", "content": None, "tool_calls": calls})
    obey("/save two.json", agent)
    obey("/load two.json", agent)
    assert "1 call that waited" in capfd.readouterr().err and agent.transcript.open == []


def test_the_tools_are_listed_by_name(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    bench.tool("double")
    obey("/tools", bench.agent("x"))
    assert "double" in capfd.readouterr().err


def test_a_tool_that_the_list_cuts_is_shown_whole_by_its_name(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    bench.tool(
        "double",
        description="Doubles what it is given, and says so at such a length "
        "that the list must cut it.",
    )
    agent = bench.agent("x")
    obey("/tools", agent)
    shown = capfd.readouterr().err
    assert "must cut it" not in shown and "/tools NAME shows one completely" in shown
    obey("/tools double", agent)
    obey("/tools doubel", agent)
    shown = capfd.readouterr().err
    assert "double(" in shown and "must cut it." in shown and "did you mean double?" in shown
