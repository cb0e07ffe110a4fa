"""`vespe kit release`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.features.releases.released import changed, hook, kit_in_git, shorten, state
from tests.support import gitrepo
from vespe import defaults

Command = Callable[..., Any]


@pytest.fixture
def kit(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(defaults.ENV_KITS_PATH, "")  # which a release of this process changes
    return kit_in_git(tmp_path / "mine")


def test_releases_follow_one_another_and_nothing_is_pushed(kit: Path, command: Command) -> None:
    first = command("kit", "release", str(kit))
    assert first.code == 0 and "released words v0.1.0 on main (commit " in first.err
    assert "`git push --atomic REMOTE main v0.1.0` publishes it" in first.err
    changed(kit, shorten)
    hook(kit, "pre-commit", f"grep -q 0.2.0 {kit}/kit_config.json")
    before = state(kit)
    dry = command("kit", "release", str(kit), "--dry-run", "--json").document
    assert state(kit) == before
    assert dry["commit"] is None and dry["dry_run"] is True
    assert dry["programs"] == ["the hook .git/hooks/pre-commit"]
    done = command("kit", "release", str(kit), "--json")
    said = done.document
    assert "git will run the hook .git/hooks/pre-commit" in done.err
    assert (said["previous"], said["version"], said["tag"]) == ("0.1.0", "0.2.0", "v0.2.0")
    assert said["needed"] == "minor" and said["tools"][0]["verdict"] == "breaking"
    assert said["tools"][0]["changes"][0]["example"] == {"text": "aaaa"}
    assert said["commit"] == gitrepo.git(kit, "rev-parse", "v0.2.0^{commit}")
    assert json.loads((kit / "kit_config.json").read_text(encoding="utf-8"))["version"] == "0.2.0"
    log = (kit / "CHANGELOG.md").read_text(encoding="utf-8")
    assert log.index("## 0.2.0 (") < log.index("## 0.1.0 (")
    again = command("kit", "release", str(kit))
    assert again.code == 6 and "nothing changed in this kit since v0.2.0" in again.err


def test_an_example_that_fails_and_an_error_of_lint_release_nothing(
    kit: Path, command: Command
) -> None:
    changed(kit, lambda document: document["examples"][0].update(output_pattern="^never$"))
    before = state(kit)
    failed = command("kit", "release", str(kit))
    assert failed.code == 1 and "/examples/0/output_pattern" in failed.err
    assert "0 examples passed and 1 failed, and nothing is released" in failed.err
    assert state(kit) == before
    changed(kit, lambda document: document.update(name="not a name"))
    wrong = command("kit", "release", str(kit))
    assert wrong.code == 1 and "config.json" in wrong.err and "nothing is released" in wrong.err


def test_what_is_judged_is_what_is_committed_and_not_what_git_ignores(
    kit: Path, command: Command, tmp_path: Path
) -> None:
    (kit / "tool-say/run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (kit / "tool-say/run.sh").chmod(0o755)
    details = {"type": "shell_command", "path": "run.sh", "args": {"args": []}}
    (kit / ".gitignore").write_text("run.sh\n", encoding="utf-8")
    changed(kit, lambda document: document.update(implementation_details=details))
    before = state(kit)
    missing = command("kit", "release", str(kit))
    assert missing.code == 1 and "nothing is released" in missing.err and "run.sh" in missing.err
    assert state(kit) == before
    (kit / ".gitignore").unlink()
    gitrepo.commit(kit)
    gitrepo.git(kit, "update-index", "--assume-unchanged", "tool-say/run.sh")
    (kit / "tool-say/run.sh").write_text("exit 1\n", encoding="utf-8")
    done = command("kit", "release", str(kit))
    assert done.code == 0, done.err
    assert gitrepo.git(kit, "show", "v0.1.0:tool-say/run.sh") == "#!/bin/sh"
    assert not list((tmp_path / "home").rglob("kit-projects/*"))


def test_a_breaking_change_is_shown_and_a_smaller_step_refused(kit: Path, command: Command) -> None:
    gitrepo.git(kit, "tag", "v1.0.0")
    changed(kit, shorten)
    small = command("kit", "release", str(kit), "--bump", "minor")
    assert small.code == 6 and 'callers may send {"text": "aaaa"}' in small.err
    assert "`vespe kit release --bump major` releases 2.0.0" in small.err
    shown = command("kit", "release", str(kit), "--bump", "major", "--dry-run")
    assert shown.code == 0 and '{"text":"aaaa"}' in shown.out
    assert "would release words v2.0.0 on main; nothing was changed" in shown.err


def test_what_is_no_kit_and_no_repository_is_a_sentence(
    kit: Path, command: Command, tmp_path: Path
) -> None:
    assert command("kit", "release", str(tmp_path)).code == 2
    (kit / ".git").rename(tmp_path / "git")
    none = command("kit", "release", str(kit))
    assert none.code == 1 and "is not in the working tree of a git repository" in none.err
    assert "`git init` in the kit's directory" in none.err and "file_io" not in none.err


def test_errors_name_the_kit_itself_and_not_the_copy_that_is_checked(
    kit: Path, command: Command
) -> None:
    place = str(kit / "tool-say")
    (kit / "tool-say/run.sh").write_text("#!/bin/sh\necho $0 >&2; exit 3\n", encoding="utf-8")
    (kit / "tool-say/run.sh").chmod(0o755)
    details = {"type": "shell_command", "path": "run.sh", "args": {"args": []}}
    changed(kit, lambda document: document.update(implementation_details=details))
    failed = command("kit", "release", str(kit))
    assert failed.code == 1 and "nothing is released" in failed.err
    assert f"{place}/run.sh" in failed.err
    assert "vespe-revision-" not in failed.err
    (kit / "tool-say/config.json").write_text("{", encoding="utf-8")
    gitrepo.commit(kit)
    broken = command("kit", "release", str(kit))
    assert broken.code != 0 and f"{place}/config.json" in broken.err
    assert "vespe-revision-" not in broken.err
    told = command("kit", "release", str(kit), "--json")
    assert "vespe-revision-" not in told.out + told.err


def test_a_kit_that_the_last_commit_does_not_contain_is_refused(
    kit: Path, command: Command
) -> None:
    (kit / "new").mkdir()
    (kit / "new/kit_config.json").write_text('{"kit_id": "new"}', encoding="utf-8")
    (kit / ".gitignore").write_text("/new/\n", encoding="utf-8")
    gitrepo.commit(kit)
    done = command("kit", "release", str(kit / "new"))
    assert done.code == 6, done.err
    assert f"error: the last commit does not contain {kit / 'new'}" in done.err
    assert "hint: commit it (is it in .gitignore?)" in done.err
    assert "HEAD:./" not in done.err
