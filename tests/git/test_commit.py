"""One file's change as one commit, in real repositories: nobody else's work is touched, and no
configured program runs.
"""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import InvalidArguments, StorageError, ToolExecutionError
from vespe.files.confined import Directory, PathRefused
from vespe.git import commit
from vespe.git.commit import Committed, commit_text


def git(at: Path, *arguments: str) -> str:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(
        ["git", *who, *arguments],
        cwd=at,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repo(home: Path, tmp_path: Path) -> Path:
    """A repository with one commit of `a.txt` and `b.txt`."""
    at = tmp_path / "repo"
    at.mkdir()
    git(at, "init", "-q", "-b", "main")
    for name in ("a.txt", "b.txt"):
        (at / name).write_text(f"{name}\n", encoding="utf-8")
    git(at, "add", ".")
    git(at, "commit", "-qm", "first")
    return at


def write(
    root: Path,
    path: str,
    text: str,
    *,
    message: str = "Write it",
    run: Callable[..., Any] = subprocess.run,
) -> Committed:
    with Directory(root) as directory:
        return commit_text(directory, path, lambda _: text, message=message, run=run)


def state(at: Path) -> str:
    return git(at, "status", "--porcelain")


def test_a_new_file_and_its_change_are_one_commit_each(repo: Path) -> None:
    made = write(repo, "docs/ünder.txt", "one\n", message="Add a page\n\nwith a reason")
    assert (made.size, made.created) == (4, True) and "+one" in made.diff
    changed = write(repo, "docs/ünder.txt", "two\n")
    assert (changed.created, changed.commit) == (False, git(repo, "rev-parse", "HEAD").strip())
    assert "-one\n+two\n" in changed.diff
    assert (
        git(repo, "log", "-2", "--format=%s|%b|%an").replace("\n|", "|")
        == "Write it||Vespe\nAdd a page|with a reason|Vespe\n"
    )
    assert (
        git(repo, "show", "--stat=200", "--format=", "HEAD").count("|") == 1 and state(repo) == ""
    )


def test_the_same_text_makes_no_commit(repo: Path) -> None:
    before = git(repo, "rev-parse", "HEAD")
    assert write(repo, "a.txt", "a.txt\n") == Committed(size=6, created=False, commit=None, diff="")
    assert git(repo, "rev-parse", "HEAD") == before


def test_staged_unstaged_and_untracked_work_of_others_stays_as_it_is(repo: Path) -> None:
    (repo / "b.txt").write_text("staged\n", encoding="utf-8")
    (repo / "new.txt").write_text("staged new\n", encoding="utf-8")
    git(repo, "add", "b.txt", "new.txt")
    (repo / "b.txt").write_text("staged, then unstaged\n", encoding="utf-8")
    (repo / "untracked.txt").write_text("mine\n", encoding="utf-8")
    before = state(repo), git(repo, "diff"), git(repo, "diff", "--cached")
    write(repo, "a.txt", "by the tool\n")
    write(repo, "made.txt", "by the tool\n")
    assert (state(repo), git(repo, "diff"), git(repo, "diff", "--cached")) == before
    assert git(repo, "show", "--format=", "--name-only", "HEAD", "HEAD~1").split() == [
        "made.txt",
        "a.txt",
    ]


def test_a_file_with_changes_of_its_own_is_refused_and_left_alone(repo: Path) -> None:
    (repo / "a.txt").write_text("staged\n", encoding="utf-8")
    git(repo, "add", "a.txt")
    (repo / "b.txt").write_text("unstaged\n", encoding="utf-8")
    (repo / "untracked.txt").write_text("mine\n", encoding="utf-8")
    for path, why in (
        ("a.txt", "staged"),
        ("b.txt", "not committed"),
        ("untracked.txt", "not in git yet"),
    ):
        before = (repo / path).read_text(encoding="utf-8")
        with pytest.raises(InvalidArguments, match=why):
            write(repo, path, "by the tool\n")
        assert (repo / path).read_text(encoding="utf-8") == before
    (repo / "b.txt").unlink()
    with pytest.raises(InvalidArguments, match="not committed"):
        write(repo, "b.txt", "again\n")
    assert git(repo, "rev-list", "--count", "HEAD") == "1\n"


def test_the_first_commit_of_a_repository_can_be_a_tools(home: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "empty")
    (tmp_path / "empty" / "staged.txt").write_text("x", encoding="utf-8")
    git(tmp_path / "empty", "add", "staged.txt")
    made = write(tmp_path / "empty", "a.txt", "one\n")
    assert "new file" in made.diff
    assert (
        git(tmp_path / "empty", "ls-tree", "--name-only", "HEAD") == "a.txt\n"
        and state(tmp_path / "empty") == "A  staged.txt\n"
    )


def test_a_project_below_the_top_of_its_repository_commits_beneath_itself(repo: Path) -> None:
    (repo / "project").mkdir()
    write(repo / "project", "deep/a.txt", "one\n")
    assert git(repo, "show", "--format=", "--name-only", "HEAD") == "project/deep/a.txt\n"
    with pytest.raises(PathRefused):
        write(repo / "project", "../a.txt", "one\n")


def test_a_detached_head_and_a_linked_work_tree_move_only_themselves(
    repo: Path, tmp_path: Path
) -> None:
    main = git(repo, "rev-parse", "main")
    git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    write(tmp_path / "linked", "a.txt", "side\n")
    assert git(repo, "rev-parse", "main") == main and state(tmp_path / "linked") == ""
    git(repo, "checkout", "-q", "--detach")
    made = write(repo, "a.txt", "detached\n")
    assert (
        git(repo, "rev-parse", "HEAD").strip() == made.commit
        and git(repo, "rev-parse", "main") == main
    )
    assert state(repo) == ""


def test_a_directory_without_a_repository_is_refused_and_nothing_is_written(
    home: Path, tmp_path: Path
) -> None:
    with pytest.raises(
        ToolExecutionError, match="not in the working tree of a git repository"
    ) as caught:
        write(tmp_path, "a.txt", "x")
    assert "git init" in caught.value.hint and not (tmp_path / "a.txt").exists()


def test_an_ignored_path_is_refused_but_not_one_that_git_has_already(repo: Path) -> None:
    (repo / ".gitignore").write_text("*.log\na.txt\n", encoding="utf-8")
    for path in ("new.log", "logs/x.log"):
        with pytest.raises(InvalidArguments, match="git ignores"):
            write(repo, path, "x")
    assert write(repo, "a.txt", "tracked\n").commit and not (repo / "logs").exists()


def test_a_repository_inside_the_project_is_left_to_itself(repo: Path) -> None:
    git(repo, "init", "-q", "inner")
    with pytest.raises(InvalidArguments, match="a git repository of its own"):
        write(repo, "inner/deep/a.txt", "x")


def test_a_merge_in_progress_is_not_mixed_with(repo: Path) -> None:
    git(repo, "checkout", "-qb", "side")
    write(repo, "b.txt", "side\n")
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "--no-commit", "side")
    with pytest.raises(ToolExecutionError, match="a merge is in progress"):
        write(repo, "a.txt", "x\n")


