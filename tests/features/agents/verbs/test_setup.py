"""The options that the agent's commands share."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.providers.serving import HELLO, said
from tests.support.loopback import Loopback
from vespe.projects import user_config

Command = Callable[..., Any]


@pytest.mark.parametrize("verb", ["run", "chat"])
def test_the_commands_take_the_same_options(command: Command, verb: str) -> None:
    told = command("agent", verb, "--help").out
    for option in (
        "--provider",
        "--model",
        "--script",
        "--system",
        "--tools",
        "--kit",
        "--approve",
        "--max-iterations",
        "--stream / --no-stream",
    ):
        assert option in told


def test_a_model_that_is_not_named_is_asked_for_with_where_to_say_it(command: Command) -> None:
    told = command("agent", "run", "go", "--provider", "ollama")
    assert told.code == 2 and "providers.ollama.model" in told.err


def test_a_key_that_is_not_there_is_6_and_names_its_variable(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = command("agent", "run", "go", "--provider", "openai", "--model", "m")
    assert told.code == 6 and "OPENAI_API_KEY" in told.err


def test_an_endpoint_of_the_users_own_name_is_a_provider_like_any_other(
    command: Command, project: Path
) -> None:
    with Loopback(said(HELLO)) as server:
        user_config.set_value(
            "providers.mine", {"api": "openai", "base_url": server.url("/v1"), "model": "m"}
        )
        told = command("agent", "run", "go", "--provider", "mine", "--no-stream")
    assert (told.code, told.out) == (0, "Hello\n")


def test_a_provider_that_nobody_named_is_2_with_the_names_that_there_are(
    command: Command, project: Path
) -> None:
    user_config.set_value("providers.mine.api", "openai")
    told = command("agent", "run", "go", "--provider", "yours")
    assert told.code == 2 and "'yours'" in told.err and "simulated, mine" in told.err
    assert "simulated, mine" in command("agent", "run", "go").err


def test_names_of_providers_are_completed(project: Path) -> None:
    user_config.set_value("providers.open_mine.api", "openai")
    words = {
        "_VESPE_COMPLETE": "bash_complete",
        "COMP_WORDS": "vespe agent run --provider open",
        "COMP_CWORD": "4",
    }
    arguments = [sys.executable, "-m", "vespe"]
    done = subprocess.run(
        arguments,
        env={**os.environ, **words},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    names = [line.partition(",")[2] for line in done.stdout.split()]
    assert names == ["openai", "openai-responses", "open_mine"]


def test_a_wait_for_a_busy_model_is_told_in_inert_words(command: Command, project: Path) -> None:
    fail = {"status": 429, "message": "busy \x1b[31mnow", "retry_after": 0}
    (project / "s.json").write_text(
        json.dumps({"turns": [{"fail": fail, "text": "end"}]}), encoding="utf-8"
    )
    told = command("agent", "run", "go", "--provider", "simulated", "--script", "s.json")
    assert (
        (told.code, told.out) == (0, "end\n")
        and "busy" in told.err
        and "; trying again in 0 s" in told.err
        and "\x1b" not in told.err
    )


@pytest.mark.parametrize("made_by", ["conversation", "configuration"])
def test_a_script_that_is_missing_is_told_by_who_named_the_provider(
    made_by: str, command: Command, project: Path
) -> None:
    said: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi."}]}
    if made_by == "conversation":
        said |= {"vespe": {"provider": "simulated"}}
        who = "this conversation was made with the provider `simulated`"
    else:
        command("config", "set", "agent.provider", "simulated")
        who = "your configuration (`agent.provider`) names the provider `simulated`"
    (project / "talk.json").write_text(json.dumps(said), encoding="utf-8")
    missing = command("agent", "run", "--resume", "talk.json")
    assert missing.code == 2 and who in missing.err and "give --script FILE" in missing.err
    (project / "end.json").write_text('{"turns": [{"text": "Hello."}]}', encoding="utf-8")
    done = command("agent", "run", "--resume", "talk.json", "--script", "end.json")
    assert (done.code, done.out.strip()) == (0, "Hello.")
