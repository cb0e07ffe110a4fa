"""Results of every kind and size, made from a seed; and a reader that has `read_result` alone."""

import base64
import json
import random
from typing import Any, Final

from vespe.adapters.large_results.handles import LargeResults
from vespe.adapters.result_texts import text_of
from vespe.models import JsonValue

KINDS: Final = ("text", "rows", "deep", "line", "base64")
_WORDS: Final = ("quota", "é", "naïve", "<b>", '"said"', "tab\t", "日本", "\\n", "0", "end\r")


def result_of(kind: str, characters: int, seed: int) -> JsonValue:
    """Return a result of a kind, of about so many characters."""
    chance = random.Random(f"{kind} {characters} {seed}")
    if kind == "text":
        return "".join(_line(chance) for _ in range(characters // 30))[:characters]
    if kind == "line":
        return "".join(chance.choice(_WORDS) for _ in range(characters // 3))[:characters]
    if kind == "base64":
        return base64.b64encode(chance.randbytes(characters * 3 // 4)).decode("ascii")
    if kind == "rows":
        rows = [
            {"id": number, "name": _line(chance), "ratio": chance.random(), "tags": ["a", None]}
            for number in range(characters // 80)
        ]
        return {"count": len(rows), "rows": rows}
    made: Any = _line(chance) * max(characters // 40 // 30, 1)
    for level in range(40):
        made = {f"level{level}": made, "beside": [_line(chance)] * (characters // 40 // 30 // 2)}
    return made


def read_whole(results: LargeResults, handle: str) -> str:
    """Return the text of a result as a model gets it: page after page, by what each answer says
    goes on.
    """
    asked: Any = {"handle": handle}
    pieces = []
    while asked is not None:
        outcome = results.read(json.dumps(asked))
        assert outcome.error is None, outcome.error
        answer: Any = outcome.result
        assert len(text_of(answer)) <= 40_000
        pieces.append(answer["text"])
        asked = answer["next"]
    return "".join(pieces)


def _line(chance: random.Random) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(chance.randint(1, 12))) + "\n"