def test_executable_files_stay_executable_and_odd_names_are_names(repo: Path) -> None:
    (repo / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (repo / "run.sh").chmod(0o755)
    git(repo, "add", "run.sh")
    git(repo, "commit", "-qm", "script")
    write(repo, "run.sh", "#!/bin/sh\ntrue\n")
    assert git(repo, "ls-files", "--stage", "run.sh").startswith("100755") and state(repo) == ""
    for name in (":(top)x", "*.txt", "-n", "a,b\tc\nd", "[a].txt"):
        made = write(repo, name, "odd\n")
        assert (
            made.commit
            and git(repo, "show", "--format=", "--name-only", "-z", "HEAD") == f"{name}\0"
        )
    assert state(repo) == ""


def test_line_ends_follow_the_repositorys_rule(repo: Path) -> None:
    write(repo, ".gitattributes", "*.txt text eol=crlf\n")
    write(repo, "c.txt", "one\r\ntwo\r\n")
    assert git(repo, "cat-file", "blob", "HEAD:c.txt") == "one\ntwo\n" and state(repo) == ""
    write(repo, "c.txt", "one\ntwo\n")
    assert write(repo, "c.txt", "one\r\ntwo\r\n").commit is None and state(repo) == ""


def test_the_users_identity_is_used_where_git_knows_one(repo: Path) -> None:
    git(repo, "config", "user.name", "Grace")
    git(repo, "config", "user.email", "grace@example.org")
    write(repo, "a.txt", "x\n")
    assert git(repo, "log", "-1", "--format=%an <%ae> %cn") == "Grace <grace@example.org> Grace\n"


@pytest.fixture
def hostile(repo: Path, tmp_path: Path) -> Iterator[Path]:
    """A repository whose configuration and hooks would leave a file behind if git ran them."""
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho $0 $* >> {tmp_path}/ran\ncat\n", encoding="utf-8")
    script.chmod(0o755)
    for hook in (
        "reference-transaction",
        "post-index-change",
        "pre-commit",
        "post-commit",
        "fsmonitor-watchman",
    ):
        (repo / ".git" / "hooks").mkdir(exist_ok=True)
        (repo / ".git" / "hooks" / hook).symlink_to(script)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "gpg.program",
        "diff.external",
        "diff.evil.textconv",
        "core.editor",
        "diff.evil.command",
    ):
        git(repo, "config", key, str(script))
    git(repo, "config", "commit.gpgSign", "true")
    (repo / ".git" / "info" / "attributes").write_text("*.txt diff=evil\n", encoding="utf-8")
    yield repo
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text(encoding="utf-8")


