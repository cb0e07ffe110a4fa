"""The tools over git and common programs: what they give, and what no value or repository makes
them do.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.shipped_kits.shipped import call, git
from vespe.errors import InvalidArguments, ToolExecutionError

KIT = "git_and_programs/{}"
GIT_TOOLS: dict[str, dict[str, Any]] = {
    "git_status": {},
    "git_log": {},
    "git_show": {},
    "git_diff": {},
    "git_blame": {"path": "a.txt"},
    "git_grep": {"text": "one"},
    "git_list_files": {},
}


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of two commits, with one change staged, one not staged, and one file not in
    git.
    """
    repo = tmp_path_factory.mktemp("committed")
    git(repo, "init", "-q", "-b", "main")
    for year, text, message in (
        ("2020", "one\ntwo\n", "First"),
        ("2021", "one\nzwei\n", 'Second: it\'s "quoted"'),
    ):
        (repo / "a.txt").write_text(text, encoding="utf-8")
        (repo / "b é.txt").write_text("b\n", encoding="utf-8")
        git(repo, "add", ".")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GIT_COMMITTER_DATE", f"{year}-01-01T00:00:00Z")
            git(repo, "commit", "-qm", message)
    (repo / "a.txt").write_text("one\nzwei\ndrei\n", encoding="utf-8")
    git(repo, "add", "a.txt")
    (repo / "b é.txt").write_text("unstaged\n", encoding="utf-8")
    (repo / "new.txt").write_text("new\n", encoding="utf-8")
    return repo


@pytest.fixture
def repo(home: Path, committed: Path, tmp_path: Path) -> Path:
    """That repository, for one test; its index knows the copied files."""
    made = shutil.copytree(committed, tmp_path / "repo", symlinks=True)
    git(made, "status", "--short")
    return made


def run(name: str, at: Path, **inputs: Any) -> Any:
    return call(KIT.format(name), inputs, at=at)


def run_keeping(name: str, at: Path, **inputs: Any) -> Any:
    return call(KIT.format(name), inputs, at=at, env={"VESPE_FILES_NEVER_READ": "*.env\nkeys/"})


def test_status_says_what_is_staged_changed_and_new(repo: Path) -> None:
    assert run("git_status", repo) == ["## main", "M  a.txt", ' M "b é.txt"', "?? new.txt"]
    assert run("git_status", repo, path="new.txt") == ["## main", "?? new.txt"]


@pytest.mark.parametrize("name", GIT_TOOLS)
def test_what_only_reads_leaves_the_index_as_it_was(name: str, repo: Path) -> None:
    os.utime(repo / "a.txt", (1, 1))  # its entry in the index no longer fits: git would mend that
    before = (repo / ".git/index").read_bytes()
    run(name, repo, **GIT_TOOLS[name])
    assert (repo / ".git/index").read_bytes() == before


def test_log_lists_commits_with_their_fields_apart(repo: Path) -> None:
    lines = [line.split("\t") for line in run("git_log", repo)]
    assert [(len(line[0]), line[2], line[3]) for line in lines] == [
        (40, "Ada", 'Second: it\'s "quoted"'),
        (40, "Ada", "First"),
    ]
    assert (
        len(run("git_log", repo, count=1)) == 1
        and len(run("git_log", repo, revision="HEAD~1")) == 1
    )
    assert (
        len(run("git_log", repo, path="a.txt")) == 2
        and len(run("git_log", repo, path="b é.txt")) == 1
    )
    assert (
        len(run("git_log", repo, search="it's", author="ada@")) == 1
        and run("git_log", repo, author="A.a") == []
    )
    assert (
        len(run("git_log", repo, since="2020-06-01")) == 1
        and len(run("git_log", repo, since="2019-01-01")) == 2
    )


def test_show_gives_a_commit_or_a_file_in_one(repo: Path) -> None:
    shown = run("git_show", repo)
    assert "Second: it's" in shown and "-two\n+zwei\n" in shown and "a.txt | 2 +-" in shown
    assert run("git_show", repo, revision="HEAD~1:a.txt") == "one\ntwo\n"
    assert "a.txt" not in run("git_show", repo, revision="HEAD~1", path="b é.txt")


def test_diff_shows_what_is_changed_what_is_staged_and_what_lies_between(repo: Path) -> None:
    assert "+unstaged" in run("git_diff", repo) and "+drei" not in run("git_diff", repo)
    staged = run("git_diff", repo, mode="cached", context=0)
    assert "+drei" in staged and "unstaged" not in staged and "\n zwei" not in staged
    between = run("git_diff", repo, **{"from": "HEAD~1", "to": "HEAD"})
    assert "-two\n+zwei" in between and run("git_diff", repo, path="a.txt") == ""


