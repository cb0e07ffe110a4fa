"""Batches for programs: `Project.batch`."""

from collections.abc import Iterable, Iterator
from typing import Any

from vespe.calls.path import CallPath
from vespe.features.batch import engines
from vespe.features.batch.items import numbered
from vespe.features.batch.local import Plan
from vespe.models import JsonObject, Outcome, Tool


def outcomes(
    tool: Tool,
    inputs: Iterable[JsonObject],
    path: CallPath,
    *,
    on: str,
    **asked: Any,
) -> Iterator[Outcome]:
    """Yield the Outcome of each input, in their order; `asked` are fields of Plan."""
    plan = Plan(ordered=True, **asked)
    found = engines.run_on(on, numbered(inputs), tool, path, plan)
    return (item.outcome for item in found)
