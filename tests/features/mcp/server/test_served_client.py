"""What is bound to one client of a server."""

from pathlib import Path

import pytest

from vespe.errors import UnknownResult
from vespe.features.mcp.server import served_client
from vespe.features.mcp.server.served_client import ServedClient
from vespe.models import Outcome, Tool

TOOL = Tool(uid="t", name="t", description="", input_schema={}, model_tokens=100)


def test_p82_a_handle_of_one_client_is_nothing_to_another(home: Path) -> None:
    one, other = ServedClient(), ServedClient()
    one.results.shown(TOOL, Outcome(tool="t", uid="t", result="x" * 5000), place=None)
    assert one.results.text_of("r1")[0] == "x" * 5000 and one.name != other.name
    with pytest.raises(UnknownResult, match="no such handle"):
        other.results.text_of("r1")


def test_a_client_that_lives_long_forgets_what_it_was_given_first(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = ServedClient()
    monkeypatch.setattr(served_client, "_MOST_HANDLES", 3)
    for number in range(5):
        result = Outcome(tool="t", uid="t", result=f"{number}" * 5000)
        client.results.shown(TOOL, result, place=None)
        client.forget_oldest()
    assert list(client.results.known) == ["r3", "r4", "r5"]
    assert client.results.text_of("r5")[0] == "4" * 5000