def test_nothing_that_a_repository_configures_is_run(hostile: Path) -> None:
    assert write(hostile, "a.txt", "x\n").commit and write(hostile, "new.txt", "x\n").commit


def test_a_file_with_a_filter_is_refused_rather_than_filtered(
    hostile: Path, tmp_path: Path
) -> None:
    git(hostile, "config", "filter.evil.clean", str(tmp_path / "evil.sh"))
    (hostile / ".git" / "info" / "attributes").write_text("*.txt filter=evil\n", encoding="utf-8")
    os.utime(hostile / "a.txt", (1, 1))
    with pytest.raises(InvalidArguments, match="filter=evil"):
        write(hostile, "a.txt", "x\n")


def test_variables_of_git_in_the_environment_lead_nowhere(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other-index"))
    made = write(repo, "a.txt", "x\n")
    monkeypatch.undo()
    assert (
        git(repo, "rev-parse", "HEAD").strip() == made.commit
        and not (tmp_path / "other-index").exists()
    )


def after(command: str, happens: Callable[[], object]) -> Callable[..., Any]:
    """Give a `run` that lets something happen, once, right after a git command."""
    pending = [happens]

    def run(argv: list[str], **options: Any) -> Any:
        done = subprocess.run(argv, **options)
        if command in argv and pending:
            pending.pop()()
        return done

    return run


@pytest.mark.parametrize(("path", "content"), [("a.txt", "a.txt\n"), ("new/file.txt", None)])
def test_a_commit_of_somebody_else_in_between_undoes_the_write(
    repo: Path, path: str, content: str | None
) -> None:
    other = after("commit-tree", lambda: git(repo, "commit", "-q", "--allow-empty", "-m", "theirs"))
    with pytest.raises(ToolExecutionError, match="git update-ref failed"):
        write(repo, path, "mine\n", run=other)
    assert git(repo, "log", "--format=%s") == "theirs\nfirst\n" and state(repo) == ""
    assert (
        (repo / path).read_text(encoding="utf-8") if (repo / path).exists() else None
    ) == content


def test_an_index_that_is_locked_is_waited_for(repo: Path) -> None:
    lock = repo / ".git" / "index.lock"
    lock.touch()
    timer = threading.Timer(0.3, lock.unlink)
    timer.start()
    write(repo, "a.txt", "x\n")
    timer.join()
    assert state(repo) == ""


def test_an_index_that_stays_locked_is_said(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "_PAUSE_S", 0.001)
    (repo / ".git" / "index.lock").touch()
    with pytest.raises(ToolExecutionError, match=r"is committed as .* but the index could not"):
        write(repo, "a.txt", "x\n")


def test_an_index_that_cannot_be_written_is_said_at_once(repo: Path) -> None:
    index = repo / ".git" / "index"
    broken = after("update-ref", lambda: index.write_bytes(b"garbage"))
    with pytest.raises(ToolExecutionError, match="but the index could not"):
        write(repo, "a.txt", "x\n", run=broken)


def test_a_change_that_would_take_another_path_with_it_is_refused(repo: Path) -> None:
    git(repo, "rm", "-q", "--cached", "a.txt")
    (repo / "a.txt").unlink()
    with pytest.raises(InvalidArguments, match="cannot be committed alone: it would also change a"):
        write(repo, "a.txt/inside.txt", "x\n")
    assert not (repo / "a.txt" / "inside.txt").exists()


def test_commits_at_the_same_time_all_arrive(repo: Path) -> None:
    threads = [threading.Thread(target=write, args=(repo, f"new-{n}.txt", "x\n")) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert git(repo, "rev-list", "--count", "HEAD") == "7\n" and state(repo) == ""
    assert not [name for name in os.listdir(repo / ".git") if name.startswith("vespe-")]


def test_a_long_diff_is_cut_and_says_so(repo: Path) -> None:
    made = write(repo, "long.txt", "line\n" * 10_000)
    assert len(made.diff) < commit.MAX_DIFF + 200 and "[cut by vespe: " in made.diff


def test_a_machine_without_git_is_told_so(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repo))
    with pytest.raises(ToolExecutionError, match="git is not installed"):
        write(repo, "a.txt", "x\n")


def test_a_git_directory_that_vanishes_is_a_sentence(repo: Path) -> None:
    gone = after("rev-parse", lambda: (repo / ".git").rename(repo / "moved"))
    with pytest.raises(StorageError, match=r"cannot lock .*\.git: No such file"):
        write(repo, "a.txt", "x\n", run=gone)
