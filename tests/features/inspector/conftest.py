"""One inspector with attacks in everything that a project can say, one browser, and the pages of a
plain project.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import Browser, chromium
from tests.support.inspecting import Inspecting, Pages, inspecting
from tests.support.ondisk import python_tool, vespe, write_tool
from tests.support.pids import SAYS
from vespe import Agent, AgentOptions, RecordingProvider, SimulatedProvider
from vespe.features.agents.call_results import CallResult
from vespe.projects.init import found_project

XSS = (
    '"><script>document.title="struck"</script><img src=x '
    'onerror=document.title="struck">\u202e\x1b[31m'
)
"""What would run, turn or colour a page if any part of it were taken for more than text."""
_NAP = (
    f'import os, subprocess\nopen(inputs["mark"], "w").write({SAYS})\n'
    'subprocess.run(["sleep", "600"])'
)
_ORDER = (
    "import vespe_ask\n"
    'drink = {"type": "string", "minLength": 2}\n'
    'schema = {"type": "object", "properties": {"drink": drink}, "required": ["drink"]}\n'
    'return vespe_ask.ask("Which <b>drink</b>?", schema)'
)
_MARK = {"type": "object", "properties": {"mark": {"type": "string"}}, "required": ["mark"]}
_SAYS = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": XSS}},
    "required": ["text"],
}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium for all tests of a run."""
    with chromium() as started:
        yield started


def stock(project: Path) -> Path:
    """Give a project a tool that says what it is told, one that reads, one that sleeps, one that
    asks, a broken one, and one that is a link.
    """
    tools = project / ".vespe/tools"
    python_tool(
        tools / "tool-say",
        "say",
        'print(inputs["text"])\nreturn inputs["text"]',
        schema=_SAYS,
        tags=[XSS],
        version="1.0.0",
    )
    python_tool(tools / "tool-read", "look", "return [1, 2]", annotations={"readOnlyHint": True})
    python_tool(tools / "tool-nap", "nap", _NAP, schema=_MARK, annotations={"readOnlyHint": True})
    python_tool(tools / "tool-order", "order", _ORDER, annotations={"readOnlyHint": True})
    write_tool(tools / "tool-bad", "bad", schema={"type": "objekt"}, description=XSS)
    (project / "secret.txt").write_text("the secret of the one who looks", encoding="utf-8")
    os.symlink(project / "secret.txt", tools / "tool-nap" / "notes.txt")
    (tools / "tool-say" / "main.py").write_text(
        f"# {XSS!s}\ndef say(**inputs):\n    return inputs['text']\n", encoding="utf-8"
    )
    return project


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    """The pages of a trusted project with such tools, in a home of its own, without a server."""
    home = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in places(home).items():
            patch.setenv(name, value)
        (home / "project").mkdir()
        found_project(home / "project")
        yield Pages(stock(home / "project"))


@pytest.fixture(scope="module")
def talk(pages: Pages) -> Path:
    """A recording in that project: a question, one call, an answer."""
    return record(Path(pages.site._project.root))


def record(project: Path) -> Path:
    """Record a conversation that calls `look`, and quotes an attack."""
    turns = [{"tool_calls": [{"name": "look", "arguments": {}}]}, {"text": "Two numbers."}]
    provider = RecordingProvider(SimulatedProvider({"turns": turns}), project / "talk.json")

    def note(result: CallResult) -> None:
        provider.record_outcome(result.call.call_id, result.outcome)

    with Agent(
        provider, str(project), options=AgentOptions(system=XSS, approve="all", on_result=note)
    ) as agent:
        provider.record_end(agent.run("How many?").stop_reason)
    return project / "talk.json"


def places(home: Path) -> dict[str, str]:
    """Return the environment of a home of one's own."""
    return {
        "HOME": str(home),
        **{
            f"XDG_{name}_HOME": str(home / name.lower())
            for name in ("CONFIG", "DATA", "STATE", "CACHE")
        },
    }


@pytest.fixture(scope="session")
def inspected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspecting]:
    """An inspector of such a project in a process and a home of its own, opened already."""
    home = tmp_path_factory.mktemp("inspected")
    env = places(home)
    project = home / "project"
    project.mkdir()
    assert vespe("init", cwd=project, env=env).returncode == 0
    stock(project)
    assert (
        vespe(
            "tool", "run", "say", f"text={XSS}", "--log-arguments", cwd=project, env=env
        ).returncode
        == 0
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        record(project)
    with inspecting(project, env=env) as started:
        yield started.open()
