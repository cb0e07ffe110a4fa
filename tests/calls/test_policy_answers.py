"""Answers that hold for a project."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool
from vespe import Project
from vespe.calls import policy_answers
from vespe.calls.policy_answers import KeptAnswer
from vespe.errors import InvalidDocument
from vespe.models import Tool

ANSWER = KeptAnswer(tool="project_tools/greet", allowed=True, digest="v1:x")


@pytest.fixture
def greet(project: Path) -> Tool:
    python_tool(project / ".vespe/tools/tool-greet", "greet", "return 1")
    return Project(project).load_tool("greet")


def test_an_answer_is_kept_privately_outside_the_project_and_found_again(
    project: Path, home: Path
) -> None:
    before = sorted(project.rglob("*"))
    policy_answers.keep(str(project), ANSWER)
    policy_answers.keep(str(project), ANSWER)
    assert policy_answers.load(str(project)) == (ANSWER,) and sorted(project.rglob("*")) == before
    (file,) = (home / "state").rglob("answers/*.json")
    assert file.stat().st_mode & 0o077 == 0


def test_an_answer_is_the_projects_where_it_was_given_and_no_other_ones(
    project: Path, tmp_path: Path
) -> None:
    policy_answers.keep(str(project), ANSWER)
    (tmp_path / "other").mkdir()
    assert policy_answers.load(Project.init(tmp_path / "other").root) == ()
    moved = project.rename(tmp_path / "moved")
    assert policy_answers.load(str(moved)) == (ANSWER,)


def test_a_file_that_others_can_read_or_that_is_damaged_grants_nothing(
    project: Path, home: Path
) -> None:
    policy_answers.keep(str(project), ANSWER)
    (file,) = (home / "state").rglob("answers/*.json")
    file.chmod(0o644)
    assert policy_answers.load(str(project)) == ()
    file.write_text("{", encoding="utf-8")
    file.chmod(0o600)
    assert policy_answers.load(str(project)) == ()


def test_forgetting_takes_one_tools_answers_or_all(project: Path) -> None:
    other = replace(ANSWER, tool="files/write")
    for answer in (ANSWER, other):
        policy_answers.keep(str(project), answer)
    assert policy_answers.forget(str(project), "greet") == (ANSWER,) and policy_answers.load(
        str(project)
    ) == (other,)
    assert (
        policy_answers.forget(str(project)) == (other,)
        and policy_answers.forget(str(project)) == ()
    )


def test_no_answer_can_be_kept_where_there_is_no_project(tmp_path: Path, home: Path) -> None:
    with pytest.raises(InvalidDocument, match="is not a project"):
        policy_answers.keep(str(tmp_path), ANSWER)


def test_the_digest_is_the_directorys_and_without_one_the_definitions(greet: Tool) -> None:
    before = policy_answers.digest_of(greet)
    assert policy_answers.digest_of(greet) == before != ""
    assert greet.directory is not None
    Path(greet.directory, "main.py").write_text("def greet():\n    return 2\n", encoding="utf-8")
    assert policy_answers.digest_of(greet) != before
    plain = replace(greet, directory=None)
    assert policy_answers.digest_of(plain) != policy_answers.digest_of(
        replace(plain, description="another")
    )
    os.symlink("/etc/passwd", Path(greet.directory, "odd"))
    assert policy_answers.digest_of(greet) == ""
