"""`vespe agent run --replay TALK --tools live`; what it compares is tested with the agents."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_a_conversation_without_calls_has_no_differences(
    command: Callable[..., Any], project: Path
) -> None:
    talk = {
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    }
    (project / "talk.json").write_text(json.dumps(talk), encoding="utf-8")
    said = command("agent", "run", "--replay", "talk.json", "--tools", "live")
    assert said.code == 0 and "0 recorded calls: 0 differences" in said.err
    assert command(
        "agent", "run", "--replay", "talk.json", "--tools", "live", "--json"
    ).document == {"calls": [], "differences": 0}
