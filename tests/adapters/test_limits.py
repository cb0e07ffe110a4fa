"""The table of limits: every row has its source, and means what a rule reads from it."""

import re
from pathlib import Path

import pytest

import vespe.features.lint
from vespe.adapters.limits import LIMITS, TARGETS, Limit, Source, limits_on

STANDINGS = ("documented", "observed", "advised", "unverified")


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: f"{limit.api}-{limit.about}")
def test_every_limit_names_its_source_and_its_date(limit: Limit) -> None:
    assert limit.api in TARGETS
    assert re.fullmatch(r"https://[a-z0-9.-]+/\S+", limit.source.page)
    assert re.fullmatch(r"202[0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", limit.source.date)
    assert limit.source.standing in STANDINGS
    assert limit.words


@pytest.mark.parametrize(
    ("standing", "severity"),
    [
        ("documented", "error"),
        ("observed", "error"),
        ("advised", "warning"),
        ("unverified", "warning"),
    ],
)
def test_only_what_an_api_is_known_to_refuse_is_an_error(standing: str, severity: str) -> None:
    source = Source("https://example.org/x", "2026-01-01", standing)  # type: ignore[arg-type]  # each of the literals in turn
    assert Limit(api="openai", about="x", value=1, words="x", source=source).severity == severity


def test_every_limit_is_read_by_a_rule() -> None:
    package = Path(vespe.features.lint.__file__).parent
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in package.rglob("*.py")
        if path.name != "limits.py"
    )
    judged_as_schemas = {"schema-present", "output-root"}
    unread = {
        limit.about
        for limit in LIMITS
        if f'"{limit.about}"' not in text and not limit.about.startswith("strict-")
    }
    assert unread == judged_as_schemas


def test_no_two_rows_say_different_things_of_one_limit() -> None:
    sizes = [(limit.api, limit.about) for limit in LIMITS if isinstance(limit.value, int)]
    assert len(sizes) == len(set(sizes))


def test_limits_are_asked_for_by_what_they_are_about() -> None:
    assert {limit.api for limit in limits_on("array-items")} == {"openai", "gemini"}
    assert [limit.value for limit in limits_on("name-length", api="openai")] == [64]
    assert limits_on("nothing of the kind") == ()
