"""`vespe kit create`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def test_a_new_kit_has_one_tool_that_runs(command: Command) -> None:
    made = command("kit", "create", "team_tools", "--json").document
    assert command("kit", "activate", "team_tools").code == 0
    assert command("tool", "run", made["tool"]["name"]).code == 0


def test_a_kit_made_elsewhere_says_how_projects_find_it(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = command("kit", "create", "team_tools", "--in", str(tmp_path / "kits"))
    assert f"VESPE_KITS_PATH={tmp_path / 'kits'}" in said.err
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    assert command("kit", "activate", "team_tools").code == 0


@pytest.mark.parametrize("kit_id", ["Team", "../team", "a" * 65, "project_tools"])
def test_what_can_be_no_kits_id_is_a_usage_error(command: Command, kit_id: str) -> None:
    assert command("kit", "create", kit_id).code == 2