def test_blame_names_the_commit_of_each_line(repo: Path) -> None:
    second = git(repo, "rev-parse", "--short", "HEAD").strip()
    lines = run("git_blame", repo, path="a.txt")
    assert len(lines) == 2 and lines[1].startswith(second) and lines[1].endswith("zwei")
    assert run("git_blame", repo, path="a.txt", start_line=2, end_line=2) == lines[1:]


def test_grep_searches_a_commit_for_a_literal_text(repo: Path) -> None:
    assert run("git_grep", repo, text="zwei") == ["HEAD:a.txt:2:zwei"]
    assert run("git_grep", repo, text="z.ei") == [] == run("git_grep", repo, text="drei")
    assert run("git_grep", repo, text="two", revision="HEAD~1", path="a.txt") == [
        "HEAD~1:a.txt:2:two"
    ]


def test_files_are_listed_as_they_are_called(repo: Path) -> None:
    assert run("git_list_files", repo) == ["a.txt", "b é.txt"]


@pytest.mark.parametrize(
    "name", [name for name in GIT_TOOLS if name not in ("git_status", "git_list_files")]
)
@pytest.mark.parametrize(
    "value", ["--output=pwned", "-O./evil.sh", "--exec=./evil.sh", "-", "--", "--ext-diff"]
)
def test_p14_no_revision_becomes_an_option(repo: Path, name: str, value: str) -> None:
    key = "from" if name == "git_diff" else "revision"
    with pytest.raises(InvalidArguments):
        run(name, repo, **GIT_TOOLS[name], **{key: value})
    assert not (repo / "pwned").exists()


@pytest.mark.parametrize(
    "value", ["; touch pwned", "$(touch pwned)", "`touch pwned`", "| touch pwned", "--output=pwned"]
)
def test_p14_no_text_reaches_a_shell_or_becomes_an_option(repo: Path, value: str) -> None:
    assert run("git_grep", repo, text=value) == []
    for key in ("search", "author"):
        assert run("git_log", repo, **{key: value}) == []
    assert run("git_log", repo, path=value) == [] == run("git_list_files", repo, path=value)
    run("word_count", repo, text=value)
    assert run("sort_lines", repo, text=value) == [value]
    assert not list(repo.glob("*pwned*"))


def test_a_text_to_look_for_is_one_line_so_that_an_empty_one_cannot_match_all(repo: Path) -> None:
    for name, key in (("git_grep", "text"), ("git_log", "search"), ("git_log", "author")):
        with pytest.raises(InvalidArguments):
            run(name, repo, **{key: "x\n"})


@pytest.mark.parametrize("path", [":(top)*", "*.txt", ":!a.txt", "-a.txt"])
def test_a_path_is_a_name_and_no_pattern(repo: Path, path: str) -> None:
    assert run("git_list_files", repo, path=path) == []
    (repo / path).write_text("x\n", encoding="utf-8")
    git(repo, "--literal-pathspecs", "add", "--", path)
    assert len(run("git_list_files", repo, path=path)) == 1


@pytest.mark.parametrize("name", [*GIT_TOOLS, "word_count", "disk_usage"])
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ".."])
def test_p17_no_path_leads_out(repo: Path, name: str, path: str) -> None:
    with pytest.raises(InvalidArguments):
        run(name, repo, **{**GIT_TOOLS.get(name, {}), "path": path})


