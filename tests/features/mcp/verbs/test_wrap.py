"""`vespe mcp wrap`, with the official SDK's client."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support.mcp_servers import ByHand
from tests.support.ondisk import PATIENCE_S, vespe
from vespe.calls.sandboxing import machine
from vespe.features.mcp.verbs import wrap

READER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "r", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "read", "inputSchema": {"type": "object"}}]}
    else:
        try:
            with open(asked["params"]["arguments"]["path"], encoding="utf-8") as file:
                result = {"content": [{"type": "text", "text": file.read() + os.environ.get("TOKEN", "-") + os.environ.get("OTHER", "-")}]}
        except OSError as error:
            result = {"content": [{"type": "text", "text": str(error)}], "isError": True}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def calls(
    cwd: Path, options: list[str], server: list[str], *asked: tuple[str, dict[str, Any]]
) -> list[tuple[str, bool]]:
    """Return what a client gets that starts a wrapped server and calls its tools."""
    argv = ["-m", "vespe", "mcp", "wrap", *options, "--", *server]
    parameters = StdioServerParameters(
        command=sys.executable, args=argv, cwd=cwd, env=dict(os.environ)
    )

    async def main() -> list[tuple[str, bool]]:
        with anyio.fail_after(PATIENCE_S):
            async with mcp.Client(stdio_client(parameters), mode="legacy") as client:
                await client.list_tools()
                results: list[Any] = [
                    await client.call_tool(name, arguments) for name, arguments in asked
                ]
                return [(result.content[0].text, result.is_error) for result in results]

    return anyio.run(main)


def test_calls_pass_and_are_in_the_log_of_the_project(project: Path) -> None:
    server = ByHand(project / "server")
    got = calls(
        project,
        ["--name", "byhand", "--log-arguments"],
        list(server.command),
        ("echo", {"text": "hi"}),
        ("fails", {}),
    )
    assert got == [('{"text": "hi"}', False), ("no such city", True)]
    shown = json.loads(vespe("log", "--json", cwd=project).stdout)["calls"]
    assert [(one["tool"], one["scope"], one["outcome"], one["arguments"]) for one in shown] == [
        ("echo", "byhand", "ok", {"text": "hi"}),
        ("fails", "byhand", "tool_error", {}),
    ]
    assert "no such city" in vespe("log", "--failed", cwd=project).stdout


def test_the_sandbox_holds_it_and_only_named_variables_reach_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if machine().level == "off":
        pytest.skip("this machine has no sandbox")
    monkeypatch.setenv("TOKEN", "t0ken-value")
    monkeypatch.setenv("OTHER", "not passed")
    (home / ".ssh").mkdir()
    for path in (home / ".ssh/id_ed25519", tmp_path / "open"):
        path.write_text("TEXT ", encoding="utf-8")
    asked = [
        ("read", {"path": str(path)}) for path in (tmp_path / "open", home / ".ssh/id_ed25519")
    ]
    (opened, _), (refused, is_error) = calls(
        tmp_path, ["--secret", "TOKEN"], [sys.executable, "-c", READER], *asked
    )
    assert opened == "TEXT t0ken-value-" and is_error and "TEXT" not in refused
    assert (
        json.loads(vespe("log", "--json", cwd=tmp_path).stdout)["calls"][0]["sandbox"]
        == machine().level
    )
    (text, is_error), *_ = calls(
        tmp_path,
        ["--read", str(home / ".ssh/id_ed25519")],
        [sys.executable, "-c", READER],
        asked[1],
    )
    assert (text, is_error) == ("TEXT --", False)


def test_what_cannot_be_started_or_said_is_a_sentence(
    command: Callable[..., Any], home: Path
) -> None:
    for words, code, sentence in (
        ((), 2, "say which server to wrap"),
        (("--network", "a.example", "--no-network", "true"), 2, "cannot be combined"),
        (("--secret", "NOT_SET_ANYWHERE", "true"), 6, "NOT_SET_ANYWHERE"),
        (("--write", "~/.not-there", "true"), 2, "there is no such file or directory"),
    ):
        done = command("mcp", "wrap", *words)
        assert done.code == code and sentence in done.err, done
    done = vespe("mcp", "wrap", "no-such-program-here")
    assert (
        done.returncode == 1
        and "there is no program called 'no-such-program-here' on PATH" in done.stderr
    )
    assert vespe("mcp", "wrap", "--", "sh", "-c", "exit 4").returncode == 4


def test_a_renewal_that_fails_in_any_way_is_answered(caplog: pytest.LogCaptureFixture) -> None:
    def renew(refused: str) -> str:
        raise RuntimeError(f"no {refused}")

    aside = wrap._aside("mark ", renew, ())
    said = json.loads(aside.answer(b'{"refused": "abc"}'))
    assert said == {"error": "a bug in Vespe ended the renewal of the login (RuntimeError)"}
    assert "the renewal of a login" in caplog.text
    assert list(json.loads(aside.answer(b"not JSON"))) == ["error"]
