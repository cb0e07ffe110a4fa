"""What rules over a set found is kept for that very set, and answers for some rules too."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from vespe.features.lint import RULES
from vespe.features.lint.base import Bounds, Outline, SetRule
from vespe.features.lint.judged_set import JudgedSet, Told
from vespe.tools.effects import FlowContext

RULES_OVER_SETS = [rule for rule in RULES.values() if isinstance(rule, SetRule)]
SAME = "Every tool here has this description."


def outlines(number: int = 60) -> list[Outline]:
    return [
        Outline(
            name=f"tool_{one}",
            description=SAME if one < 3 else f"The tool of number {one}.",
            parameters=(),
            size=10,
            directory=f"tools/tool-{one}",
        )
        for one in range(number)
    ]


def told(
    found: list[Outline], rules: list[SetRule] = RULES_OVER_SETS, *, kept_for: str = "a"
) -> list[Told]:
    judged = JudgedSet(found, [""] * len(found), Bounds(), FlowContext())
    return list(judged.by(rules, kept_for=kept_for))


def poison(home: Path) -> None:
    (path,) = (home / "cache/vespe/lint").iterdir()
    body = (
        path.read_bytes()
        .partition(b"\n")[2]
        .replace(b"has the same description", b"nobody said it is")
    )
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def is_poisoned(found: list[Told]) -> bool:
    return any("nobody said it is" in one.message for _, _, one in found)


def test_the_same_set_is_judged_once(home: Path) -> None:
    first = told(outlines())
    assert first == told(outlines()) == told(outlines(), kept_for="")
    poison(home)
    assert is_poisoned(told(outlines()))
    some = [rule for rule in RULES_OVER_SETS if rule.code == "sets-identical-description"]
    assert is_poisoned(told(outlines(), some)) and len(told(outlines(), some)) == 2


def test_another_set_is_judged_anew(home: Path) -> None:
    told(outlines())
    poison(home)
    changed = outlines()
    changed[5] = replace(changed[5], description="Another description.")
    assert not is_poisoned(told(changed))


def test_some_rules_alone_keep_nothing(home: Path) -> None:
    assert told(outlines(), RULES_OVER_SETS[:1]) == []
    assert not (home / "cache/vespe/lint").exists()


def test_what_was_never_written_here_is_judged_anew(home: Path) -> None:
    first = told(outlines())
    (path,) = (home / "cache/vespe/lint").iterdir()
    *about, _ = json.loads(path.read_bytes().partition(b"\n")[2])
    body = json.dumps([*about, {"told": [["no-such-rule"]]}], separators=(",", ":")).encode()
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert told(outlines()) == first
