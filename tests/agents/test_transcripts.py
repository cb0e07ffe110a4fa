"""Conversations that are kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.test_open_calls import USER, result, turn
from vespe.agents.transcripts import Transcript, held, load, save
from vespe.errors import InvalidDocument, StorageError


def test_results_stand_in_the_order_of_the_calls_whenever_they_come() -> None:
    transcript = Transcript([USER, turn("a", "b", "c")])
    transcript.answer({2: result("c")})
    transcript.answer({0: result("a"), 1: result("b")})
    assert [message["tool_call_id"] for message in transcript.messages[2:]] == ["a", "b", "c"] and transcript.open == []


def test_a_file_is_written_whole_and_for_its_owner_alone_and_read_again(tmp_path: Path) -> None:
    transcript = Transcript([USER, turn("a", "b")], model="m")
    transcript.start(transcript.open[:1])
    save(transcript, tmp_path / "kept.json")
    assert (tmp_path / "kept.json").stat().st_mode & 0o777 == 0o600
    again = load(tmp_path / "kept.json")
    assert (again.messages, again.model, again.started) == (transcript.messages, "m", {0})
    assert json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))["vespe"] == {"started": [0]}


def test_a_bare_list_of_messages_is_a_conversation_too(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text(json.dumps([USER]), encoding="utf-8")
    assert load(tmp_path / "list.json").messages == [USER]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"messages": [USER, {"content": "x"}]}, "/messages/1"),
        ([USER, 1], "/1"),
        ({"messages": [turn("a"), USER]}, "/messages/0"),
        ({"messages": [USER, {"role": "wizard", "content": "x"}]}, "/messages/1/role"),
        ([{"role": "user", "content": 5}], "/0/content"),
        ([USER, {"role": "assistant", "tool_calls": {}}], "/1/tool_calls"),
        ([USER, result("a")], "/1"),
        ([USER, turn("a"), result("a"), result("a")], "/3"),
        ({"talk": []}, ""),
        ("talk", ""),
    ],
)
def test_what_is_no_conversation_is_refused_at_its_place(tmp_path: Path, document: Any, pointer: str) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InvalidDocument, match=r"bad\.json") as caught:
        load(tmp_path / "bad.json")
    assert caught.value.pointer == pointer


def test_every_change_is_told_to_what_keeps_it() -> None:
    kept: list[int] = []
    transcript = Transcript(keep=lambda changed: kept.append(len(changed.messages)))
    transcript.add(USER)
    transcript.add(turn("a"))
    transcript.start(transcript.open)
    transcript.answer({0: result("a")})
    transcript.answer({})
    assert kept == [1, 2, 2, 3]


def test_undoing_takes_back_the_last_thing_said_and_all_that_followed() -> None:
    transcript = Transcript([USER, turn(None), result("vespe_call_1"), USER, turn(None)])
    assert transcript.undo() and len(transcript.messages) == 3 and transcript.open == []
    transcript.add(turn(None))
    assert transcript.open[0].call_id == "vespe_call_2"
    assert transcript.undo() and not transcript.messages and not transcript.undo()


def test_calls_that_were_noted_and_have_no_result_when_the_turn_is_over_were_not_begun() -> None:
    transcript = Transcript([USER, turn("a", "b")])
    transcript.start(transcript.open)
    transcript.answer({0: result("a")})
    assert transcript.as_document()["vespe"] == {"started": [1]}
    transcript.answer({0: result("a")}, settled=[0, 1])
    assert "vespe" not in transcript.as_document() and len(transcript.messages) == 3


def test_two_processes_do_not_work_on_one_conversation(tmp_path: Path, home: Path) -> None:
    one, other = tmp_path / "kept.json", tmp_path / "other.json"
    with held(one), held(other), pytest.raises(StorageError, match="another process"), held(one):
        pass
    with held(tmp_path / "kept.json"):
        pass
