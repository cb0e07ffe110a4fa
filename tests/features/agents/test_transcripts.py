"""Conversations that are kept."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.test_open_calls import USER, result, turn
from vespe.errors import InvalidDocument, StorageError
from vespe.features.agents.transcripts import ConversationFile, Transcript, held, load, save


def test_results_stand_in_the_order_of_the_calls_whenever_they_come() -> None:
    transcript = Transcript([USER, turn("a", "b", "c")])
    transcript.answer({2: result("c")})
    transcript.answer({0: result("a"), 1: result("b")})
    assert [message["tool_call_id"] for message in transcript.messages[2:]] == [
        "a",
        "b",
        "c",
    ] and transcript.open == []


def test_a_file_is_written_whole_and_for_its_owner_alone_and_read_again(tmp_path: Path) -> None:
    transcript = Transcript([USER, turn("a", "b")], model="m")
    transcript.start(transcript.open[:1])
    save(transcript, tmp_path / "kept.json")
    assert (tmp_path / "kept.json").stat().st_mode & 0o777 == 0o600
    again = load(tmp_path / "kept.json")
    assert (again.messages, again.model, again.started) == (transcript.messages, "m", {0})
    assert json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))["vespe"] == {
        "started": [0]
    }


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
def test_what_is_no_conversation_is_refused_at_its_place(
    tmp_path: Path, document: Any, pointer: str
) -> None:
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


def kept_in(path: Path, *messages: Any) -> tuple[Transcript, ConversationFile]:
    file = ConversationFile(path)
    transcript = Transcript(messages, model="m", provider="p", keep=file.keep)
    return transcript, file


def test_a_change_is_added_to_the_file_and_nothing_of_it_is_written_again(tmp_path: Path) -> None:
    transcript, _ = kept_in(tmp_path / "kept.json")
    sizes = []
    for number in range(20):
        transcript.add(USER)
        transcript.add(turn(f"c{number}"))
        transcript.start(transcript.open)
        transcript.answer({0: result(f"c{number}")}, settled=[0])
        sizes.append((tmp_path / "kept.json").stat().st_size)
    assert max(after - before for before, after in itertools.pairwise(sizes)) < 1.2 * (
        sizes[1] - sizes[0]
    )
    assert (tmp_path / "kept.json").stat().st_mode & 0o777 == 0o600
    again = load(tmp_path / "kept.json")
    assert (again.messages, again.model, again.provider, again.open) == (
        transcript.messages,
        "m",
        "p",
        [],
    )


def test_after_every_change_the_file_holds_the_conversation_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    transcript, file = kept_in(path, USER)

    def check(changed: Transcript) -> None:
        file.keep(changed)
        again = load(path)
        assert (again.messages, again.started & {0, 1, 2}, again.open) == (
            changed.messages,
            changed.started,
            changed.open,
        )

    transcript.keep = check
    transcript.add(turn("a", "b", "c"))
    transcript.start(transcript.open[1:])
    transcript.answer({2: result("c")})
    transcript.answer({1: result("b")})
    transcript.answer({0: result("a")}, settled=[1, 2])
    transcript.add(USER)
    assert transcript.undo()
    transcript.add(USER | {"content": "é\u2028"})


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_last_line_that_is_not_whole_did_not_happen(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "kept.json"
    transcript, _ = kept_in(path, USER)
    transcript.add(turn("a"))
    transcript.start(transcript.open)
    transcript.answer({0: result("a")})
    path.write_bytes(path.read_bytes()[:-cut])
    again, file = load(path), ConversationFile(path)
    assert (len(again.messages), again.started, [call.call_id for call in again.open]) == (
        2,
        {0},
        ["a"],
    )
    again.keep = file.keep
    again.answer({0: result("a")})
    assert load(path).messages == transcript.messages


def test_a_file_that_is_closed_is_one_document_and_one_that_nothing_was_kept_in_stays(
    tmp_path: Path,
) -> None:
    path = tmp_path / "kept.json"
    transcript, file = kept_in(path)
    file.close(transcript)
    assert not path.exists()
    transcript.add(USER)
    file.close(transcript)
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "model": "m",
        "messages": [USER],
        "vespe": {"provider": "p"},
    }
    assert load(path).messages == [USER]


def test_a_change_that_cannot_be_written_is_told_and_the_next_one_writes_all(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sub" / "kept.json"
    path.parent.mkdir()
    transcript, _ = kept_in(path)
    transcript.add(USER)
    path.unlink()
    path.mkdir()
    with pytest.raises(StorageError, match=r"kept\.json"):
        transcript.add(USER)
    path.rmdir()
    transcript.add(USER)
    assert load(path).messages == [USER] * 3


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"from": 9, "messages": []}',
        '{"from": 0, "messages": {}}',
        "[",
        '{"from": -1, "messages": []}',
    ],
)
def test_a_line_that_is_no_change_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "kept.json"
    transcript, _ = kept_in(path)
    transcript.add(USER)
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(InvalidDocument, match=r"kept\.json"):
        load(path)


def test_a_list_of_messages_that_somebody_else_changed_is_read_again() -> None:
    transcript = Transcript([USER])
    transcript.messages.append(turn("a"))
    assert [call.call_id for call in transcript.open] == ["a"]
    transcript.messages[-1] = turn("b")
    assert [call.call_id for call in transcript.open] == ["b"]
    transcript.answer({0: result("b")})
    transcript.messages.clear()
    transcript.add(turn(None))
    assert transcript.open[0].call_id == "vespe_call_1"
