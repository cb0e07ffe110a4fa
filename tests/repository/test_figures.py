"""The figures of README.md and docs/performance.md are those of one run that is kept."""

import json
import re

from tests.support.render_performance import FIGURES, pages


def test_the_pages_say_what_the_kept_run_says() -> None:
    for path, text in pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run `./dev docs`"


def test_the_run_says_what_was_run_and_when() -> None:
    kept = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert kept["command"].startswith("python -m tests.benchmarks")
    assert re.fullmatch(r"[0-9a-f]{7,}(-dirty)?", kept["commit"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", kept["date"])


def test_a_row_that_misses_its_goal_says_so() -> None:
    for row in json.loads(FIGURES.read_text(encoding="utf-8"))["rows"]:
        met = ""
        if row["goal"] is not None:
            is_met = row["ratio"] >= row["goal"] if row["more"] else row["ratio"] <= row["goal"]
            met = "yes" if is_met else "no"
        assert row["met"] == met, row["name"]
