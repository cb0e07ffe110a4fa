"""What passes between a client and a server, written down without its secrets."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import StorageError
from vespe.features.mcp.recordings import server_recording
from vespe.features.mcp.recordings.recorder import ServerRecorder, is_secret_name
from vespe.features.mcp.recordings.server_recording import Exchange, RecordingFile

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8J9k0" * 2


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def call(number: int, arguments: Any, **meta: Any) -> bytes:
    params = {"name": "t", "arguments": arguments} | ({"_meta": meta} if meta else {})
    return line(id=number, method="tools/call", params=params)


def written(
    tmp_path: Path, *lines: tuple[str, bytes], secrets: tuple[str, ...] = ()
) -> list[Exchange]:
    path = str(tmp_path / "r.jsonl")
    recorder = ServerRecorder(
        RecordingFile(path, server="s"), secrets=secrets, failed=lambda error: None
    )
    for who, text in lines:
        (recorder.asked if who == ">" else recorder.answered)(text)
    recorder.close()
    return list(server_recording.read(path).exchanges)


def test_exchanges_are_in_the_order_of_their_requests_with_what_came_before_the_answer(
    tmp_path: Path,
) -> None:
    step = {"progressToken": "p", "progress": 1}
    found = written(
        tmp_path,
        (">", call(1, {"a": 1}, progressToken="p")),
        (">", call(2, {"a": 2})),
        ("<", line(method="notifications/progress", params=step)),
        ("<", line(id=2, result={"content": ["two"]})),
        ("<", line(id="s1", method="roots/list", params={})),
        ("<", line(id=1, error={"code": 1, "message": "no"})),
        (">", line(method="notifications/cancelled", params={})),
        ("<", b"this is not a message"),
        (">", call(3, {})),
    )
    assert [(one.params["arguments"], one.answer) for one in found] == [
        ({"a": 1}, {"error": {"code": 1, "message": "no"}}),
        ({"a": 2}, {"result": {"content": ["two"]}}),
        ({}, None),
    ]
    assert [one["params"] for one in found[0].notified] == [step] and "_meta" not in found[0].params


def test_no_secret_is_written(tmp_path: Path) -> None:
    arguments = {
        "text": f"my value is s3cret-value and {TOKEN}",
        "api_key": "not-like-a-key",
        "nested": [{"Client-Secret": {"old": "older", "n": 3}}],
        "page_token": "kept",
    }
    answer = {"content": [{"text": f"{TOKEN} s3cret-value not-like-a-key"}]}
    found = written(
        tmp_path,
        (">", call(1, arguments)),
        ("<", line(id=1, result=answer)),
        secrets=("s3cret-value",),
    )
    assert found[0].params["arguments"] == {
        "text": "my value is *** and ***",
        "api_key": "***",
        "nested": [{"Client-Secret": {"old": "***", "n": 3}}],
        "page_token": "kept",
    }
    assert found[0].answer == {"result": {"content": [{"text": "*** *** ***"}]}}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "t", "arguments": {"password": 4711081500}}),
        ("tools/call", {"name": "t", "inputResponses": {"k": {"content": {"pwd": "4711081500"}}}}),
        ("tasks/update", {"inputResponses": {"k": {"content": {"api_key": "4711081500"}}}}),
        ("completion/complete", {"argument": {"name": "password", "value": "4711081500"}}),
        ("session/login", {"password": ["4711081500"]}),
        ("tools/call", {"name": "t", "_meta": {"example.org/token": "4711081500"}}),
    ],
)
def test_p80_a_secret_is_known_by_its_name_wherever_a_client_says_it(
    tmp_path: Path, method: str, params: Any
) -> None:
    found = written(
        tmp_path,
        (">", line(id=1, method=method, params=params)),
        (">", line(id=2, method="tools/call", params={"name": "t"})),
        # The second answer tells what the first request said, before that has its own answer.
        ("<", line(id=2, result={"content": "it was 4711081500, 4711081500"})),
        ("<", line(id=1, result={"content": 4711081500})),
    )
    assert "4711081500" not in (tmp_path / "r.jsonl").read_text(encoding="utf-8")
    assert found[1].answer == {"result": {"content": "it was ***, ***"}}
    assert found[0].method == method and "***" in json.dumps(found[0].answer)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("api_key", "APIKEY", "access-token", "password", "token")),
        *((name, True) for name in ("github_token", "new_password2", "x-api-key", "Set-Cookie")),
        *((name, True) for name in ("aws_secret_access_key", "credential", "db.secret", "jwt")),
        *((name, True) for name in ("otp", "otp_code", "totp", "notepad_token", "session_token")),
        *((name, True) for name in ("accessTokens", "api_tokens", "refresh_tokens", "cookies")),
        *((name, True) for name in ("authorization_header", "auth_header", "jwt_value", "auth")),
        *((name, True) for name in ("signing_key", "encryption_key", "ssh_key", "github_pat")),
        *((name, True) for name in ("credentials_json", "pin", "session", "password_hash")),
        *((name, False) for name in ("has_password", "passwordPolicy", "requires_token", "header")),
        *((name, False) for name in ("author", "pins", "session_name", "ssh_public_key", "pat")),
        *((name, False) for name in ("input_tokens", "stop_tokens", "values", "json", "keys")),
        *((name, False) for name in ("pad_token", "bosToken", "eos_token", "start_token")),
        *((name, False) for name in ("resume_token", "SKIP_TOKEN", "cursorToken", "stop-token")),
        *((name, False) for name in ("session_id", "signature")),  # a handle, and a function's
        *((name, False) for name in ("page_token", "tokens", "key", "path", "nextPageToken")),
        *((name, False) for name in ("max_tokens", "secretary", "sort_key", "progressToken")),
    ],
)
def test_names_of_arguments_that_hold_secrets(name: str, expected: bool) -> None:
    assert is_secret_name(name) is expected


def test_the_value_of_a_named_pair_is_a_secret_and_what_is_told_about_one_is_not(
    tmp_path: Path,
) -> None:
    arguments: Any = {
        "environment": [
            {"key": "API_KEY", "value": "first-secret"},
            {"name": "API_KEY", "value": "other-secret"},
            {"key": "color", "value": "blue"},
        ],
        "auth": {"user": "ada", "pass": "third-secret"},
        "session": {"cwd": "/tmp"},
        "pin": 4711,
        "has_password": "no",
        "password_policy": {"alphabet": "letters", "length": 12},
    }
    found = written(tmp_path, (">", call(1, arguments)), ("<", line(id=1, result={})))
    assert found[0].params["arguments"] == arguments | {
        "environment": [
            {"key": "API_KEY", "value": "***"},
            {"name": "API_KEY", "value": "***"},
            {"key": "color", "value": "blue"},
        ],
        "auth": {"user": "***", "pass": "***"},
        "pin": "***",
    }


def test_a_number_is_a_secret_under_a_name_that_says_so_alone(tmp_path: Path) -> None:
    arguments = {
        "special_token": 50256,
        "pad_token": 50257,
        "bad_token": [50258],
        "resume_token": "abcdefgh",
        "otp": 471108,
        "new_password": 4711081500,
        "token": [81500471],
    }
    text = "50256 50257 50258 abcdefgh 471108 4711081500 81500471"
    found = written(
        tmp_path,
        (">", call(1, arguments)),
        ("<", line(id=1, result={"content": text})),
    )
    assert found[0].params["arguments"] == arguments | {
        "otp": "***",
        "new_password": "***",
        "token": ["***"],
    }
    assert found[0].answer == {"result": {"content": "50256 50257 50258 abcdefgh *** *** ***"}}


def test_a_file_that_can_no_longer_be_written_ends_the_recording_alone(tmp_path: Path) -> None:
    told: list[StorageError] = []
    file = RecordingFile(str(tmp_path / "r"), server="s")
    recorder = ServerRecorder(file, secrets=(), failed=told.append)
    file.close()
    for number in (1, 2):
        recorder.asked(call(number, {}))
        recorder.answered(line(id=number, result={}))
    recorder.close()
    assert len(told) == 1 and recorder.error is told[0]


class Meeting(str):
    """A secret whose hash is taken while another thread hides one, if the recorder lets it."""

    other: Callable[[], None]

    def __hash__(self) -> int:
        if not hasattr(self, "thread"):
            self.thread = threading.Thread(target=self.other)
            self.thread.start()
            self.thread.join(0.2)
        return super().__hash__()

    __eq__ = str.__eq__


def test_secrets_that_two_threads_hide_at_once_are_both_hidden(tmp_path: Path) -> None:
    path = str(tmp_path / "r.jsonl")
    recorder = ServerRecorder(
        RecordingFile(path, server="s"), secrets=(), failed=lambda error: None
    )
    first = Meeting("first-value")
    first.other = lambda: recorder.asked(call(1, {"token": "second-value"}))
    recorder.hide(first)
    first.thread.join()
    recorder.answered(line(id=1, result={"a": "second-value", "b": "first-value"}))
    recorder.close()
    (found,) = server_recording.read(path).exchanges
    assert found.answer == {"result": {"a": "***", "b": "***"}}
