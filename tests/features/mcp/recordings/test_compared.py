"""`vespe tool diff FILE -- COMMAND`: what a server changed since it was recorded."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.features.mcp.recordings.test_server_recording import recorded
from tests.features.oauth.test_tokens import kept as logged_in
from tests.support.authorization import authorized
from tests.support.mcp_servers import ByHand, definition
from tests.support.ondisk import vespe
from vespe.features.mcp.recordings import compared
from vespe.kits import mcp_kits
from vespe.projects import user_config

ECHO = definition()
PROPERTIES = {"text": {"type": "string"}}


def schema(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


CHANGES: dict[str, tuple[dict[str, Any], str, bool]] = {
    "same": ({}, "", False),
    "words": ({"description": "Other words."}, "description", False),
    "titled": ({"title": "A title"}, "description", False),
    "described": (
        {"inputSchema": schema({"text": {"type": "string", "description": "d"}})},
        "input",
        False,
    ),
    "wider": ({"inputSchema": schema(PROPERTIES | {"description": {}})}, "input", True),
    "narrower": ({"inputSchema": schema(PROPERTIES, required=["text"])}, "input", True),
    "output": ({"outputSchema": schema({"n": {"type": "integer"}})}, "output", True),
    "hints": ({"annotations": {"readOnlyHint": True}}, "annotations", True),
    "odd": ({"inputSchema": schema({"a": {"$ref": "#/nowhere"}})}, "input", True),
}


@pytest.mark.usefixtures("home")
def test_schemas_and_removals_fail_and_words_are_only_shown(tmp_path: Path) -> None:
    then = [definition(name) for name in (*CHANGES, "gone")]
    file = recorded(tmp_path / "server.jsonl", ("tools/list", {}, {"tools": then}))
    now = [definition(name, **change) for name, (change, _, _) in CHANGES.items()]
    server = ByHand(tmp_path / "server", *now, definition("new"))
    found = {
        one.tool: one for one in compared.compare(str(file), {"command": list(server.command)})
    }
    assert {
        name: ({change.part for change in one.changes}, compared.breaks(one))
        for name, one in found.items()
    } == {name: ({part}, breaks) for name, (_, part, breaks) in CHANGES.items() if part} | {
        "gone": ({"tool"}, True),
        "new": ({"tool"}, False),
    }


def test_the_exit_code_is_of_what_changed_and_both_are_shown(tmp_path: Path) -> None:
    file = recorded(tmp_path / "server.jsonl", ("tools/list", {}, {"tools": [ECHO]}))
    for change, code in (({"description": "Other."}, 0), ({"inputSchema": schema({})}, 1)):
        server = ByHand(tmp_path / "server", ECHO | change)
        done = vespe("tool", "diff", str(file), "--json", "--", *server.command, cwd=tmp_path)
        assert done.returncode == code and json.loads(done.stdout)["tools"][0]["tool"] == "echo"


def test_a_server_that_listens_is_compared_with_the_login_that_is_named_and_no_other_token(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_config.set_value("allow_hosts", ["127.0.0.1"])
    file = recorded(project / "same.jsonl", ("tools/list", {}, {"tools": [ECHO]}))
    narrowed = {**ECHO, "inputSchema": schema({})}
    other = recorded(project / "other.jsonl", ("tools/list", {}, {"tools": [narrowed]}))
    with authorized() as (_, resource):
        words = ("--url", resource.url)
        for name in ("SERVER", "NOTES"):
            monkeypatch.setenv(f"VESPE_{name}__MCP_TOKEN", "t0ken-of-a-kit")
        refused = vespe("tool", "diff", str(file), *words, cwd=project)
        assert refused.returncode == 1 and "HTTP status 401" in refused.stderr
        assert "--login KIT sends the token of your login" in refused.stderr
        assert {sent for _, sent in resource.seen} == {""}
        # The secret of the kit is for the kit's server.
        reach = {"url": "https://notes.example.com/mcp"}
        mcp_kits.write(mcp_kits.draft("notes", reach, [ECHO], about={}))
        refused = vespe("tool", "diff", str(file), *words, "--login", "notes", cwd=project)
        assert refused.returncode == 6 and "VESPE_NOTES__MCP_TOKEN" in refused.stderr
        assert {sent for _, sent in resource.seen} == {""}
        logged_in(resource)
        same = vespe("tool", "diff", str(file), *words, "--login", "notes", cwd=project)
        assert same.returncode == 0 and "nothing changed for callers" in same.stderr
        changed = vespe("tool", "diff", str(other), *words, "--login", "notes", cwd=project)
        assert (changed.returncode, changed.stderr) == (
            1,
            "vespe: 0 breaking, 0 unknown, 1 compatible\n",
        )
        assert "t0ken-of-a-kit" not in json.dumps(resource.seen)


def test_what_is_no_recording_or_no_server_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{}", encoding="utf-8")
    for words, sentence in (
        (("bad.jsonl", "--", "true"), "is not a recording of an MCP server"),
        (("bad.jsonl", "--"), "say which recording to compare a server with"),
        (("--", "true"), "say which recording to compare a server with"),
        (("a", "b", "--secret", "X"), "--secret is for the server after --"),
    ):
        done = vespe("tool", "diff", *words, cwd=tmp_path)
        assert done.returncode != 0 and sentence in " ".join(done.stderr.split()), done
    recorded(tmp_path / "s.jsonl", ("tools/list", {}, {"tools": [ECHO]}))
    gone = vespe("tool", "diff", "s.jsonl", "--", "no-such-program-here", cwd=tmp_path)
    assert gone.returncode == 1 and "no-such-program-here" in gone.stderr
    unset = vespe("tool", "diff", "s.jsonl", "--secret", "NOT_SET", "--", "true", cwd=tmp_path)
    assert unset.returncode == 6 and "NOT_SET" in unset.stderr
