"""Which tests `./dev quick` runs: those that mirror what changed in a repository."""

import subprocess
from pathlib import Path

import pytest

from tests.support import changed


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name in (
        "vespe/tools/fields.py",
        "vespe/tools/__init__.py",
        "vespe/__main__.py",
        "tests/tools/test_fields.py",
        "tests/tools/test_fields_of_kits.py",
        "tests/tools/test_tools.py",
        "tests/test_main.py",
        "tests/kits/test_lock.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.com")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "more", "--allow-empty")


def chosen(root: Path, base: str = "HEAD") -> set[str]:
    return set(changed.tests_of(root, changed.changed_files(root, base))) - {changed.ALWAYS}


def test_a_changed_module_brings_its_own_tests_alone(repository: Path) -> None:
    (repository / "vespe/tools/fields.py").write_text("x = 1\n", encoding="utf-8")
    assert chosen(repository) == {
        "tests/tools/test_fields.py",
        "tests/tools/test_fields_of_kits.py",
    }


def test_packages_dunder_modules_and_new_files_have_their_tests_too(repository: Path) -> None:
    (repository / "vespe/tools/__init__.py").write_text('"""Tools."""\n', encoding="utf-8")
    (repository / "vespe/__main__.py").write_text("x = 1\n", encoding="utf-8")
    (repository / "tests/kits/test_new.py").write_text("", encoding="utf-8")
    assert chosen(repository) == {
        "tests/tools/test_tools.py",
        "tests/test_main.py",
        "tests/kits/test_new.py",
    }


def test_without_changes_the_last_commit_counts_and_another_revision_can_be_named(
    repository: Path,
) -> None:
    (repository / "tests/kits/test_lock.py").write_text("x = 1\n", encoding="utf-8")
    commit(repository)
    assert chosen(repository) == {"tests/kits/test_lock.py"}
    (repository / "vespe/tools/fields.py").unlink()
    commit(repository)
    assert chosen(repository, "HEAD~2") == {
        "tests/kits/test_lock.py",
        "tests/tools/test_fields.py",
        "tests/tools/test_fields_of_kits.py",
    }
