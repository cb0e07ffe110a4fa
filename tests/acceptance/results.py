"""Large results, generated: none that a model is told is over its bound, each is recovered byte for
byte by `read_result` alone, and no wrong reference reaches a tool.

What a tool gets is counted in the tool, and the bytes are compared with those that it returned.
"""

import argparse
import contextlib
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.acceptance.result_doors import DOORS, OF_A_PROGRAM, TAKEN, Say
from tests.adapters.large_results.generated import KINDS, read_whole, result_of
from vespe.adapters.large_results.handles import LargeResults
from vespe.adapters.result_texts import text_of
from vespe.files.locations import user_state_dir
from vespe.models import Outcome, Tool
from vespe.projects.init import found_project

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


def through_doors(count: int, references: int, most: int, names: Sequence[str]) -> dict[str, Any]:
    """Tell so many results at each door, read each of them whole by `read_result` alone, and make
    calls with wrong references; `through` is how many of these came to the tool.
    """
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "project")
        root.mkdir()
        found_project(root)
        for name in names:
            taken = Path(place, f"taken-{name}")
            os.environ[TAKEN] = str(taken)
            with DOORS[name](root) as say:
                found[name] = _told(
                    say, count, min(most, OF_A_PROGRAM) if name == "program" else most
                )
            with DOORS[name](root) as say:
                found[name] |= _referred(say, references, taken, in_program=name == "program")
    return found


def _told(say: Say, count: int, most: int) -> dict[str, int]:
    chance, over, lost = random.Random(7), 0, 0
    for number in range(count):
        size = int(SMALL * (most / SMALL) ** chance.random())
        kind = KINDS[number % len(KINDS)]
        whole = text_of(result_of(kind, size, number))
        told = say("make", {"kind": kind, "size": size, "seed": number})
        over += len(told) > 40_000
        handle = re.search(r"its handle is (r\d+)", told)
        lost += (told if handle is None else _read_back(say, handle[1])) != whole
    return {"results": count, "over": over, "lost": lost}


def _read_back(say: Say, handle: str) -> str:
    asked: Any = {"handle": handle}
    pieces = []
    while asked is not None:
        told = say("read_result", asked)
        answer = json.loads(told)
        assert len(told) <= 40_000, "read_result is over the bound"
        pieces.append(answer["text"])
        asked = answer["next"]
    return "".join(pieces)


def _referred(say: Say, count: int, taken: Path, *, in_program: bool) -> dict[str, int]:
    """Make so many calls with a wrong reference, and as many with a right one. In a program nothing
    stands for a result, so that a right one is an argument there.
    """
    told = say("make", {"kind": "line", "size": 100_000, "seed": 1})
    handle = re.search(r"its handle is (r\d+)", told)
    assert handle is not None, told[:200]
    right = {"$result": handle[1]}
    chance = random.Random(11)
    for number in range(count):
        edited = number % 25 == 24
        reference = right if edited else _WRONG[number % len(_WRONG)](chance, right)
        with _edited(edited):
            say("take", {"text": reference})
    through = _lines(taken)
    for _ in range(count):
        say("take", {"text": "a" * 1_000 if in_program else right})
    return {"references": count, "through": through, "honest": _lines(taken) - through}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


_WRONG: Final[tuple[Any, ...]] = (
    lambda chance, right: {"$result": f"r{chance.randrange(100, 10**6)}"},
    lambda chance, right: right | {"pointer": "/body"},
    lambda chance, right: right | {"pointer": f"/{chance.choice('abc')}"},
    lambda chance, right: right | {"pointer": "body"},
    lambda chance, right: {"$result": [right["$result"]]},
    lambda chance, right: {"$result": right},
    lambda chance, right: right | {"more": chance.random()},
    lambda chance, right: {"$result": chance.choice(["", "R1", "r01", "../r1", "r1 ", None, 1])},
    lambda chance, right: {"text": right},
    lambda chance, right: [right] * chance.randrange(1, 4),
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


def browsed(pages: int = 20) -> dict[str, Any]:
    """Replay one browse of so many pages, in whole results and in parts: each page has one line
    that the model was sent for. Counted are the tokens of the `conversation` at its end, and of all
    that is `sent`, where each request has the conversation so far; a token is four characters.
    """
    sizes = [int(4_000 * 200 ** (number / (pages - 1))) for number in range(pages)]
    found: dict[str, Any] = {"pages": pages, "bytes": sum(sizes)}
    for how in ("whole", "parts"):
        held = LargeResults()
        history = requests = 0
        for number, size in enumerate(sizes):
            page = _page(size, number)
            outcome = Outcome(tool="f", uid=None, result=page)
            told = page if how == "whole" else text_of(held.shown(_TOOL, outcome).result)
            history += len(told)
            requests += history
            if f"Price of {number}:" not in told:
                asked = {"handle": f"r{len(held.known)}", "match": f"price of {number}:"}
                answer = text_of(held.read(json.dumps(asked)).result)
                assert f"Price of {number}: 7" in answer
                history += len(json.dumps(asked)) + len(answer)
                requests += history
        found[how] = {"conversation": history // 4, "sent": requests // 4}
    return found


def focused() -> dict[str, Any]:
    """Compare what one line of one page costs, by the page's size in tokens: the whole page, and a
    part with one answer of `read_result`. `worst` is the largest share of the whole.
    """
    rows: dict[str, Any] = {}
    worst = 0.0
    for tokens in (1_000, 5_000, 9_000, 10_001, 10_500, 12_000, 15_000, 20_000, 50_000, 200_000):
        page = _page(tokens * 4, 1)
        held = LargeResults()
        told = text_of(held.shown(_TOOL, Outcome(tool="f", uid=None, result=page)).result)
        cost = len(told)
        if "Price of 1:" not in told:
            asked = json.dumps({"handle": "r1", "match": "price of 1:"})
            cost += len(asked) + len(text_of(held.read(asked).result))
        rows[str(tokens)] = cost // 4
        worst = max(worst, cost / len(page))
    return {"tokens": rows, "worst": round(worst, 3)}


def _page(size: int, number: int) -> str:
    """Return a page of about so many characters, with one line that matters in its midst."""
    chance = random.Random(number)
    words = ("the", "orbit", "of", "a", "kettle", "is", "measured", "in", "spoons", "and", "tea")
    line = " ".join(chance.choice(words) for _ in range(14))
    lines = [f"{line} {row}" for row in range(size // (len(line) + 6))]
    lines.insert(len(lines) // 2, f"Price of {number}: 7")
    return "\n".join(lines)[:size]


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
    parser.add_argument("--at-doors", type=int, default=200, help="results at each door")
    parser.add_argument("--door", action="append", choices=list(DOORS), help="default: each")
    parser.add_argument("--json", action="store_true", help="print data")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_STATE_HOME": f"{home}/state"}
        found = swept(asked.results, asked.most)
        names = asked.door or list(DOORS)
        doors = through_doors(asked.at_doors, asked.references, asked.most, names)
        found |= {"doors": doors, "browse": browsed(), "focused": focused()}
    found["microseconds_a_small_result"] = round(cost(), 2)
    sys.stdout.write(json.dumps(found, indent=None if asked.json else 1) + "\n")
    fails = found["over"] + found["lost"]
    fails += sum(one[key] for one in doors.values() for key in ("over", "lost", "through"))
    honest = all(one["honest"] == one["references"] for one in doors.values())
    return 1 if fails or not honest else 0


if __name__ == "__main__":
    raise SystemExit(main())
