"""A server behind a URL is recorded through `vespe mcp wrap --url`, and served again over HTTP."""

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.features.oauth.test_tokens import kept as logged_in
from tests.support.authorization import authorized
from tests.support.http_serving import Serving, serving, stocked
from tests.support.ondisk import vespe
from tests.support.stdio_client import MODERN, served

_WRAP = "import sys; from vespe.cli import main; sys.exit(main(['mcp', 'wrap', *{!r}]))"
_ADD = {"name": "add", "arguments": {"a": 1, "b": 2}}


def posted(
    served: Serving, method: str, params: dict[str, Any], **headers: str
) -> tuple[int, Any, Any]:
    """Ask a server over HTTP; return the status, the headers and the answer."""
    body = json.dumps({"jsonrpc": "2.0", "id": 9, "method": method, "params": params})
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    request = urllib.request.Request(served.url, data=body.encode(), headers=sent)
    try:
        answer = urllib.request.urlopen(request, timeout=30)  # loopback
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, json.loads(answer.read() or b"null")


def recorded(project: Path, file: Path, url: str) -> list[Any]:
    """Record a conversation in the older and the newest revision; return the results."""
    words = ["--record", str(file), "--url", url, "--header", "Authorization: Bearer ${env:TOKEN}"]
    with served(project, code=_WRAP.format(words)) as client:
        found = [client.hello(), client.ask("tools/list"), client.ask("tools/call", _ADD)]
        found += [
            client.ask("server/discover", {"_meta": MODERN}),
            client.ask("tools/call", {**_ADD, "_meta": MODERN}),
        ]
        assert client.close() == 0
    return found


def test_a_recorded_server_is_served_over_http_without_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    command("config", "set", "allow_hosts", '["127.0.0.1"]')
    file = project / "server.jsonl"
    with serving(stocked(project)) as up:
        monkeypatch.setenv("TOKEN", str(up.token))
        began, listed, first, found, second = recorded(project, file, up.url)
    assert "3" in json.dumps(first) and str(up.token) not in file.read_text(encoding="utf-8")
    with serving(project, "--replay", str(file), "--no-token") as replayed:
        status, headers, answer = posted(replayed, "initialize", {})
        assert (status, answer) == (200, {"jsonrpc": "2.0", "id": 9, "result": began})
        inside = {"Mcp_Session_Id": headers["mcp-session-id"]}
        assert posted(replayed, "tools/list", {}, **inside)[2]["result"] == listed
        # A session begins anew; without one the newest revision has its own place.
        assert posted(replayed, "tools/call", _ADD, **inside)[2]["result"] == first
        newest = {"MCP_Protocol_Version": "2026-07-28"}
        given = {"_meta": MODERN}
        assert posted(replayed, "server/discover", given, **newest)[2]["result"] == found
        assert posted(replayed, "tools/call", _ADD | given, **newest)[2]["result"] == first
        assert posted(replayed, "tools/call", _ADD | given, **newest)[2]["result"] == second
        missed = {"name": "add", "arguments": {"a": 7}, **given}
        status, _, answer = posted(replayed, "tools/call", missed, **newest)
        assert status == 400 and answer["error"]["data"] == {"code": "not_recorded"}
        assert posted(replayed, "ping", {}, Mcp_Session_Id="gone")[0] == 404
        said = "the recording has no call of 'add' with these arguments, but 2 with others"
        assert said in replayed.err.read_text(encoding="utf-8")


def test_a_login_is_renewed_while_its_server_is_recorded_and_no_token_is_kept(
    project: Path, home: Path, tmp_path: Path, command: Callable[..., Any]
) -> None:
    command("config", "set", "allow_hosts", '["127.0.0.1"]')
    file, said = project / "server.jsonl", tmp_path / "stderr"
    with authorized() as (issuer, resource), said.open("wb") as stderr:
        logged_in(resource)
        words = ["--record", str(file), "--url", resource.url, "--login", "notes"]
        with served(project, code=_WRAP.format(words), stderr=stderr) as client:
            issuer.access.clear()  # before the handshake, whose answer the client waits for
            client.hello()
            assert issuer.refreshes == 1
            call = {"name": "echo", "arguments": {"text": "hi"}}
            assert client.ask("tools/call", call) == {
                "content": [{"type": "text", "text": "done for Bearer ***"}]
            }
            issuer.access.clear()
            for number in range(3):  # one new token for all that were refused the same one
                client.send("tools/call", call, id=number)
            assert all("done for" in json.dumps(client.read()) for _ in range(3))
            assert (issuer.refreshes, issuer.reused, resource.calls) == (2, 0, 4)
            given = [*issuer.access, *issuer.refresh, *issuer.spent]
            issuer.access.clear()
            issuer.refresh.clear()
            for _ in range(2):
                assert "error" in client.answer("tools/call", call)
            assert resource.calls == 4 and client.close() == 0
    ended = said.read_text(encoding="utf-8")
    assert ended.count("`vespe mcp login notes`") == 1 and "refused access" not in ended
    recording = file.read_text(encoding="utf-8")
    assert "done for Bearer ***" in recording
    places = [ended, recording, vespe("log", "--json", cwd=project).stdout]
    assert len(given) > 2 and not [token for token in given if token in "".join(places)]


def test_a_server_that_is_not_there_and_words_that_do_not_fit_are_sentences(
    project: Path, command: Callable[..., Any]
) -> None:
    command("config", "set", "allow_hosts", '["127.0.0.1"]')
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/mcp"
        with served(project, code=_WRAP.format(["--url", url])) as client:
            client.send("ping", {}, id=1)
            assert client.process.wait(60) == 1
    header = ("--header", "authorization: Bearer ${env:TOKEN}")
    two_tokens = ("--url", url, "--login", "notes", *header)
    for words, said in (
        (("mcp", "wrap"), "say which server to wrap"),
        (("mcp", "wrap", "--url", url, "--", "server"), "say which server to wrap"),
        (("mcp", "wrap", "--url", url, "--write", "."), "are for a COMMAND"),
        (("mcp", "wrap", "--header", "A: b", "--", "server"), "--header and --login are for --url"),
        (("mcp", "wrap", "--url", url, "--login", "notes"), "vespe mcp login notes --url"),
        (("mcp", "serve", "--replay", "x", "--read-only"), "leave out the options"),
        (("tool", "diff", "x", "--url", url, "--", "server"), "which recording to compare"),
        (("tool", "diff", "x", "y", "--header", "A: b"), "--header and --login are for --url"),
        (("mcp", "wrap", *two_tokens), "cannot be combined"),
        (("tool", "diff", "x", *two_tokens), "cannot be combined"),
    ):
        done = command(*words)
        assert done.code in (2, 6) and said in " ".join(done.err.split()), done.err
