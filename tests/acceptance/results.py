"""Large results, generated: none that a model is told is over its bound, each is recovered byte for
byte by `read_result` alone, and no wrong reference reaches a tool.

What a tool gets is counted in the tool, and the bytes are compared with those that it returned.
"""

import argparse
import contextlib
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from tests.adapters.large_results.generated import KINDS, read_whole, result_of
from vespe import Toolset, tool
from vespe.adapters.large_results.handles import LargeResults
from vespe.adapters.result_texts import text_of
from vespe.files.locations import user_state_dir
from vespe.models import Outcome, Tool

SMALL, LARGE = 10_000, 8 * 1024 * 1024
_TOOL: Final = Tool(uid="", name="f", description="", input_schema={"type": "object"})


def swept(count: int, most: int) -> dict[str, Any]:
    """Tell a model of so many results of 10 kB to `most` bytes, and read each of them whole."""
    chance, over, lost, told_tokens, whole_tokens = random.Random(7), 0, 0, 0, 0
    for number in range(count):
        size = int(SMALL * (most / SMALL) ** chance.random())
        results, value = LargeResults(), result_of(KINDS[number % len(KINDS)], size, number)
        whole = text_of(value)
        told = text_of(results.shown(_TOOL, Outcome(tool="f", uid=None, result=value)).result)
        over += len(told) > 40_000
        lost += (read_whole(results, "r1") if results.known else told) != whole
        told_tokens += len(told) // 4
        whole_tokens += len(whole) // 4
    return {
        "results": count,
        "over": over,
        "lost": lost,
        "tokens": {"told": told_tokens, "whole": whole_tokens},
    }


def referred(count: int) -> dict[str, Any]:
    """Make so many calls with a wrong reference, and as many with a right one; `through` is how
    many wrong ones came to the tool.
    """
    got: list[str] = []

    @tool(read_only=True)
    def page(number: int) -> dict[str, str]:
        """Return a page."""
        return {"body": f"{number} " * 20_000}

    @tool(read_only=True)
    def take(text: str) -> int:
        """Take a text."""
        got.append(text)
        return len(text)

    mine, other = Toolset(page, take), Toolset(page, take)
    mine.run_call("page", {"number": 1})
    for number in (2, 3):
        other.run_call("page", {"number": number})
    chance, through = random.Random(11), 0
    for number in range(count):
        edited = number % 25 == 24
        reference = _RIGHT if edited else _WRONG[number % len(_WRONG)](chance)
        before = len(got)
        with _edited(edited):
            result = mine.run_call("take", {"text": reference})
        through += len(got) != before or result.outcome.error is None
    honest = [mine.run_call("take", {"text": _RIGHT}).outcome.result for _ in range(count)]
    return {"references": count, "through": through, "honest": honest.count(len("1 " * 20_000))}


_RIGHT: Final = {"$result": "r1", "pointer": "/body"}
_WRONG: Final[tuple[Any, ...]] = (
    lambda chance: {"$result": f"r{chance.randrange(2, 10**6)}"},
    lambda chance: {"$result": "r2", "pointer": "/body"},
    lambda chance: {"$result": "r1", "pointer": f"/{chance.choice('abc')}"},
    lambda chance: {"$result": "r1", "pointer": "body"},
    lambda chance: {"$result": "r1"},
    lambda chance: {"$result": _RIGHT},
    lambda chance: {"$result": "r1", "pointer": "/body", "more": chance.random()},
    lambda chance: {"$result": chance.choice(["", "R1", "r01", "../r1", "r1 ", None, 1])},
    lambda chance: {"text": _RIGHT},
    lambda chance: [_RIGHT] * chance.randrange(1, 4),
)


class _edited(contextlib.AbstractContextManager[None]):
    """While it lasts, what the handles stand for was changed by somebody, where `really` so."""

    def __init__(self, really: bool) -> None:
        self.files = list(Path(user_state_dir(), "results").iterdir()) if really else []
        self.kept = {path: path.read_bytes() for path in self.files}

    def __enter__(self) -> None:
        for path in self.files:
            path.write_bytes(b"{}")

    def __exit__(self, *_: object) -> None:
        for path, data in self.kept.items():
            path.write_bytes(data)


def cost(times: int = 200_000) -> float:
    """What it costs to look at a small result, in microseconds of the processor."""
    results = LargeResults()
    outcome = Outcome(tool="f", uid=None, result={"id": 7, "name": "Bob", "open": True})
    began = time.process_time()
    for _ in range(times):
        results.shown(_TOOL, outcome)
    return (time.process_time() - began) / times * 1e6


def main() -> int:
    """Print what was counted, and return 1 where a result was over or lost, or a reference came
    through.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=1_000)
    parser.add_argument("--references", type=int, default=300)
    parser.add_argument("--most", type=int, default=LARGE, help="bytes of the largest result")
    parser.add_argument("--json", action="store_true", help="print data")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_STATE_HOME": f"{home}/state"}
        found = swept(asked.results, asked.most) | referred(asked.references)
    found["microseconds_a_small_result"] = round(cost(), 2)
    sys.stdout.write(json.dumps(found, indent=None if asked.json else 1) + "\n")
    fails = found["over"] + found["lost"] + found["through"]
    return 1 if fails or found["honest"] != asked.references else 0


if __name__ == "__main__":
    raise SystemExit(main())
