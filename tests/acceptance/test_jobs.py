"""Jobs without a bound of time: which there are, and what is kept of one."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance import jobs
from tests.support.ondisk import PATIENCE_S


def asked(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.acceptance.jobs", *words],
        cwd=jobs.ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )


def test_the_jobs_are_listed_and_another_name_is_a_usage_error() -> None:
    said = asked("--list")
    assert said.returncode == 0
    assert [line.split()[0] for line in said.stdout.splitlines()] == list(jobs.JOBS)
    wrong = asked("nothing")
    assert wrong.returncode == 2 and "there is no job 'nothing'" in wrong.stderr


def test_every_job_is_a_module_that_is_there_and_on_the_page_of_the_tiers() -> None:
    page = (jobs.ROOT / "docs/contributing.md").read_text(encoding="utf-8")
    for name, (_, (module, *_)) in jobs.JOBS.items():
        assert importlib.util.find_spec(module) is not None
        assert f"`{name}`" in page


@pytest.mark.parametrize(
    ("program", "succeeded", "result"),
    [
        ("print('{\"points\": 3}')", True, {"points": 3}),
        ("print('one'); print('two'); raise SystemExit(1)", False, ["one", "two"]),
    ],
    ids=["json", "lines"],
)
def test_what_a_job_found_is_kept_with_its_command_commit_and_date(
    program: str,
    succeeded: bool,
    result: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "tried.py").write_text(program, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setitem(jobs.JOBS, "tried", ("a try", ("tried", "--json")))
    assert jobs.done("tried", tmp_path / "figures") is succeeded
    kept = json.loads((tmp_path / "figures/tried.json").read_text(encoding="utf-8"))
    assert kept["result"] == result and kept["exit"] == (not succeeded)
    assert kept["command"] == "python -m tried --json" and kept["name"] == "tried"
    assert kept["date"].endswith("+00:00") and kept["commit"] and kept["seconds"] >= 0


def test_figures_that_were_kept_before_are_no_change_of_what_is_tried(tmp_path: Path) -> None:
    figure, source = tmp_path / "docs/figures/a.json", tmp_path / "a.py"
    figure.parent.mkdir(parents=True)
    figure.touch()
    source.touch()
    named = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for words in (("init", "-q"), ("add", "."), (*named, "commit", "-qm", "first")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    figure.write_text("{}", encoding="utf-8")
    tried = jobs.commit(tmp_path)
    assert len(tried) == 40
    source.write_text("x", encoding="utf-8")
    assert jobs.commit(tmp_path) == f"{tried}, with changes"
