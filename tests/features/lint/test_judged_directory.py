"""What lint keeps of large directories: believed while all that it rests on is as it was, and never
else.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.installs import copy_package
from tests.support.ondisk import write_kit, write_tool
from vespe.features.lint import judged_directory
from vespe.features.lint.audit import Audit
from vespe.features.lint.findings import Finding
from vespe.features.lint.judged_directory import ALL, About, JudgedDirectory
from vespe.features.lint.kept import row_of
from vespe.features.lint.settings import Settings
from vespe.projects import user_config
from vespe.projects.init import found_project
from vespe.tools.effects import FlowContext

SHELL = {"type": "shell_command", "entrypoint": "true", "args": {"argv": []}}
SCRIPT = "def main(a: int) -> int:\n    return a\n"
POISON = "nobody would say this"


def fill(tools: Path, number: int = 50) -> None:
    write_tool(
        tools / "tool-0000",
        "first_tool",
        implementation={"type": "python_script", "path": "main.py", "entrypoint": "main"},
        files={"main.py": SCRIPT},
        secret=["MISSPELT"],
    )
    for one in range(1, number):
        name = f"tool_{one:04d}"
        write_tool(tools / f"tool-{one:04d}", name, implementation=SHELL, secret=["MISSPELT"])


def settle() -> None:
    time.sleep(0.15)


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    found_project(tmp_path / "project")
    fill(tmp_path / "project/.vespe/tools")
    settle()
    return tmp_path / "project"


def lint(path: Path, *, keeps: bool = True, **settings: object) -> list[Finding]:
    run = Audit(Settings(**settings), keeps=keeps)  # type: ignore[arg-type]  # keys of Settings
    return list(run.findings([str(path)]))


def files(home: Path) -> list[Path]:
    return sorted((home / "cache/vespe/lint").iterdir())


def poison(home: Path) -> None:
    """Change every message that is kept, with its checksum, so that a test sees what is believed."""
    for path in files(home):
        *about, rows = json.loads(path.read_bytes().partition(b"\n")[2])
        for row in rows.values():
            for found in row[5] or () if row and isinstance(row[0], str) else ():
                found[3] = POISON
        write(path, json.dumps([*about, rows], separators=(",", ":")).encode())


def write(path: Path, body: bytes) -> None:
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def poisoned(findings: list[Finding], uid: str = "tool-0000") -> bool:
    messages = {finding.message for finding in findings if f"/{uid}/" in finding.path}
    assert messages
    return POISON in messages


def test_what_is_kept_says_what_was_found_and_is_not_looked_for_again(
    project: Path, home: Path
) -> None:
    first = lint(project)
    assert first == lint(project) == lint(project, keeps=False)
    poison(home)
    assert poisoned(lint(project))
    assert {oct(path.stat().st_mode & 0o777) for path in files(home)} == {"0o600"}


def _change_config(tool: Path) -> None:
    config = tool / "config.json"
    config.write_bytes(config.read_bytes() + b"\n")


def _change_script(tool: Path) -> None:
    (tool / "main.py").write_text(SCRIPT.replace("a", "b"), encoding="utf-8")


def _add_a_file(tool: Path) -> None:
    (tool / "notes.txt").write_text("AKIA", encoding="utf-8")


def _add_a_link(tool: Path) -> None:
    (tool / "notes.txt").symlink_to(tool.parent / "tool-0001/config.json")


def _take_a_file_out(tool: Path) -> None:
    (tool / "description.md").unlink()


def _make_it_executable(tool: Path) -> None:
    (tool / "main.py").chmod(0o755)


@pytest.mark.parametrize(
    "change",
    [
        _change_config,
        _change_script,
        _add_a_file,
        _add_a_link,
        _take_a_file_out,
        _make_it_executable,
    ],
)
def test_a_changed_tool_is_judged_again_and_the_others_are_not(
    change: Callable[[Path], None], project: Path, home: Path
) -> None:
    lint(project)
    poison(home)
    change(project / ".vespe/tools/tool-0000")
    found = lint(project)
    assert not poisoned(found) and poisoned(found, "tool-0001")


def test_a_program_that_is_not_on_path_any_more_is_told(project: Path, tmp_path: Path) -> None:
    def said(path: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "vespe", "lint", "--select", "layout-program"],
            cwd=project,
            env=os.environ | {"PATH": path},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout

    lint(project)
    assert "true" not in said(os.environ["PATH"])
    (tmp_path / "empty").mkdir()
    assert said(str(tmp_path / "empty")).count('"true" is not on PATH') == 49
    assert "true" not in said(os.environ["PATH"])


def test_a_stated_path_that_becomes_a_link_is_told(project: Path, tmp_path: Path) -> None:
    config = project / ".vespe/tools/tool-0001/config.json"
    stated = json.loads(config.read_bytes()) | {"permissions": {"read": ["data"]}}
    config.write_text(json.dumps(stated), encoding="utf-8")
    (project / "data").mkdir()
    settle()
    assert "safety-links" not in {finding.rule for finding in lint(project)}
    (project / "data").rmdir()
    (project / "data").symlink_to(tmp_path)
    assert "safety-links" in {finding.rule for finding in lint(project)}


def test_what_a_tool_was_made_from_is_looked_at_each_time(project: Path) -> None:
    config = project / ".vespe/tools/tool-0000/config.json"
    origin = {"path": "calc.py", "sha256": hashlib.sha256(SCRIPT.encode()).hexdigest()}
    document = json.loads(config.read_bytes()) | {"created_from": origin}
    config.write_text(json.dumps(document), encoding="utf-8")
    (project / "calc.py").write_text(SCRIPT, encoding="utf-8")
    settle()
    assert "signature-origin" not in {finding.rule for finding in lint(project)}
    (project / "calc.py").write_text("def main(a): ...\n", encoding="utf-8")
    assert "signature-origin" in {finding.rule for finding in lint(project)}


def test_the_limits_of_a_kit_are_part_of_what_it_rests_on(home: Path, tmp_path: Path) -> None:
    kit = write_kit(tmp_path, "web")
    fill(kit)
    settle()
    assert "layout-kit-limits" not in {finding.rule for finding in lint(kit)}
    limited = json.loads((kit / "kit_config.json").read_bytes()) | {"allow_types": ["http_request"]}
    (kit / "kit_config.json").write_text(json.dumps(limited), encoding="utf-8")
    assert "layout-kit-limits" in {finding.rule for finding in lint(kit)}


@pytest.mark.parametrize("how", ["open to others", "another checksum", "not JSON", "odd rows"])
def test_a_file_that_another_could_have_written_is_not_believed(
    how: str, project: Path, home: Path
) -> None:
    honest = lint(project)
    poison(home)
    for path in files(home):
        if how == "open to others":
            path.chmod(0o644)
        elif how == "another checksum":
            path.write_bytes(b"0" + path.read_bytes())
        elif how == "not JSON":
            write(path, b"[")
        else:
            *about, rows = json.loads(path.read_bytes().partition(b"\n")[2])
            cut = {uid: row[:1] for uid, row in rows.items()}
            write(path, json.dumps([*about, cut], separators=(",", ":")).encode())
    assert lint(project) == honest


def test_what_was_kept_for_another_directory_is_not_believed(
    project: Path, home: Path, tmp_path: Path
) -> None:
    lint(project)
    poison(home)
    own = {path: path.read_bytes() for path in files(home)}
    shutil.copytree(project, tmp_path / "copy")
    settle()
    copied = lint(tmp_path / "copy")
    assert not poisoned(copied)
    for path in set(files(home)) - own.keys():
        path.write_bytes(max(own.values(), key=lambda data: data.count(POISON.encode())))
    assert lint(tmp_path / "copy") == copied


def test_other_code_judges_anew(project: Path, home: Path, tmp_path: Path) -> None:
    copy_package(tmp_path / "other")
    rule = tmp_path / "other/vespe/features/lint/rules/layout.py"
    lint(project)
    rule.write_text(
        rule.read_text(encoding="utf-8").replace("is not on PATH here", "is nowhere"),
        encoding="utf-8",
    )
    told = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from vespe.__main__ import main; main()"
    )
    poison(home)
    done = subprocess.run(
        [sys.executable, "-c", told, str(tmp_path / "other"), "lint"],
        cwd=project,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout and POISON not in done.stdout


def test_some_rules_alone_are_answered_from_what_all_found_and_keep_nothing(
    project: Path, home: Path
) -> None:
    assert lint(project, select=("layout-unknown-key",))
    assert not (home / "cache/vespe/lint").exists()
    lint(project)
    poison(home)
    assert {one.message for one in lint(project, select=("layout-unknown-key",))} == {POISON}
    assert lint(project, select=("naming",), keeps=False) == lint(project, select=("naming",))


def test_settings_choose_from_what_is_kept(project: Path) -> None:
    first = lint(project)
    codes = {finding.rule for finding in first}
    code = sorted(codes)[0]
    config = project / ".vespe/config.json"
    document = json.loads(config.read_bytes()) | {"lint": {"ignore": {code: "for this test"}}}
    config.write_text(json.dumps(document), encoding="utf-8")
    assert {finding.rule for finding in lint(project)} == codes - {code}
    assert lint(project, least="error") == lint(project, least="error", keeps=False)


def test_the_users_own_hosts_decide_anew(project: Path, home: Path) -> None:
    for number in (1, 2):
        config = project / f".vespe/tools/tool-{number:04d}/config.json"
        request = {"type": "http_request", "path": "https://a.example/x", "entrypoint": "GET"}
        document = json.loads(config.read_bytes()) | {"implementation_details": request}
        config.write_text(json.dumps(document), encoding="utf-8")
    settle()
    lint(project)
    user_config.config_path()
    path = Path(user_config.config_path())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"approvals": {"own_hosts": ["a.example"]}}), encoding="utf-8")
    assert lint(project) == lint(project, keeps=False)


def test_a_few_tools_keep_nothing(home: Path, tmp_path: Path) -> None:
    found_project(tmp_path / "small")
    fill(tmp_path / "small/.vespe/tools", 5)
    lint(tmp_path / "small")
    assert not (home / "cache/vespe/lint").exists()


def test_a_cache_that_cannot_be_written_costs_time_alone(project: Path, home: Path) -> None:
    (home / "cache").write_text("in the way", encoding="utf-8")
    assert lint(project) == lint(project, keeps=False)


def test_another_process_judges_its_part_like_this_one(home: Path, tmp_path: Path) -> None:
    fill(tmp_path / "tools", 60)
    settle()
    about = About(
        directory=str(tmp_path / "tools"), kit_id=None, scope="project_tools", around=FlowContext()
    )
    uids = [f"tool-{one:04d}" for one in range(60)]
    helper = judged_directory._Helper(about, uids)
    rows = helper.rows()
    assert list(rows) == uids and helper.rows() == {}
    here = JudgedDirectory(about, uids, rules=ALL, is_kept=True)
    for uid in uids:
        judgement, digest = here.of(uid, linted=True)
        assert json.loads(json.dumps(row_of(judgement, digest))) == rows[uid]


def test_no_file_of_what_is_linted_is_imported_by_the_other_process(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "tools", 2)
    for module in ("difflib", "json", "vespe"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('run')\n", encoding="utf-8")
    settle()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    about = About(directory="tools", kit_id=None, scope="project_tools", around=FlowContext())
    assert list(judged_directory._Helper(about, ["tool-0001"]).rows()) == ["tool-0001"]


def test_very_many_are_judged_as_few_are(home: Path, tmp_path: Path) -> None:
    found_project(tmp_path / "large")
    fill(tmp_path / "large/.vespe/tools", 820)
    settle()
    assert lint(tmp_path / "large") == lint(tmp_path / "large", keeps=False)
    assert lint(tmp_path / "large") == lint(tmp_path / "large", keeps=False)
