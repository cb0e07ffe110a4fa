"""Calls in one process: through `Project` beside what the least would do, and validation beside
jsonschema_rs alone.
"""

import asyncio
import importlib
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.benchmarks.axes import ADD, Axis, bounded, compared, make_project, rates
from vespe import Project, Tool
from vespe.calls.arguments import checked_inputs
from vespe.models import JsonObject

NESTED = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 200},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
        "filter": {
            "type": "object",
            "properties": {
                "since": {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"},
                "kind": {"enum": ["a", "b", "c"]},
            },
            "required": ["since"],
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}
ASKED = {
    "query": "weather in Berlin",
    "limit": 5,
    "tags": ["x", "y"],
    "filter": {"since": "2025-01-01", "kind": "a"},
}


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


_MANY = 500
"""Calls of one run of an event loop."""


class Floor:
    """A registry by hand: looks up, validates, calls, says the result in JSON and writes one
    line.
    """

    def __init__(self, log: Path) -> None:
        self._tools = {"add": (jsonschema_rs.validator_for(ADD), add)}
        self._log = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def call(self, name: str, arguments: dict[str, int]) -> dict[str, object]:
        began = time.perf_counter()
        validator, function = self._tools[name]
        if not validator.is_valid(arguments):
            raise ValueError(name)
        result = function(**arguments)
        outcome = {
            "tool": name,
            "result": result,
            "text": json.dumps(result),
            "ms": (time.perf_counter() - began) * 1000,
        }
        os.write(
            self._log,
            json.dumps(
                {"time": time.time(), "tool": name, "ok": True, "ms": outcome["ms"]}
            ).encode()
            + b"\n",
        )
        return outcome


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure calls, then validation."""
    small, large = (Project(make_project(scratch / f"of-{n}", tools=n)) for n in (4, 1000))
    for project in (small, large):
        project.registry.register(add)
    floor, given = Floor(scratch / "floor.log"), {"a": 1, "b": 2}
    found = rates(
        {
            "small": lambda: small.execute_tool("add", given),
            "large": lambda: large.execute_tool("add", given),
            "floor": lambda: floor.call("add", given),
        }
    )
    by_hand = "by hand, with a log line"
    yield compared(
        "in-process call through Project, 4 tools",
        "calls/s",
        (found["small"], found["floor"]),
        peer=by_hand,
        goal=0.5,
    )
    yield compared(
        "in-process call through Project, 1,000 tools",
        "calls/s",
        (found["large"], found["small"]),
        peer="4 tools",
        goal=0.9,
    )
    other = Project(make_project(scratch / "async", tools=4))
    other.registry.register(_aadd, name="add")
    yield from _awaited(small, other)
    for name, schema, arguments, goal in (
        ("flat", ADD, given, 0.5),
        ("nested", NESTED, ASKED, 0.25),
    ):
        yield _judged(f"checked_inputs, {name} arguments", schema, arguments, goal)


async def _aadd(a: int, b: int) -> int:
    """Add, in the loop of the caller."""
    return a + b


def _awaited(sync: Project, other: Project) -> Iterator[Axis]:
    """Measure `acall` of both kinds of functions, beside pydantic-ai's own way to call a tool, where
    it is installed.
    """
    cases: dict[str, Callable[[], object]] = {
        "async": lambda: asyncio.run(_many(lambda: other.acall("add", a=1, b=2))),
        "sync": lambda: asyncio.run(_many(lambda: sync.acall("add", a=1, b=2))),
    }
    try:
        tools = importlib.import_module("pydantic_ai.tools")
        for name, function in (("async", _aadd), ("sync", add)):
            cases[f"{name} peer"] = _of_pydantic_ai(tools.Tool(function).function_schema)
    except ImportError:
        pass
    found = {
        name: [_MANY * rate for rate in taken]
        for name, taken in rates(cases, rounds=5, seconds=0.4, each=1).items()
    }
    for name in ("async", "sync"):
        row = f"acall of {'an async' if name == 'async' else 'a sync'} function"
        if f"{name} peer" in found:
            pair = (found[name], found[f"{name} peer"])
            goal = 1.0 if name == "sync" else None
            yield compared(row, "calls/s", pair, peer="pydantic-ai", goal=goal)
        else:
            yield bounded(row, "calls/s", statistics.median(found[name]), at_most=None)


async def _many(call: Callable[[], Awaitable[Any]]) -> None:
    for _ in range(_MANY):
        await call()


def _of_pydantic_ai(schema: Any) -> Callable[[], object]:
    async def once() -> None:
        await schema.call(schema.validator.validate_python({"a": 1, "b": 2}), None)

    return lambda: asyncio.run(_many(once))


def _judged(name: str, schema: JsonObject, arguments: JsonObject, goal: float) -> Axis:
    tool, native = (
        Tool(uid="tool-x", name="x", description="", input_schema=schema),
        jsonschema_rs.validator_for(schema),
    )
    found = rates(
        {"ours": lambda: checked_inputs(tool, arguments), "rs": lambda: native.is_valid(arguments)}
    )
    return compared(name, "calls/s", (found["ours"], found["rs"]), peer="jsonschema_rs", goal=goal)
