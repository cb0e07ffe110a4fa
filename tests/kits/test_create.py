"""A new kit: whole or not at all."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.ondisk import vespe
from vespe.documents import safe_yaml
from vespe.errors import StorageError, UsageError
from vespe.kits import roots
from vespe.kits.create import WORKFLOW, found_kit


def test_a_new_kit_is_found_and_holds_what_a_repository_needs(home: Path) -> None:
    path, tool = found_kit(home / "data/vespe/kits", "brand_new", description="What it is for.")
    kit = roots.find_kit("brand_new")
    assert (kit.path, kit.problem, kit.name, kit.description) == (
        path,
        None,
        "Brand new",
        "What it is for.",
    )
    assert sorted(os.listdir(path)) == [
        ".github",
        ".gitignore",
        "README.md",
        "kit_config.json",
        tool.uid,
    ]
    assert os.listdir(home / "data/vespe/kits") == ["brand_new"]


def test_a_taken_id_is_refused_and_nothing_is_left(home: Path, tmp_path: Path) -> None:
    found_kit(tmp_path / "k", "mine", description="First.")
    with pytest.raises(UsageError, match="already"):
        found_kit(tmp_path / "k", "mine")
    config = json.loads((tmp_path / "k/mine/kit_config.json").read_text(encoding="utf-8"))
    assert config["description"] == "First." and os.listdir(tmp_path / "k") == ["mine"]


@pytest.mark.parametrize("kit_id", ["", "../x", "Upper", "active_kits", "a\n"])
def test_p13_a_new_kit_needs_an_id_that_is_one(tmp_path: Path, kit_id: str) -> None:
    with pytest.raises(UsageError, match="not a valid kit id"):
        found_kit(tmp_path / "k", kit_id)
    assert not (tmp_path / "k").exists()


def test_an_id_that_is_nearly_one_is_told_the_one_that_it_could_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        found_kit(tmp_path, "My-Kit")
    assert caught.value.hint == "call it my_kit" and found_kit(tmp_path, "my_kit")


def test_a_kit_where_nothing_can_be_written_is_a_sentence() -> None:
    with pytest.raises(StorageError, match="cannot make"):
        found_kit("/dev/null/kits", "mine")


def test_what_a_killed_one_left_goes_and_nothing_else(home: Path, tmp_path: Path) -> None:
    (tmp_path / f"k/.vespe-{'0' * 24}.tmp/tool-a").mkdir(parents=True)
    (tmp_path / "k/.mine.tmp").mkdir()
    found_kit(tmp_path / "k", "other")
    assert sorted(os.listdir(tmp_path / "k")) == [".mine.tmp", "other"]


def test_the_workflow_installs_no_package_that_anybody_could_own(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip").write_text('#!/bin/sh\necho "$2"\n', encoding="utf-8")
    (tmp_path / "pip").chmod(0o755)
    seen = {}
    for kit_id, said in (("unknown", ""), ("known", "vespe @ git+https://h/v@" + "a" * 40)):
        monkeypatch.setenv("VESPE_INSTALL", said)
        path, _ = found_kit(tmp_path, kit_id)
        text = (Path(path) / WORKFLOW).read_text(encoding="utf-8")
        job = safe_yaml.parse_yaml(text.encode("utf-8"))["jobs"]["check"]
        step = next(step["run"] for step in job["steps"] if "pip" in step.get("run", ""))
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin", **job["env"]}
        done = subprocess.run(
            ["bash", "-c", step], env=env, capture_output=True, encoding="utf-8", check=False
        )
        seen[kit_id] = (done.returncode, done.stdout.strip(), done.stderr)
        assert "vespe==" not in text
    assert seen["known"][:2] == (0, "vespe @ git+https://h/v@" + "a" * 40)
    assert seen["unknown"][0] != 0 and "fill it in above" in seen["unknown"][2]


def test_the_workflow_of_a_new_kit_does_what_it_says(home: Path, tmp_path: Path) -> None:
    path, _ = found_kit(tmp_path, "team_tools")
    workflow = safe_yaml.parse_yaml((Path(path) / WORKFLOW).read_bytes())
    runs = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert runs.pop(0).startswith("pip install ") and len(runs) == 5
    for line in runs:
        program, *arguments = line.split()
        done = vespe(*arguments, cwd=tmp_path)
        assert program == "vespe" and done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    assert "1 passed" in done.stdout + done.stderr


def test_a_new_kit_leaves_nothing_behind_for_git_to_see(home: Path, tmp_path: Path) -> None:
    path, tool = found_kit(tmp_path, "team_tools")
    (Path(path) / tool.uid / "__pycache__").mkdir()
    (Path(path) / tool.uid / "__pycache__/x.pyc").write_bytes(b"")
    subprocess.run(["git", "init", "-q", path], check=True)
    done = subprocess.run(
        ["git", "-C", path, "add", "-An", "."],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert len(done.stdout.splitlines()) == 7
