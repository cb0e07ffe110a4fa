"""Recordings: found, read, and never opened by any other name."""

import json
import os
from pathlib import Path

import pytest

from tests.support.inspecting import Pages
from vespe.errors import NotFound
from vespe.features.inspector import conversations


def test_recordings_are_found_in_the_project_and_one_level_down(talk: Path) -> None:
    root = str(talk.parent)
    (talk.parent / "deeper").mkdir(exist_ok=True)
    (talk.parent / "deeper/copy.json").write_bytes(talk.read_bytes())
    (talk.parent / "other.json").write_text("{}", encoding="utf-8")
    os.symlink(talk, talk.parent / "link.json")
    assert [file.name for file in conversations.found(root, [])] == [
        "talk.json",
        "deeper/copy.json",
    ]
    assert [file.name for file in conversations.found(root, [str(talk)])] == [
        "talk.json",
        "deeper/copy.json",
    ]
    for name in ("other.json", "link.json", "../project/talk.json", "/etc/passwd"):
        with pytest.raises(NotFound):
            conversations.file_of(root, [], name)


def test_a_recording_is_read_as_what_was_said_with_its_calls(talk: Path) -> None:
    read = conversations.read(str(talk))
    assert [said.role for said in read.said] == ["system", "user", "assistant", "assistant"]
    (call,) = read.said[2].calls
    assert (call.name, call.arguments) == ("look", "{}")
    assert call.outcome is not None
    assert call.outcome.ok
    assert read.said[3].text == "Two numbers."
    assert "look" in read.tools


def test_names_and_results_are_known_in_any_apis_shape() -> None:
    tools = [{"type": "function", "function": {"name": "a"}}, {"name": "b"}, {"functions": 1}, 5]
    assert conversations.tool_names({"tools": tools}) == ["a", "b"]
    assert conversations.is_result({"role": "tool"})
    assert conversations.is_result({"role": "user", "content": [{"type": "tool_result"}]})
    assert not conversations.is_result({"role": "user", "content": "hi"})


def test_a_recording_whose_answer_cannot_be_read_says_so_in_its_place(
    talk: Path, pages: Pages
) -> None:
    document = json.loads(talk.read_text(encoding="utf-8"))
    document["turns"][0]["answer"]["body"] = "<html>"
    broken = talk.parent / "broken.json"
    broken.write_text(json.dumps(document), encoding="utf-8")
    assert [said.role for said in conversations.read(str(broken)).said][2] == "error"
    broken.unlink()
