"""The file tools of both kits, in real processes: the same to a model, confined, and with git one
commit a write.
"""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.shipped_kits.shipped import DIRECTORIES, KITS, call, document, git
from vespe.errors import InvalidArguments, ToolExecutionError, VespeError

PLAIN, GIT = "file_io_without_git/{}", "file_io_with_git/{}_with_git"
NAMES = ("read_file", "write_file", "edit_file", "list_directory", "search_text")
both = pytest.mark.parametrize("kit", [PLAIN, GIT], ids=["without_git", "with_git"])


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    """A repository with two files, beside a secret and a directory whose name only begins the
    same.
    """
    root = tmp_path / "r"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (root / "b.txt").write_text("b\n", encoding="utf-8")
    for outside in (tmp_path / "secret.txt", tmp_path / "r-evil" / "secret.txt"):
        outside.parent.mkdir(exist_ok=True)
        outside.write_text("secret", encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def test_both_kits_have_the_same_tools_to_a_model() -> None:
    for name in NAMES:
        plain, with_git = document(PLAIN.format(name)), document(GIT.format(name))
        message = with_git["schema"]["input"]["properties"].pop("message", None)
        assert (message is not None) is (name in ("write_file", "edit_file"))
        assert plain["name"] == with_git["name"] == name
        assert plain["schema"]["input"] == with_git["schema"]["input"]
        assert plain["schema"]["output"]["type"] == with_git["schema"]["output"]["type"]
    assert {p.name for p in KITS.iterdir()} >= {"file_io_without_git", "file_io_with_git"}


@pytest.mark.parametrize("name", ["read_file", "list_directory", "search_text"])
def test_what_only_reads_is_the_same_script_in_both_kits(name: str) -> None:
    scripts = [DIRECTORIES[kit.format(name)] / f"{name}.py" for kit in (PLAIN, GIT)]
    assert scripts[0].read_bytes() == scripts[1].read_bytes()


def inputs_at(name: str, path: str) -> dict[str, Any]:
    extra: dict[str, dict[str, Any]] = {
        "write_file": {"content": "x"},
        "edit_file": {"old_text": "secret", "new_text": "x"},
        "search_text": {"query": "secret"},
    }
    return {"path": path, **extra.get(name, {})}


@both
@pytest.mark.parametrize("name", NAMES)
def test_p17_what_leads_out_is_refused_with_the_code_of_bad_arguments(
    root: Path, kit: str, name: str
) -> None:
    for path in (
        "../secret.txt",
        "sub/../../secret.txt",
        "/etc/passwd",
        f"{root}-evil/secret.txt",
        "../r-evil/secret.txt",
        "..",
    ):
        with pytest.raises(InvalidArguments, match="path"):
            call(kit.format(name), inputs_at(name, path), at=root)


@both
@pytest.mark.parametrize("name", NAMES)
def test_p17_a_link_is_refused_at_every_step(root: Path, kit: str, name: str) -> None:
    (root / "file").symlink_to("../secret.txt")
    (root / "out").symlink_to("..")
    for path in ("file", "out/secret.txt", "out"):
        with pytest.raises(VespeError, match=r"symbolic link|directory") as caught:
            call(kit.format(name), inputs_at(name, path), at=root)
        assert caught.value.code in ("invalid_arguments", "tool_error")
    assert (root.parent / "secret.txt").read_text(encoding="utf-8") == "secret"


@both
@pytest.mark.parametrize("name", ["write_file", "edit_file"])
def test_the_projects_tools_hooks_and_settings_cannot_be_written(
    root: Path, kit: str, name: str
) -> None:
    (root / ".vespe").mkdir()
    (root / ".vespe" / "config.json").write_text("secret", encoding="utf-8")
    for path in (".vespe/config.json", ".git/config", ".GIT/hooks/post-commit", "sub/.git"):
        with pytest.raises(VespeError, match=r"not write|run commands|treated as part"):
            call(kit.format(name), inputs_at(name, path), at=root)


@both
def test_a_file_is_written_read_edited_listed_and_found(root: Path, kit: str) -> None:
    written = call(
        kit.format("write_file"), {"path": "docs/é.md", "content": "# Title\n\nText.\n"}, at=root
    )
    assert (written["path"], written["bytes"], written["created"]) == ("docs/é.md", 15, True)
    edited = call(
        kit.format("edit_file"),
        {"path": "docs/é.md", "old_text": "Text", "new_text": "More"},
        at=root,
    )
    assert (edited["bytes"], edited["replacements"]) == (15, 1)
    assert (
        call(kit.format("read_file"), {"path": "docs/é.md", "start_line": 3}, at=root) == "More.\n"
    )
    assert call(kit.format("list_directory"), {"path": "docs"}, at=root)["entries"] == [
        {"path": "docs/é.md", "type": "file", "size": 15}
    ]
    found = call(
        kit.format("search_text"), {"query": "^m.re", "regex": True, "ignore_case": True}, at=root
    )
    assert found["matches"] == [{"path": "docs/é.md", "line": 3, "text": "More."}]


@both
def test_an_edit_that_does_not_fit_changes_nothing_and_says_why(root: Path, kit: str) -> None:
    for inputs, why in (({"old_text": "x"}, "does not contain"), ({"old_text": "o"}, "2 times")):
        with pytest.raises(VespeError, match=why):
            call(kit.format("edit_file"), {"path": "sub/a.txt", "new_text": "y", **inputs}, at=root)
    assert (root / "sub" / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n" and git(
        root, "status", "--porcelain"
    ) == ""
    with pytest.raises(VespeError, match=r"no such file|no file missing\.txt|No such file"):
        call(
            kit.format("edit_file"),
            {"path": "missing.txt", "old_text": "a", "new_text": "b"},
            at=root,
        )


def test_a_regular_expression_without_end_is_given_up(root: Path) -> None:
    (root / "trap").write_text("a" * 60 + "b", encoding="utf-8")
    with pytest.raises(VespeError, match="took longer than 5 s"):
        call(PLAIN.format("search_text"), {"query": "^(a+)+$", "regex": True}, at=root)


def test_a_write_is_one_commit_that_leaves_the_work_of_others_alone(root: Path) -> None:
    (root / "b.txt").write_text("staged\n", encoding="utf-8")
    git(root, "add", "b.txt")
    (root / "sub" / "a.txt").write_text("unstaged\n", encoding="utf-8")
    before = git(root, "status", "--porcelain")
    done = call(
        GIT.format("write_file"),
        {"path": "new.txt", "content": "new\n", "message": "Why\n\nBecause."},
        at=root,
    )
    assert git(root, "status", "--porcelain") == before
    assert git(root, "log", "-1", "--format=%H %s", "--name-only").split() == [
        done["commit"],
        "Why",
        "new.txt",
    ]
    assert done["diff"].endswith("+new\n")
    with pytest.raises(VespeError, match="staged"):
        call(GIT.format("write_file"), {"path": "b.txt", "content": "x"}, at=root)


def test_an_edit_has_a_message_of_its_own_and_the_same_text_makes_no_commit(root: Path) -> None:
    call(GIT.format("edit_file"), {"path": "b.txt", "old_text": "b", "new_text": "c"}, at=root)
    assert git(root, "log", "-1", "--format=%s") == "Edit b.txt\n"
    same = call(GIT.format("write_file"), {"path": "b.txt", "content": "c\n"}, at=root)
    assert (same["commit"], same["diff"]) == (None, "")


def test_outside_a_repository_the_kit_with_git_says_so_and_writes_nothing(
    home: Path, tmp_path: Path
) -> None:
    with pytest.raises(ToolExecutionError, match="not in the working tree of a git repository"):
        call(GIT.format("write_file"), {"path": "a.txt", "content": "x"}, at=tmp_path)
    assert not (tmp_path / "a.txt").exists()


def test_p17_a_step_that_is_swapped_for_a_link_never_leads_out(root: Path) -> None:
    done = threading.Event()
    (root / "link").symlink_to("../r-evil")
    (root / "sub" / "secret.txt").write_text("inside", encoding="utf-8")

    def swap() -> None:
        while not done.is_set():
            os.rename(root / "sub", root / "real")
            os.rename(root / "link", root / "sub")
            os.rename(root / "sub", root / "link")
            os.rename(root / "real", root / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(15):
            try:
                seen.add(call(PLAIN.format("read_file"), {"path": "sub/secret.txt"}, at=root))
            except VespeError as error:
                seen.add(error.code)
    finally:
        done.set()
        thread.join()
    assert "secret" not in seen and seen <= {"inside", "tool_error", "invalid_arguments"}


def test_no_config_of_a_kit_holds_what_models_must_not_be_shown() -> None:
    for name in DIRECTORIES:
        text = json.dumps(document(name), ensure_ascii=False)
        assert text.isprintable() and "TODO" not in text
