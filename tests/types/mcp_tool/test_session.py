"""The session's own process: what it is asked on stdin, and what it answers on its descriptor."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_serving import serving, stocked
from tests.support.mcp_servers import ByHand, definition
from vespe.tools import mcp_definitions


def answer(request: dict[str, Any]) -> dict[str, Any]:
    reader, writer = os.pipe()
    code = "from vespe.types.mcp_tool.session import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, str(writer)],
        input=json.dumps(request).encode(),
        pass_fds=(writer,),
        capture_output=True,
        check=False,
    )
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(data)
    return found


def test_without_a_tool_it_lists_and_with_one_it_calls(tmp_path: Path) -> None:
    server = ByHand(tmp_path)
    reach = {"command": list(server.command), "cwd": str(tmp_path)}
    assert [tool["name"] for tool in answer(reach)["tools"]] == ["echo"]
    call = {
        "tool": "echo",
        "arguments": {"text": "ü"},
        "digest": mcp_definitions.digest(definition()),
    }
    assert answer(reach | call)["result"]["content"][0]["text"] == json.dumps({"text": "ü"})


def test_what_the_server_prints_never_mixes_with_the_answer(tmp_path: Path) -> None:
    server = ByHand(tmp_path, mode="garbage")
    assert "tools" in answer({"command": list(server.command), "cwd": str(tmp_path)})


def test_a_failure_is_an_answer_too(tmp_path: Path) -> None:
    assert answer({"command": ["/nonexistent"], "cwd": str(tmp_path)})["error"]["kind"] == "server"
    refused = answer({"url": "http://10.0.0.1/mcp", "headers": {}, "allow_hosts": []})["error"]
    assert refused["kind"] == "refused" and "10.0.0.1 is private" in refused["message"]
    assert """`vespe config set allow_hosts '["10.0.0.1:80"]'`""" in refused["hint"]


def test_an_answer_that_breaks_the_protocol_is_told_in_one_sentence(tmp_path: Path) -> None:
    server = ByHand(tmp_path, definition("good"), {"name": 5}, {"description": "nameless"})
    said = answer({"command": list(server.command), "cwd": str(tmp_path)})["error"]["message"]
    assert (
        said.startswith("the server's answer breaks the protocol at tools/1/")
        and "\n" not in said
        and "http" not in said
    )


@pytest.mark.parametrize(
    ("mode", "said"),
    [("twice", 'has the key "n" twice in one object'), ("nan", "holds NaN")],
)
def test_an_answer_that_can_be_read_in_two_ways_is_none(
    tmp_path: Path, mode: str, said: str
) -> None:
    server = ByHand(tmp_path, mode=mode)
    call = {"tool": "echo", "arguments": {}, "digest": mcp_definitions.digest(definition())}
    found = answer({"command": list(server.command), "cwd": str(tmp_path)} | call)
    assert f"the server's answer {said}" in json.dumps(found["error"]["message"]).replace("\\", "")


def test_a_server_over_http_is_asked_with_the_headers_that_were_given(project: Path) -> None:
    with serving(stocked(project)) as served:
        reach = {
            "url": served.url,
            "headers": served.headers,
            "allow_hosts": [f"127.0.0.1:{served.port}"],
        }
        listed = [tool["name"] for tool in answer(reach)["tools"]]
        assert listed == ["add", "nap", "read_result"]
        assert "error" in answer(reach | {"headers": {}})


def test_a_name_is_judged_by_the_addresses_that_it_has() -> None:
    refused = answer({"url": "http://localhost:9/mcp", "headers": {}, "allow_hosts": []})["error"]
    assert refused["kind"] == "refused" and "loopback" in refused["message"]


def test_p37_an_address_of_this_machine_is_refused_though_it_is_not_private() -> None:
    judge = (
        "from vespe.types.mcp_tool import session; session._judge('a.example', "
        "['192.0.2.2'], 80, [])"
    )
    network = 'ip link set lo up && ip address add 192.0.2.2/32 dev lo && exec "$0" -c "$1"'
    inside = subprocess.run(
        ["unshare", "-rn", "sh", "-c", network, sys.executable, judge],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if "vespe" not in inside.stderr:
        pytest.skip("no network namespaces here")
    assert "an address of this machine" in inside.stderr
    assert (
        subprocess.run(
            [sys.executable, "-c", judge.replace("192.0.2.2", "198.51.100.7")], check=False
        ).returncode
        == 0
    )
