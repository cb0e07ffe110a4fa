"""How many of its tools a model is told of: all of them, or a bridge in their place."""

from collections.abc import Iterable
from typing import Final

from vespe.adapters import SHAPES, cost
from vespe.errors import UsageError
from vespe.models import Tool

MODES: Final = ("all", "bridge", "auto")
"""`all` declares every tool; `bridge` those that are always exposed, and three that search, describe and call the others; `auto` is `all`
until the definitions cost more than the project's `tool_budget`, then `bridge`."""


def is_bridged(mode: str, tools: Iterable[Tool], *, api: str, budget: object) -> bool:
    """Say whether a bridge stands in the place of the tools; raises UsageError for what is not one of MODES.

    `auto` asks whether their definitions, as `api` takes them, cost more tokens than the `budget`; without one they never do.
    """
    if mode not in MODES:
        raise UsageError(f"{mode!r} is not a way to show tools: it is one of {', '.join(MODES)}")
    if mode != "auto" or not isinstance(budget, int):
        return mode == "bridge"
    shape = SHAPES.get(api, SHAPES["openai"])
    return cost.total(cost.size_of(shape.definition(tool)) for tool in tools).tokens > budget
