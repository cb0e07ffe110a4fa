"""What a page is asked for: words and numbers of the query, and nothing else."""

import pytest

from tests.support.inspecting import Pages
from vespe.features.inspector.gate import PageRequest
from vespe.features.inspector.page import Visit
from vespe.features.inspector.running import Runs


@pytest.mark.parametrize(
    ("given", "number"), [("12", 12), ("", 0), ("-1", 0), ("1e9", 0), ("٣", 0), ("9" * 30, 0)]
)
def test_a_number_is_one_that_a_page_could_mean(given: str, number: int, pages: Pages) -> None:
    project = pages.site._project
    visit = Visit(
        project=project,
        runs=Runs(project.path),
        request=PageRequest(path=("",), query={"n": given, "w": " a "}),
        words=(),
    )
    assert visit.number("n") == number
    assert (visit.asked("w"), visit.asked("w", ("b",)), visit.asked("none")) == ("a", "", "")
