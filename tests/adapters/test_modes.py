"""How many of its tools a model is told of."""

import pytest

from vespe.adapters.modes import is_bridged
from vespe.errors import UsageError
from vespe.models import Tool

TOOLS = [Tool(uid="", name=f"t{n}", description="x" * 40, input_schema={"type": "object"}) for n in range(10)]


@pytest.mark.parametrize(
    ("mode", "budget", "bridged"),
    [("all", 1, False), ("bridge", None, True), ("auto", None, False), ("auto", 100_000, False), ("auto", 50, True)],
)
def test_auto_is_all_until_the_definitions_cost_more_than_the_budget(mode: str, budget: int | None, bridged: bool) -> None:
    assert is_bridged(mode, TOOLS, api="openai", budget=budget) is bridged


def test_what_is_not_a_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="all, bridge"):
        is_bridged("some", TOOLS, api="mcp", budget=None)
