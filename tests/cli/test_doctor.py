"""`vespe doctor`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_tool

Command = Callable[..., Any]


def test_a_working_installation_has_nothing_failed(command: Command) -> None:
    said = command("doctor", "--json")
    checks = {check["about"]: check["state"] for check in said.document["checks"]}
    assert said.code == 0 and "failed" not in checks.values()
    assert (checks["processes"], checks["trust"], checks["kits"]) == ("ok", "ok", "ok")


def test_p16_what_python_would_import_from_the_working_directory_is_a_warning(
    project: Path,
) -> None:
    def about(*flags: str, **environment: str) -> dict[str, str]:
        argv = [sys.executable, *flags, "-m", "vespe", "doctor", "--json"]
        said = subprocess.run(
            argv,
            cwd=project,
            env=os.environ | environment,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return {check["about"]: check["state"] for check in json.loads(said.stdout)["checks"]}

    assert about()["imports"] == about("-P", PYTHONPATH=":/nowhere")["imports"] == "warning"
    assert "imports" not in about("-P") and "imports" not in about("-I", PYTHONPATH=":/nowhere")


def test_a_root_of_kits_that_is_passed_over_is_a_warning_that_says_why(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VESPE_KITS_PATH", f"kits{os.pathsep}/nowhere{os.pathsep}")
    warned = [
        check["message"]
        for check in command("doctor", "--json").document["checks"]
        if check["about"] == "kits"
    ][1:]
    assert len(warned) == 1 and "'kits'" in warned[0] and "relative" in warned[0]


def test_a_broken_tool_is_a_warning_that_names_it(command: Command, project: Path) -> None:
    (project / ".vespe/tools/tool-broken").mkdir()
    (project / ".vespe/tools/tool-broken/config.json").write_text("{", encoding="utf-8")
    said = command("doctor")
    assert said.code == 0 and "warning  tool tool-broken" in said.out


def test_a_configuration_that_cannot_be_read_stops_every_call(
    command: Command, project: Path
) -> None:
    (project / ".vespe/config.json").write_text('{"active_kits": "alpha"}', encoding="utf-8")
    said = command("doctor")
    assert said.code == 1 and "failed" in said.out and "active_kits" in said.out


def test_a_wrong_setting_of_the_user_is_one_row_with_the_command_that_repairs_it(
    command: Command, home: Path
) -> None:
    file = home / "config/vespe/config.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"agent": {"tools_mode": "bridg", "model": "m"}}', encoding="utf-8")
    said = command("doctor", "--json")
    assert said.code == 1
    [row] = [one for one in said.document["checks"] if one["state"] == "failed"]
    assert "at /agent/tools_mode (did you mean bridge? `vespe config set" in row["message"]
    assert command("config", "set", "agent.tools_mode", "bridge").code == 0
    assert command("config", "get", "agent.model").out == "m\n"
    assert command("doctor").code == 0


def test_outside_a_project_the_installation_alone_is_checked(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    said = command("doctor")
    assert said.code == 0 and "none here" in said.out


def test_a_projects_tool_that_takes_an_allowed_name_is_told_which_rule_it_gets(
    command: Command, project: Path
) -> None:
    write_tool(
        project / ".vespe/tools/tool-w",
        "write_file",
        implementation={"type": "shell_command", "entrypoint": "true", "args": {"argv": []}},
    )
    command("config", "set", "approvals.allow", '["write_file"]')
    assert "'write_file' is about kits' tools" in command("doctor").out
    command("config", "set", "approvals.allow", '["project_tools/write_file"]')
    assert "is about kits' tools" not in command("doctor").out


def test_a_tool_that_states_a_link_out_of_the_project_is_told(
    command: Command, project: Path, tmp_path: Path
) -> None:
    (project / "docs").mkdir()
    (project / "within").symlink_to("docs")
    (project / "data").symlink_to(tmp_path / "elsewhere")
    python_tool(
        project / ".vespe/tools/tool-a", "a", "return 1", permissions={"read": ["within", "data"]}
    )
    (told,) = [
        one["message"]
        for one in command("doctor", "--json").document["checks"]
        if one["about"] == "tool a"
    ]
    assert f"states data, which is a link to {tmp_path}/elsewhere: it has no effect" in told
