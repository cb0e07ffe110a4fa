"""A small part of the sweep over large results; `./dev acceptance results` does all of it."""

import pytest

from tests.acceptance.results import browsed, focused, swept, through_doors


@pytest.mark.usefixtures("home")
def test_no_result_is_over_its_bound_and_none_is_lost() -> None:
    found = swept(10, 300_000)
    assert (found["results"], found["over"], found["lost"]) == (10, 0, 0)
    assert found["tokens"]["told"] < found["tokens"]["whole"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("door", ["agent", "toolset", "stdio"])
def test_at_each_door_results_are_bounded_and_read_whole_and_no_wrong_reference_is_taken(
    door: str,
) -> None:
    found = through_doors(5, 25, 200_000, [door])[door]
    none = {"over": 0, "lost": 0, "through": 0}
    assert found == {"results": 5, "references": 25, "honest": 25, **none}


@pytest.mark.usefixtures("home")
def test_a_browse_in_parts_costs_less_and_one_line_costs_no_more_than_its_page() -> None:
    found = browsed()
    assert found["parts"]["conversation"] < found["whole"]["conversation"] / 4
    assert found["parts"]["sent"] < found["whole"]["sent"] and focused()["worst"] <= 1.01
