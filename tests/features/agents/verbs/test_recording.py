"""What the command line says of recordings; the whole of it is in test_agent_run."""

import pytest

from vespe.errors import UsageError
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.verbs.recording import Recorded
from vespe.features.agents.verbs.setup import Wanted


@pytest.fixture
def wanted() -> Wanted:
    nothing = dict.fromkeys(
        (
            "provider",
            "script",
            "kit",
            "max_calls_per_tool",
            "max_seconds",
            "max_tokens",
            "project_dir",
        )
    )
    plain = {
        "model": "",
        "system": "",
        "names": (),
        "approve": "ask",
        "max_iterations": 5,
        "max_calls": 100,
    }
    return Wanted(
        **nothing,  # type: ignore[arg-type]  # as click gives them
        **plain,  # type: ignore[arg-type]  # as click gives them
        no_tools=False,
        tools_mode=None,
        strict=False,
        stream=True,
        trusted=False,
    )


@pytest.mark.parametrize(("record", "replay", "run_tools"), [(None, None, True), ("a", "b", False)])
def test_options_that_exclude_each_other_are_refused(
    wanted: Wanted, record: str | None, replay: str | None, run_tools: bool
) -> None:
    with pytest.raises(UsageError):
        Recorded(record=record, replay=replay, run_tools=run_tools).provider(wanted, Transcript())
