"""Translate conversations of 500 to 4,000 messages, half of them calls and results:
`python tests/benchmarks/adapters.py`.

Prints the best of nine, in processor time, as µs per message, which stays the same where the work
is linear, and beside it litellm's translation of the same conversations where litellm is installed
(in an environment of its own).
"""

import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.axes import Axis, bounded
from vespe.adapters import anthropic, gemini_interactions, ollama, openai, openai_responses

SIZES = (500, 1000, 2000, 4000)
ARGUMENTS = json.dumps(
    {
        "path": "src/module.py",
        "pattern": "def .*",
        "limit": 20,
        "options": {"case": False, "lines": [1, 200]},
    }
)
TEXT = (
    "The file holds the parser and its tests; the second half reads what the first half wrote. " * 3
)


def conversation(size: int) -> list[dict[str, Any]]:
    """Give a conversation of `size` messages: half as many calls as messages, two in each of the
    assistant's turns.
    """
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    while len(messages) < size:
        ids = [f"call_{len(messages)}_{n}" for n in range(2)]
        calls = [
            {
                "id": i,
                "type": "function",
                "function": {"name": "search_text", "arguments": ARGUMENTS},
            }
            for i in ids
        ]
        messages.append({"role": "user", "content": TEXT})
        messages.append({"role": "assistant", "content": "I look.", "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": i, "content": TEXT} for i in ids]
    return messages


def best(work: Callable[[], Any]) -> float:
    """Give the least of nine processor times, in seconds."""
    times = []
    for _ in range(9):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def litellm_translation() -> Callable[[list[dict[str, Any]]], Any] | None:
    """Give litellm's translation to Anthropic's format, or None where it is not installed."""
    try:
        factory = importlib.import_module("litellm.litellm_core_utils.prompt_templates.factory")
    except ImportError:
        return None
    return lambda messages: factory.anthropic_messages_pt(
        messages, model="claude-sonnet-4-5", llm_provider="anthropic"
    )


def roads(messages: list[dict[str, Any]]) -> dict[str, Callable[[], Any]]:
    """Give the translations of one conversation by name."""
    made = anthropic.from_openai_messages(messages)
    local = ollama.from_openai_messages(messages)["messages"]
    items = openai_responses.from_openai_messages(messages)["input"]
    steps = gemini_interactions.from_openai_messages(messages)["input"]
    found: dict[str, Callable[[], Any]] = {
        "vespe: openai -> anthropic": lambda: anthropic.from_openai_messages(messages),
        "vespe: anthropic -> openai": lambda: anthropic.to_openai_messages(
            made["messages"], made["system"]
        ),
        "vespe: openai -> ollama": lambda: ollama.from_openai_messages(messages),
        "vespe: ollama -> openai": lambda: ollama.to_openai_messages(local),
        "vespe: openai -> responses": lambda: openai_responses.from_openai_messages(messages),
        "vespe: responses -> openai": lambda: openai_responses.to_openai_messages(items),
        "vespe: openai -> interactions": lambda: gemini_interactions.from_openai_messages(messages),
        "vespe: interactions -> openai": lambda: gemini_interactions.to_openai_messages(steps),
        "vespe: openai's wire": lambda: openai.to_wire(messages),
    }
    if (theirs := litellm_translation()) is not None:
        spoken = [message for message in messages if message["role"] != "system"]
        found["litellm: openai -> anthropic"] = lambda: theirs(json.loads(json.dumps(spoken)))
        found["(the copy that litellm's needs)"] = lambda: json.loads(json.dumps(spoken))
    return found


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure each translation of 1,000 messages, by the clock."""
    for name, translate in roads(conversation(1000)).items():
        if name.startswith("vespe: "):
            taken = []
            for _ in range(9):
                began = time.perf_counter()
                translate()
                taken.append((time.perf_counter() - began) * 1e6 / 1000)
            row = f"translation of a message, {name.removeprefix('vespe: ')}"
            yield bounded(row, "µs", statistics.median(taken), at_most=10)


def main() -> None:
    """Print µs per message, a row for each translation and a column for each size."""
    print(f"{'µs per message':34}" + "".join(f"{size:>9,}" for size in SIZES))
    rows = [(size, roads(conversation(size))) for size in SIZES]
    for name in rows[0][1]:
        cells = [best(found[name]) / size * 1e6 for size, found in rows]
        print(f"{name:34}" + "".join(f"{cell:9.2f}" for cell in cells))


if __name__ == "__main__":
    main()
