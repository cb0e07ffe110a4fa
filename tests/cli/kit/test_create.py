"""`vespe kit create`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import gitrepo
from tests.support.terminal import plain, vespe_on_a_terminal

Command = Callable[..., Any]


def test_a_new_kit_has_one_tool_that_runs(command: Command) -> None:
    made = command("kit", "create", "team_tools", "--json").document
    assert command("kit", "activate", "team_tools").code == 0
    assert command("tool", "run", made["tool"]["name"]).code == 0


def test_a_kit_made_elsewhere_says_how_projects_find_it(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = plain(vespe_on_a_terminal("kit", "create", "team_tools", "--in", "kits", cwd=project))
    told = " ".join(shown.split())
    assert "next: `vespe kit link kits/team_tools` makes it available" in told
    assert f"add {project / 'kits'} to VESPE_KITS_PATH" in told
    monkeypatch.setenv("VESPE_KITS_PATH", str(project / "kits"))
    assert command("kit", "activate", "team_tools").code == 0


@pytest.mark.parametrize("kit_id", ["Team", "../team", "a" * 65, "project_tools"])
def test_what_can_be_no_kits_id_is_a_usage_error(command: Command, kit_id: str) -> None:
    assert command("kit", "create", kit_id).code == 2


def test_a_kit_with_git_is_committed_in_a_repository_of_its_own(
    command: Command, home: Path, tmp_path: Path
) -> None:
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = trunk\n",
        encoding="utf-8",
    )
    made = command("kit", "create", "tea", "--in", str(tmp_path), "--git", "--json").document
    kit = tmp_path / "tea"
    assert gitrepo.git(kit, "rev-parse", "HEAD").strip() == made["commit"]
    assert gitrepo.git(kit, "log", "--format=%an %s").strip() == "Ada First version"
    assert gitrepo.git(kit, "branch", "--show-current").strip() == "trunk"
    assert gitrepo.git(kit, "status", "--porcelain") == ""


def test_nothing_is_left_of_a_kit_that_git_did_not_commit(
    command: Command, home: Path, tmp_path: Path
) -> None:
    nameless = command("kit", "create", "tea", "--in", str(tmp_path / "a"), "--git")
    assert nameless.code == 6 and "git does not know who you are" in nameless.err
    hooks = home / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\necho too late; exit 1\n", encoding="utf-8")
    (hooks / "pre-commit").chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[user]\n\tname = Ada\n\temail = a@b.invalid\n[core]\n\thooksPath = {hooks}\n",
        encoding="utf-8",
    )
    refused = command("kit", "create", "tea", "--in", str(tmp_path / "a"), "--git")
    assert refused.code == 1 and "git will run the hook" in refused.err
    assert "git commit failed: too late" in refused.err
    assert list((tmp_path / "a").glob("tea*")) == []
