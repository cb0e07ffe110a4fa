"""One of the calls at which a program's process is killed; `./dev acceptance program_kills` tries
200.
"""

import pytest

from tests.acceptance import tracer
from tests.acceptance.test_crash import scripted


@pytest.mark.skipif(not tracer.AVAILABLE, reason="the tracer works on Linux on x86-64 alone")
@pytest.mark.usefixtures("home")
def test_no_effect_is_made_twice_where_a_program_is_killed() -> None:
    pytest.importorskip("pydantic_monty")
    found = scripted("program_kills", "--at", "150")
    assert found["points"] == 1
    assert (found["twice"], found["lost"], found["not_named"]) == (0, 0, 0)
