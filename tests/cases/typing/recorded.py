"""A test of an agent by a recording, and of a tool by its examples."""

import os

from vespe import Agent, RecordingProvider, ReplayProvider, RunResult, SimulatedProvider, Toolset
from vespe.testing import call, example_results


def price(net: float) -> float:
    """Add the tax."""
    return net * 1.19


def recorded(path: str | os.PathLike[str]) -> RunResult:
    model = SimulatedProvider({"turns": [{"text": "Hello."}]})
    return Agent(RecordingProvider(model, path), tools=Toolset(price)).run("Hi")


def test_the_agent_answers_as_recorded() -> None:
    run = Agent(ReplayProvider("talk.json"), tools=Toolset(price)).run("Hi")
    assert run.text == "Hello." and not run.calls


def test_the_tool() -> None:
    assert call(price, net=100).unwrap() == 119
    assert all(result.passed for result in example_results(price))
