"""A client that is asked and never answers: each call ends with a sentence within its bound, its
question is withdrawn, and nothing is left running. The bound of ten minutes is shortened.
"""

import contextlib
import http.client
import json
import os
import re
import time
from pathlib import Path
from typing import Any

from tests.support.http_serving import gone, noted
from tests.support.ondisk import PATIENCE_S, python_tool, write_tool
from tests.support.pids import SAYS
from tests.support.stdio_client import LineClient, served

MINUTES = 0.05
SERVER = f"""
from vespe.calls import asking
asking.ASK_TIMEOUT_S = {MINUTES * 60}
from pathlib import Path
from vespe import Project, ask, serve_stdio

def choose() -> str:
    '''Choose a color.'''
    ask("Which color?", {{"type": "object", "properties": {{"c": {{"type": "string"}}}}}})
    Path("chosen").touch()
    return "chosen"

project = Project()
project.register(choose)
serve_stdio(project)
"""
POUR = f"""import os, vespe_ask
open("mark", "w").write({SAYS})
vespe_ask.ask("Pour it?")
open("poured", "w").close()
return "poured"
"""
DEPLOY = """#!/bin/sh
echo '{"ask": 1, "question": "Deploy?"}' >&"${VESPE_ASK_FD#*,}"
read -r answer <&"${VESPE_ASK_FD%,*}"
case "$answer" in
  *'"action":"accept"'*) touch deployed ;;
  *) echo "not deployed: $answer" >&2; exit 1 ;;
esac
"""


def asking_tools(project: Path) -> None:
    tools = project / ".vespe/tools"
    python_tool(tools / "tool-pour", "pour", POUR)
    python_tool(tools / "tool-note", "note", 'open("noted", "w").close()\nreturn "noted"')
    shell = {"type": "shell_command", "path": "deploy.sh"}
    place = write_tool(
        tools / "tool-deploy", "deploy", implementation=shell, files={"deploy.sh": DEPLOY}
    )
    (place / "deploy.sh").chmod(0o755)
    config = project / ".vespe/config.json"
    document = json.loads(config.read_text(encoding="utf-8"))
    document["approvals"] = {"ask": ["note"]}
    config.write_text(json.dumps(document), encoding="utf-8")


def shake_hands(client: LineClient) -> None:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "silent", "version": "1"},
    }
    client.ask("initialize", params)
    client.send("notifications/initialized")


def test_each_call_of_a_client_that_never_answers_ends_and_leaves_nothing(project: Path) -> None:
    asking_tools(project)
    names = {"choose", "pour", "note", "deploy"}
    with served(project, code=SERVER) as client:
        shake_hands(client)
        for name in sorted(names):
            params = {"name": name, "arguments": {}, "_meta": {"progressToken": name}}
            client.send("tools/call", params, id=name)
        asked: list[str] = []
        withdrawn: list[str] = []
        told: dict[str, Any] = {}
        waiting = set()
        while len(told) < len(names) or len(withdrawn) < len(names):
            message = client.read()
            if message.get("method") == "elicitation/create":
                asked.append(message["id"])
            elif message.get("method") == "notifications/cancelled":
                withdrawn.append(message["params"]["requestId"])
            elif message.get("method") == "notifications/progress":
                if message["params"]["message"] == "waiting for the user's answer":
                    waiting.add(message["params"]["progressToken"])
            else:
                told[message["id"]] = message["result"]
        assert waiting == names
        assert len(asked) == len(names) and sorted(withdrawn) == sorted(asked)
        assert told.keys() == names
        for name, result in told.items():
            said = result["content"][0]["text"]
            assert result["isError"] and f"within {MINUTES:g} minutes" in said, (name, said)
            assert "make the call again" in said, (name, said)
        for question in asked:  # too late
            answer = {"action": "accept", "content": {"allow": True, "c": "red"}}
            line = {"jsonrpc": "2.0", "id": question, "result": answer}
            client.write(json.dumps(line).encode() + b"\n")
        assert client.ask("ping") == {}
        assert gone(noted(project / "mark"))
        assert client.close() == 0
    assert not {"chosen", "poured", "noted", "deployed"} & set(os.listdir(project))


HTTP_SERVER = f"""
from vespe.calls import asking
asking.ASK_TIMEOUT_S = {MINUTES * 60}
from vespe.cli import main
raise SystemExit(main(["mcp", "serve", "--http", "127.0.0.1:0"]))
"""


def events(body: bytes) -> list[Any]:
    lines = [line[5:] for line in body.splitlines() if line.startswith(b"data:")]
    return [json.loads(line) for line in lines if line.strip()]


def test_over_http_it_is_the_same(project: Path) -> None:
    asking_tools(project)
    with open(project / "said", "wb") as said, served(project, code=HTTP_SERVER, stderr=said):
        port, token = address_in(project / "said")
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

        def post(message: Any) -> tuple[http.client.HTTPResponse, bytes]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
            with contextlib.closing(connection):
                body = json.dumps({"jsonrpc": "2.0", **message})
                connection.request("POST", "/mcp", body, headers)
                answer = connection.getresponse()
                return answer, answer.read()

        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "silent", "version": "1"},
        }
        answer, _ = post({"id": 0, "method": "initialize", "params": hello})
        headers |= {
            "Mcp-Session-Id": answer.headers["Mcp-Session-Id"],
            "MCP-Protocol-Version": "2025-11-25",
        }
        post({"method": "notifications/initialized"})
        for name in ("note", "pour"):
            call: dict[str, Any] = {"name": name, "arguments": {}}
            told = events(post({"id": 1, "method": "tools/call", "params": call})[1])
            question = next(one for one in told if one.get("method") == "elicitation/create")
            result = next(one["result"] for one in told if one.get("id") == 1)
            assert f"within {MINUTES:g} minutes" in result["content"][0]["text"]
            late = {"id": question["id"], "result": {"action": "accept", "content": {}}}
            assert post(late)[0].status == 202
        assert gone(noted(project / "mark"))
        assert json.loads(post({"id": 2, "method": "ping"})[1])["result"] == {}
    assert not {"poured", "noted"} & set(os.listdir(project))


def address_in(said: Path) -> tuple[int, str]:
    until = time.monotonic() + PATIENCE_S
    while b"/mcp\n" not in (text := said.read_bytes()):
        assert time.monotonic() < until, text
        time.sleep(0.02)
    port, token = re.search(rb"127\.0\.0\.1:(\d+)", text), re.search(rb"Bearer (\S+)", text)
    assert port is not None and token is not None, text
    return int(port[1]), token[1].decode("ascii")
