"""The bounds of a run, and what it has used."""

import pytest

from vespe.errors import UsageError
from vespe.features.agents.limits import Limits, Quota, Spent


@pytest.mark.parametrize(
    "bad",
    [
        {"max_iterations": 0},
        {"max_calls": 0},
        {"max_tokens": -1},
        {"max_calls_per_tool": 0},
        {"max_seconds": 0.0},
    ],
)
def test_a_bound_that_allows_nothing_is_refused_by_name(bad: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=next(iter(bad))):
        Limits(**bad)


def test_usage_adds_up_and_a_total_that_is_not_said_is_the_sum_of_its_parts() -> None:
    spent = Spent()
    for usage in (
        {"prompt_tokens": 3, "completion_tokens": 4},
        {"total_tokens": 5},
        None,
        {"total_tokens": "many", "prompt_tokens": True},
    ):
        spent.add_usage(usage)
    assert spent.usage == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 12}


def test_a_limit_counts_once_it_is_used_up() -> None:
    spent = Spent(calls=2)
    assert (
        spent.over_calls(Limits(max_calls=3)),
        spent.over_calls(Limits(max_calls=2)),
        spent.over_calls(Limits(max_calls=None)),
    ) == (
        "",
        "max_calls",
        "",
    )
    spent.add_usage({"total_tokens": 10})
    assert (
        spent.over(Limits(max_tokens=11)),
        spent.over(Limits(max_tokens=10)),
        spent.over(Limits()),
    ) == ("", "max_tokens", "")


def test_a_quota_counts_each_tool_for_itself() -> None:
    quota = Quota(1)
    quota.take("f")
    assert (
        "1 call of 'f'" in quota.why_not("f")
        and not quota.why_not("g")
        and not Quota().why_not("f")
    )
