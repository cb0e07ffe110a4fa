"""A server that lives, after tools that try to end, starve or contaminate it: those that end soon.
`./dev acceptance survival` tries all of them, more often, as root and as an ordinary user.
"""

from pathlib import Path

import pytest

from tests.acceptance import survival

pytestmark = pytest.mark.skipif(
    not survival.is_safe_here(), reason="this machine does not keep the processes of tools apart"
)
QUICK = [one for one in survival.PROGRAMS if "limits" not in one]


@pytest.mark.parametrize(("door", "first"), [("stdio", 0), ("http", 1)])
def test_a_server_answers_honest_calls_as_before_after_hostile_ones(
    project: Path, door: str, first: int
) -> None:
    found = survival.measured(project, QUICK[first::2], 1, door)
    assert found.calls == found.honest / 2 >= 15 and found.faults == []


def test_each_program_says_what_it_tries() -> None:
    names = [one["name"] for one in survival.PROGRAMS]
    assert len(set(names)) == len(names) >= 25 and all(one["tries"] for one in survival.PROGRAMS)