def test_p17_git_shows_where_a_link_leads_and_never_what_is_there(
    repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("the secret\n", encoding="utf-8")
    (repo / "link").symlink_to("../secret.txt")
    (repo / "out").symlink_to("..")
    git(repo, "add", "link", "out")
    git(repo, "commit", "-qm", "links")
    (repo / "link").unlink()
    (repo / "link").symlink_to("../secret.txt")
    given = [run("git_blame", repo, path="link")]
    for name, inputs in GIT_TOOLS.items():
        given += [
            run(name, repo, **{**inputs, "path": path})
            for path in ("link", ".")
            if name != "git_blame"
        ]
    assert "the secret" not in str(given) and "../secret.txt" in str(given)
    with pytest.raises(InvalidArguments):
        run("git_blame", repo, path="out/secret.txt")


def test_nothing_that_a_repository_configures_is_run(repo: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\necho $0 $* >> {tmp_path}/ran\ncat\n", encoding="utf-8")
    evil.chmod(0o755)
    programs = (
        "core.fsmonitor",
        "core.pager",
        "pager.log",
        "gpg.program",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
    )
    for key in (
        *programs,
        "core.editor",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "interactive.diffFilter",
    ):
        git(repo, "config", key, str(evil))
    for key, value in (
        ("log.showSignature", "true"),
        ("format.pretty", "%GG"),
        ("alias.log", f"!{evil}"),
    ):
        git(repo, "config", key, value)
    (repo / ".git" / "info" / "attributes").write_text("*.txt diff=evil\n", encoding="utf-8")
    (repo / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (repo / ".git" / "hooks" / hook).symlink_to(evil)
    for name, inputs in GIT_TOOLS.items():
        assert run(name, repo, **inputs) is not None
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text(encoding="utf-8")


def filtered(at: Path, tmp_path: Path, *config: str) -> Path:
    """Give each text file a filter that tells of its run, named in a configuration, and make files
    look changed.
    """
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\necho $0 $* >> {tmp_path}/ran\ncat\n", encoding="utf-8")
    evil.chmod(0o755)
    git(at, "config", *config, str(evil))
    (at / ".git" / "info" / "attributes").write_text("*.txt filter=evil\n", encoding="utf-8")
    (at / "b é.txt").write_text("b\n", encoding="utf-8")
    return tmp_path / "ran"


@pytest.mark.parametrize("kind", ["clean", "process", "smudge"])
def test_p17_no_filter_that_a_repository_configures_is_run(
    repo: Path, tmp_path: Path, kind: str
) -> None:
    ran = filtered(repo, tmp_path, f"filter.evil.{kind}")
    for name, inputs in GIT_TOOLS.items():
        if name in ("git_status", "git_diff"):
            with pytest.raises(ToolExecutionError, match=rf"filter\.evil\.{kind}"):
                run(name, repo, **inputs)
        else:
            assert run(name, repo, **inputs) is not None
    assert not ran.exists(), ran.read_text(encoding="utf-8")


def test_p17_a_project_in_a_repository_is_told_only_what_lies_beneath_it(repo: Path) -> None:
    (repo / "sub").mkdir()
    (repo / "sub/new.txt").write_text("x", encoding="utf-8")
    assert (
        run("git_status", repo / "sub") == ["## main", "?? sub/"]
        and run("git_diff", repo / "sub") == ""
    )


def test_reading_changes_nothing_in_the_repository(repo: Path) -> None:
    before = {
        path: path.stat().st_mtime_ns for path in (repo / ".git").rglob("*") if path.is_file()
    }
    for name, inputs in GIT_TOOLS.items():
        run(name, repo, **inputs)
    assert {
        path: path.stat().st_mtime_ns for path in (repo / ".git").rglob("*") if path.is_file()
    } == before


def test_outside_a_repository_git_says_so(home: Path, tmp_path: Path) -> None:
    for name, inputs in GIT_TOOLS.items():
        with pytest.raises(ToolExecutionError):
            run(name, tmp_path, **inputs)


def test_words_are_counted_in_a_text_or_a_file(repo: Path) -> None:
    assert run("word_count", repo, text="one two\nthree\n") == {"lines": 2, "words": 3, "bytes": 14}
    assert run("word_count", repo, path="a.txt") == {"lines": 3, "words": 3, "bytes": 14}
    assert run("word_count", repo, text="") == {"lines": 0, "words": 0, "bytes": 0}
    assert run("word_count", repo, text="é")["bytes"] == 2
    for inputs in ({}, {"text": "x", "path": "a.txt"}):
        with pytest.raises(InvalidArguments):
            run("word_count", repo, **inputs)


@pytest.mark.parametrize("path", ["link", "out/secret.txt", "out", "out/"])
def test_p17_nothing_is_counted_through_a_link(repo: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.txt").write_text("the secret\n", encoding="utf-8")
    (repo / "link").symlink_to("../secret.txt")
    (repo / "out").symlink_to("..")
    for name in ("word_count", "disk_usage"):
        with pytest.raises(InvalidArguments):
            run(name, repo, path=path)


def test_lines_are_sorted_by_choice(repo: Path) -> None:
    for order, text, lines in (
        ("numeric-sort", "10\n9\n", ["9", "10"]),
        ("reverse", "a\nb\n", ["b", "a"]),
        ("unique", "b\na\nb\n", ["a", "b"]),
        ("ignore-case", "b\nA\nc", ["A", "b", "c"]),
    ):
        assert run("sort_lines", repo, text=text, order=order) == lines


def test_the_clock_is_read(repo: Path) -> None:
    (now,) = run("current_time", repo)
    assert now.endswith("Z")


def test_files_and_their_bytes_are_added_up_at_any_depth(home: Path, tmp_path: Path) -> None:
    (tmp_path / "at/a/b").mkdir(parents=True)
    for name, text in (("one", "1"), ("a/two", "22"), ("a/b/three", "333")):
        (tmp_path / "at" / name).write_text(text, encoding="utf-8")
    (tmp_path / "at/link").symlink_to("a")
    assert run("disk_usage", tmp_path / "at") == {
        "files": 3,
        "directories": 2,
        "bytes": 6,
        "unreadable": 0,
    }
    assert run("disk_usage", tmp_path / "at", path="a/./b/")["bytes"] == 3
    assert run("disk_usage", tmp_path / "at", path="./a//two") == {
        "files": 1,
        "directories": 0,
        "bytes": 2,
        "unreadable": 0,
    }


@pytest.fixture
def keeping(repo: Path) -> Path:
    """The repository with files in it that its user keeps from tools, in a commit, in the index and
    in the work tree.
    """
    for name, text in (("prod.env", "KEY=1\n"), ("keys/a", "KEY=2\n"), ("c.txt", "KEY=public\n")):
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text, encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Third")
    for name in ("prod.env", "keys/a", "c.txt"):
        (repo / name).write_text(
            f"{(repo / name).read_text(encoding='utf-8')}KEY=again\n", encoding="utf-8"
        )
    return repo


def test_what_the_user_keeps_from_tools_is_left_out_of_what_git_shows(keeping: Path) -> None:
    shown = (
        *(
            run_keeping("git_show", keeping, revision=revision)
            for revision in ("HEAD", "HEAD~2..HEAD")
        ),
        run_keeping("git_diff", keeping),
        run_keeping("git_diff", keeping, **{"from": "HEAD~1"}),
        *(run_keeping("git_grep", keeping, text="KEY", **more) for more in ({}, {"path": "."})),
    )
    assert all(
        "KEY=public" in str(one) and "KEY=1" not in str(one) and "KEY=2" not in str(one)
        for one in shown
    )
    assert (
        "KEY=1" in run("git_show", keeping)
        and "prod.env" in run("git_diff", keeping)
        and len(run("git_grep", keeping, text="KEY")) == 3
    )
    assert run_keeping("git_log", keeping, path="prod.env"), "that a file changed is no secret"


def test_a_kept_file_of_a_commit_is_refused_however_it_is_named(keeping: Path) -> None:
    blob, tree = (git(keeping, "rev-parse", at).strip() for at in ("HEAD:prod.env", "HEAD:keys"))
    names = (
        "HEAD:prod.env",
        ":prod.env",
        ":0:prod.env",
        "HEAD:./prod.env",
        "HEAD:keys/a",
        "HEAD:keys",
        "HEAD^{/Third}:prod.env",
    )
    for name in (*names, blob, blob[:8], f"{tree}:a", "HEAD^{tree}:prod.env"):
        with pytest.raises((InvalidArguments, ToolExecutionError)):
            run_keeping("git_show", keeping, revision=name)
    for place in ("HEAD:keys", tree, "HEAD:", "HEAD^{tree}"):
        with pytest.raises(InvalidArguments, match="not a commit"):
            run_keeping("git_diff", keeping, **{"from": place, "to": "HEAD"})
        with pytest.raises(InvalidArguments, match="not a commit"):
            run_keeping("git_grep", keeping, text="KEY", revision=place)
    for name, at in (
        ("git_show", {}),
        ("git_diff", {}),
        ("git_blame", {}),
        ("git_grep", {"text": "KEY"}),
    ):
        with pytest.raises((InvalidArguments, ToolExecutionError), match="never_read"):
            run_keeping(name, keeping, path="prod.env", **at)
    for name in (
        "HEAD:c.txt",
        ":c.txt",
        ":0:c.txt",
        "HEAD:./c.txt",
        ":/Third",
        "HEAD^{/Third}:c.txt",
        "HEAD^{commit}:c.txt",
    ):
        assert "KEY=public" in run_keeping("git_show", keeping, revision=name)


def test_what_git_complains_of_is_said_in_its_name(repo: Path) -> None:
    with pytest.raises(ToolExecutionError, match=r"^git failed with exit status 128"):
        run("git_log", repo, revision="no-such-branch")
