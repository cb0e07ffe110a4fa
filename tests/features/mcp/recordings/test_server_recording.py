"""The file of a recorded server: what is read, and what is refused with a sentence."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.features.mcp.recordings import server_recording
from vespe.features.mcp.recordings.server_recording import Exchange, RecordingFile

LIST = {"tools": [{"name": "a", "inputSchema": {"type": "object"}}], "nextCursor": "2"}
MORE = {"tools": [{"name": "b", "inputSchema": {"type": "object"}}]}


def recorded(path: Path, *exchanges: tuple[str, dict[str, Any], Any]) -> Path:
    file = RecordingFile(str(path), server="weather")
    for number, (method, params, result) in enumerate(exchanges, start=1):
        file.add(Exchange(number=number, method=method, params=params, answer={"result": result}))
    file.close()
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return recorded(
        tmp_path / "weather.jsonl",
        ("initialize", {}, {"serverInfo": {"name": "w", "version": "2"}}),
        ("tools/list", {}, LIST),
        ("tools/list", {"cursor": "2"}, MORE),
        (
            "tools/call",
            {"name": "a", "arguments": {"n": 1.5, "t": "größer\u2028"}},
            {"content": []},
        ),
    )


def test_what_was_written_is_read_and_is_its_owners_alone(file: Path) -> None:
    read = server_recording.read(str(file))
    assert read.server == "weather" and [one.number for one in read.exchanges] == [1, 2, 3, 4]
    assert read.exchanges[3].params["arguments"] == {"n": 1.5, "t": "größer\u2028"}
    tools, about = read.definitions()
    assert [tool["name"] for tool in tools] == ["a", "b"] and about["version"] == "2"
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600


def test_a_file_that_is_there_is_not_written_over(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(Refused, match="already exists"):
        RecordingFile(str(file), server="x")
    assert file.read_bytes() == before
    with pytest.raises(StorageError):
        RecordingFile(str(file.parent / "no/such.jsonl"), server="x")


def test_a_recording_without_an_exchange_leaves_no_file(tmp_path: Path) -> None:
    RecordingFile(str(tmp_path / "empty.jsonl"), server="x").close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda text: text.replace('"n":1.5', '"n":1.6'), "jsonl:5: was changed after"),
        (lambda text: text.replace("weather", "whether", 1), "was changed after"),
        (lambda text: "\n".join(text.split("\n")[:2] + text.split("\n")[3:]), "was changed after"),
        (lambda text: text[:-20], "is incomplete"),
        (lambda text: text.replace('"answer"', '"answer', 1), "is damaged"),
        (lambda text: text.replace('"version":1', '"version":2', 1), "recording of version 2"),
        (lambda text: json.dumps({"version": 1, "turns": []}), "is not a recording of an MCP"),
        (lambda text: "", "is not a recording of an MCP"),
        (lambda text: "\x00\xff", "is not a recording of an MCP"),
    ],
)
def test_an_edited_damaged_or_foreign_file_is_refused(
    edit: object, sentence: str, file: Path
) -> None:
    assert callable(edit)
    file.write_text(edit(file.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(InvalidDocument) as refused:
        server_recording.read(str(file))
    assert sentence in str(refused.value)
    assert "vespe mcp wrap --record" in refused.value.hint


def test_line_ends_of_another_system_are_no_edit(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert len(server_recording.read(str(file)).exchanges) == 4


def test_a_recording_without_a_whole_list_says_so(tmp_path: Path) -> None:
    read = server_recording.read(str(recorded(tmp_path / "a", ("tools/list", {}, LIST))))
    with pytest.raises(InvalidDocument, match="does not contain a complete list"):
        read.definitions()
