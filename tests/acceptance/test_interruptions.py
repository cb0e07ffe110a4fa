"""A bounded part of the sweeps of signals; the whole of them is
`python -m tests.acceptance.interruptions`, and `…steps`.
"""

import sys

import pytest

from tests.acceptance import steps, worlds
from tests.acceptance.test_crash import scripted

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are looked for in Linux's /proc alone"
)
STEPS = {
    "small": (211, ("tool create", "tool rename", "tool remove", "config set")),
    "kits": (907, ("kit remove", "kit create", "trust")),
}
"""Of each command every so many-th step, so that this stays a matter of seconds; the script tries
them all.
"""


@pytest.mark.parametrize(
    "verbs",
    [
        ("tool run long", "tool run shell", "tool create", "kit install folder"),
        ("agent run", "agent chat", "mcp serve", "kit verify"),
        ("tool test", "batch", "kit sync", "doctor"),
    ],
)
def test_p31_a_signal_at_any_moment_ends_a_command_with_its_code_and_leaves_nothing(
    verbs: tuple[str, ...],
) -> None:
    results = scripted("interruptions", *verbs, "--runs", "2")
    assert [(result["verb"], result["runs"]) for result in results] == [
        (verb.name, 2) for verb in worlds.VERBS if verb.name in verbs
    ]


@pytest.mark.parametrize("group", STEPS)
def test_p31_ctrl_c_at_a_step_of_a_change_leaves_the_old_state_or_the_new(group: str) -> None:
    every, verbs = STEPS[group]
    results = scripted("steps", *verbs, "--every", str(every))
    assert {result["verb"] for result in results} == set(verbs) and all(
        result["steps"] for result in results
    )


def test_what_is_tried_by_steps_is_interrupted_at_random_too() -> None:
    assert set(steps.NAMES) <= {verb.name for verb in worlds.VERBS}
