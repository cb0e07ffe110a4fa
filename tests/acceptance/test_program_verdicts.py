"""A few of AgentDojo's flows as programs; `./dev acceptance program_verdicts` plays all of them, and
the suites too.
"""

import pytest

from tests.acceptance import program_verdicts


@pytest.mark.usefixtures("home")
def test_a_program_is_asked_about_as_direct_calls_are() -> None:
    pytest.importorskip("pydantic_monty")
    found = program_verdicts.flows(every=60)
    assert found["same_verdict"] == found["tasks"] + found["pairs"] == 11
    assert found["questions"] and found["others"] == []
