"""`vespe connect`: the entry is portable, the server is started as the client would, and the next
step is said.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool

Command = Callable[..., Any]
BIN = os.path.dirname(os.path.abspath(sys.executable))


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def stocked(project: Path) -> Path:
    python_tool(project / ".vespe/tools/tool-mine", "mine", "return 1")
    return project


def test_the_server_is_checked_with_what_every_client_passes_on_and_the_entry_has_the_rest(
    command: Command, stocked: Path, home: Path
) -> None:
    config = home / ".codex/config.toml"
    config.parent.mkdir()
    said = command("connect", "codex", "--json")
    check, entry = said.document["check"], said.document["entry"]
    assert (said.code, check["tools"], check["needs"]) == (0, ["mine"], [])
    assert entry["env"]["XDG_STATE_HOME"] == os.environ["XDG_STATE_HOME"]
    written = tomllib.loads(config.read_text(encoding="utf-8"))["mcp_servers"]["vespe-project"]
    assert written == entry
    bare = {"HOME": str(home), "PATH": os.environ["PATH"], **entry["env"]}
    asked = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n'
    argv = [entry["command"], *entry["args"]]
    done = subprocess.run(
        argv, env=bare, input=asked, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert '"name":"mine"' in done.stdout.replace(" ", "")
    config.write_text(
        config.read_text(encoding="utf-8").replace("env = {", 'env = { KEY = "mine",'),
        encoding="utf-8",
    )
    again = command("connect", "codex", "--json")
    assert again.document["entry"]["env"] == {"KEY": "mine", **entry["env"]}
    assert not again.document["changed"], "what a person added stays"


def test_what_a_shared_entry_cannot_say_is_told(
    command: Command, stocked: Path, on_path: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = command("connect", "claude-code")
    assert said.code == 0 and "if Claude Code passes on XDG_CACHE_HOME" in said.err
    assert "XDG" not in (stocked / ".mcp.json").read_text(encoding="utf-8")
    absolute = command("connect", "claude-code", "--absolute", "--json")
    assert absolute.document["check"]["needs"] == []
    monkeypatch.setenv("XDG_STATE_HOME", str(stocked / "fresh"))
    monkeypatch.setenv("VESPE_TRUSTED_PATHS", str(stocked))
    granted = command("connect", "claude-code", "--absolute")
    assert granted.code == 0 and "`vespe trust` trusts this project" in granted.err


@pytest.mark.parametrize(
    ("client", "file"),
    [("claude-code", ".mcp.json"), ("cursor", ".cursor/mcp.json"), ("vscode", ".vscode/mcp.json")],
)
def test_a_file_that_a_team_commits_has_no_path_of_this_machine(
    client: str, file: str, command: Command, stocked: Path, on_path: None
) -> None:
    said = command("connect", client)
    text = (stocked / file).read_text(encoding="utf-8")
    assert (
        said.code == 0
        and "safe to commit" in said.err
        and str(stocked) not in text
        and BIN not in text
    )
    assert (
        "checked: 1 tool in" in said.err
        and "(mine)" in said.err
        and said.err.splitlines()[-1].startswith("next: ")
    )


def test_a_tool_that_only_some_clients_see_is_named(command: Command, stocked: Path) -> None:
    python_tool(stocked / ".vespe/tools/tool-sent", "sent", "return 1")
    assert command("config", "set", "approvals.ask", '["sent"]').code == 0
    said = command("connect", "codex")
    assert "checked: 1 tool in" in said.err and "(mine)" in said.err
    assert "only for clients that can ask you: sent (its calls need approval)" in said.err
    check = command("connect", "codex", "--json").document["check"]
    assert (check["tools"], check["needs_asking"]) == (["mine"], ["sent"])


@pytest.mark.parametrize("client", ["claude-desktop", "codex", "zed"])
def test_a_file_of_the_users_own_has_absolute_paths(
    client: str, command: Command, stocked: Path, home: Path
) -> None:
    said = command("connect", client, "--json")
    entry = said.document["entry"]
    assert said.code == 0 and os.path.isabs(entry["command"]) and str(stocked) in entry["args"]
    assert (entry["args"][-2:] == ["--results", "bounded"]) is (client == "codex")
    assert said.document["check"]["tools"] == ["mine"] and said.document["path"].startswith(
        str(home)
    )


def test_absolute_paths_are_written_into_a_shared_file_where_they_are_asked_for(
    command: Command, stocked: Path
) -> None:
    assert command("connect", "claude-code", "--absolute").code == 0
    assert str(stocked) in (stocked / ".mcp.json").read_text(encoding="utf-8")


def test_a_program_that_is_not_on_the_path_is_found_out_at_once(
    command: Command, stocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if shutil.which("vespe"):
        pytest.skip("vespe is installed for every user of this machine")
    said = command("connect", "gemini")
    assert said.code == 1 and "cannot start the server" in said.err and "--absolute" in said.err


def test_the_servers_own_error_is_told_and_that_the_entry_was_written(
    command: Command, stocked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin/vespe"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.modules['pydantic_monty'] = None\n"
        "from vespe.__main__ import main\nmain()\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    said = command("connect", "claude-code", "--", "--tools-mode", "code")
    shown = " ".join(said.err.split())
    assert said.code == 1 and ".mcp.json" in shown
    assert "cannot start the server: running programs needs the extra vespe[code]" in shown
    assert "hint: install it with" in shown and "on the PATH" not in shown
    assert "`vespe mcp config claude-code --remove` removes it" in shown
    assert ".mcp.json and works once the extra is installed; `vespe mcp config" in shown
    again = command("connect", "claude-code", "--json", "--", "--tools-modes", "code")
    check = again.document["check"]
    assert check["why"] == "there is no option --tools-modes" and "--tools-mode" in check["hint"]


def test_the_entry_of_one_clone_serves_the_tools_of_another(
    command: Command, stocked: Path, on_path: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("connect", "claude-code").code == 0
    clone = tmp_path / "elsewhere"
    monkeypatch.setenv("VESPE_TRUSTED_PATHS", str(clone))
    shutil.copytree(stocked, clone)
    entry = next(
        iter(json.loads((clone / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"].values())
    )
    asked = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n'
    argv = [entry["command"], *entry["args"]]
    done = subprocess.run(
        argv, cwd=clone, input=asked, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert '"name":"mine"' in done.stdout.replace(" ", "")


@pytest.mark.parametrize("client", ["claude-code", "cursor"])
def test_a_link_that_leads_out_of_the_project_is_not_written_through(
    client: str, command: Command, stocked: Path, on_path: None, home: Path
) -> None:
    place, target = {"claude-code": ".mcp.json", "cursor": ".cursor"}[client], home / "theirs"
    target.mkdir()
    (target / "mcp.json").write_text("{}", encoding="utf-8")
    (stocked / place).symlink_to(target / "mcp.json" if client == "claude-code" else target)
    said = command("connect", client)
    assert (
        said.code
        and "leads out of the project" in said.err
        and (target / "mcp.json").read_text(encoding="utf-8") == "{}"
    )
    (stocked / place).unlink()
    assert (
        command("connect", client).code == 0
        and (target / "mcp.json").read_text(encoding="utf-8") == "{}"
    )


def test_connecting_twice_changes_nothing_and_removing_takes_the_entry_away(
    command: Command, stocked: Path, on_path: None
) -> None:
    assert command("connect", "claude-code").code == 0
    assert "nothing to change" in command("connect", "claude-code").err
    assert (
        command("mcp", "config", "claude-code", "--remove").code == 0
        and not (stocked / ".mcp.json").exists()
    )


@pytest.mark.parametrize("client", ["claude-code", "cursor"])
def test_connecting_again_without_options_keeps_those_of_the_entry_and_says_so(
    client: str, command: Command, stocked: Path, on_path: None
) -> None:
    first = command("connect", client, "--json", "--", "--tools-mode", "code", "--kit=k")
    again = command("connect", client, "--json")
    assert again.document["entry"] == first.document["entry"] and not again.document["changed"]
    assert "keeps `--tools-mode code --kit=k`" in again.err
    other = command("connect", client, "--json", "--", "--read-only")
    assert "--tools-mode" not in other.document["entry"]["args"] and "keeps" not in other.err
    assert command("mcp", "config", client, "--remove").code == 0
    fresh = command("connect", client, "--json")
    assert "--read-only" not in fresh.document["entry"]["args"] and "keeps" not in fresh.err


def test_options_that_lift_a_protection_are_not_kept_from_a_file_that_anyone_can_write(
    command: Command, stocked: Path, on_path: None
) -> None:
    weak = ["--trust", "--ask", "allow", "--http", "0.0.0.0:1", "--ask=allow", "--max-calls"]
    args = ["mcp", "serve", "--project", ".", "--ask", "deny", *weak]
    (stocked / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"vespe-project": {"command": "vespe", "args": args}}}),
        encoding="utf-8",
    )
    said = command("connect", "claude-code", "--json")
    assert said.code == 0 and said.document["entry"]["args"][-2:] == ["--ask", "deny"]
    assert not {*weak} - {"--ask"} & {*said.document["entry"]["args"]}
    assert "removed `--trust --ask allow --http 0.0.0.0:1 --ask=allow --max-calls`" in said.err


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini"])
def test_an_entry_of_the_users_own_holds_everywhere(
    client: str, command: Command, stocked: Path, on_path: None
) -> None:
    told = [
        command("connect", client, "--scope", scope).err.splitlines()[-1]
        for scope in ("project", "user")
    ]
    assert " here" in told[0] and "approve" not in told[1] and "in any directory" in told[1]


def test_a_project_without_tools_or_without_trust_has_that_for_its_next_step(
    command: Command, project: Path, on_path: None, tmp_path: Path
) -> None:
    assert "vespe tool create" in command("connect", "claude-code").err
    clone = tmp_path / "clone"
    python_tool(clone / ".vespe/tools/tool-odd", "odd", "return 1")
    (clone / ".vespe/config.json").write_text("{}", encoding="utf-8")
    said = command("connect", "claude-code", "--project", str(clone))
    assert said.code == 1 and "`vespe trust`" in said.err
