"""The author's repository, with real git: what refuses a release, what will run, and the commit and
the tag, or nothing.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.features.releases.released import hook, kit_in_git, state
from tests.support import gitrepo
from vespe.errors import Refused, ToolExecutionError
from vespe.git.author_repository import AuthorRepository, opened_repository

FILES = {
    "kit_config.json": b'{"kit_id": "words", "version": "0.2.0"}\n',
    "CHANGELOG.md": b"# Log\n",
}


@pytest.fixture
def kit(home: Path, tmp_path: Path) -> Path:
    return kit_in_git(tmp_path / "mine")


@pytest.fixture
def opened(kit: Path) -> Iterator[AuthorRepository]:
    with opened_repository(str(kit)) as repository:
        yield repository


def refused(kit: Path) -> str:
    """Give the sentence that a release is refused with, and see that nothing was changed."""
    before = state(kit)
    with opened_repository(str(kit)) as repository, pytest.raises(Refused) as caught:
        repository.check()
    assert state(kit) == before
    return str(caught.value)


def test_a_clean_branch_of_somebody_whom_git_knows_may_release(opened: AuthorRepository) -> None:
    opened.check()
    assert opened.require_branch() == "main" and opened.tags() == []
    assert opened.programs(sign=False) == []


def test_each_state_that_no_release_begins_in_is_a_sentence(kit: Path, tmp_path: Path) -> None:
    (kit / "new.txt").write_text("x", encoding="utf-8")
    assert refused(kit) == "the working tree is not clean: new.txt"
    gitrepo.commit(kit)
    (kit / ".git/MERGE_HEAD").write_text(gitrepo.git(kit, "rev-parse", "HEAD"), encoding="utf-8")
    assert refused(kit) == "a merge is in progress"
    (kit / ".git/MERGE_HEAD").unlink()
    gitrepo.git(kit, "config", "--unset", "user.email")
    assert refused(kit) == "git does not know who you are, so it cannot commit"
    gitrepo.git(kit, "checkout", "--quiet", "--detach")
    assert refused(kit).startswith("HEAD is detached")
    empty = gitrepo.repository(tmp_path / "empty")
    with opened_repository(str(empty)) as repository, pytest.raises(Refused) as caught:
        repository.check()
    assert str(caught.value) == "the repository has no commit yet"


def test_a_repository_that_others_can_change_or_that_is_elsewhere_is_refused(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chmod(kit / ".git", 0o777)
    with pytest.raises(Refused, match="can be written by everybody"), opened_repository(str(kit)):
        pass
    os.chmod(kit / ".git", stat.S_IRWXU)
    monkeypatch.setenv("GIT_INDEX_FILE", "x")
    with pytest.raises(Refused, match="GIT_INDEX_FILE"), opened_repository(str(kit)):
        pass


def test_no_program_runs_that_the_repository_names_but_the_ones_that_are_told(
    kit: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    hook(kit, "spy", f"echo ran >> {ran}")
    spy = str(kit / ".git/hooks/spy")
    for key in ("core.fsmonitor", "core.editor", "core.pager", "diff.external", "core.askPass"):
        gitrepo.git(kit, "config", key, spy)
    with opened_repository(str(kit)) as repository:
        repository.check()
        assert repository.programs(sign=False) == []
        repository.released(FILES, tag="v0.2.0", message="Release", sign=False)
    assert not ran.exists()
    gitrepo.git(kit, "config", "filter.f.clean", spy)
    named = r"names a program, filter\.f\.clean"
    with pytest.raises(ToolExecutionError, match=named), opened_repository(str(kit)):
        pass
    assert not ran.exists()


@pytest.mark.parametrize(
    "place",
    [".git/hooks", ".git/hooks/pre-commit", ".git/config", ".git/included", ".git/refs/tags"],
)
def test_p41c_what_others_could_change_in_a_repository_is_refused(kit: Path, place: str) -> None:
    hook(kit, "pre-commit", "exit 0")
    gitrepo.git(kit, "config", "include.path", "included")
    (kit / ".git/included").write_text("[user]\n\tname = Eve\n", encoding="utf-8")
    os.chmod(kit / place, 0o777)
    said = rf"{place} can be written by everybody \(mode 777\), who could change what is released"
    with pytest.raises(Refused, match=said) as caught, opened_repository(str(kit)):
        pass
    change = f"go-w {kit / place}" if place == ".git/hooks" else f"-R go-w {kit / '.git'}"
    assert caught.value.hint == f"`chmod {change}`"
    os.chmod(kit / place, 0o755)
    with opened_repository(str(kit)) as repository:
        repository.check()


@pytest.mark.root
@pytest.mark.parametrize("place", [".", ".git", ".git/config"])
def test_p41c_the_hint_for_a_repository_of_another_user_is_a_clone(kit: Path, place: str) -> None:
    os.chown(kit / place, 12345, 12345)
    # Git itself refuses a work tree of another user, unless it is told that it is safe.
    gitrepo.git(kit, "config", "--global", "--add", "safe.directory", "*")
    with pytest.raises(Refused, match="another user") as caught, opened_repository(str(kit)):
        pass
    assert caught.value.hint == "clone it as the user that releases"


def test_p41c_a_directory_of_hooks_elsewhere_must_be_the_users_too(
    kit: Path, tmp_path: Path
) -> None:
    hook(kit, "pre-commit", "exit 0")
    (kit / ".git/hooks").rename(tmp_path / "hooks")
    gitrepo.git(kit, "config", "core.hooksPath", str(tmp_path / "hooks"))
    with opened_repository(str(kit)) as repository:
        assert len(repository.programs(sign=False)) == 1
    os.chmod(tmp_path / "hooks", 0o777)
    with pytest.raises(Refused, match="hooks can be written"), opened_repository(str(kit)):
        pass


def test_p41b_nothing_runs_in_a_submodule_and_no_missing_object_is_fetched(
    kit: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    hook(kit, "spy", f"echo ran >> {ran}", "cat")
    spy = str(kit / ".git/hooks/spy")
    inner = gitrepo.repository(kit / "inner")
    (inner / "file").write_text("one", encoding="utf-8")
    (inner / ".gitattributes").write_text("* filter=f\n", encoding="utf-8")
    gitrepo.commit(inner)
    gitrepo.commit(kit, "With a submodule")
    gitrepo.git(kit, "tag", "v0.1.0")
    blob = gitrepo.git(kit, "rev-parse", "HEAD:kit_config.json")
    (kit / "kit_config.json").write_bytes(FILES["kit_config.json"])
    gitrepo.commit(kit)
    (kit / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for key, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", str(tmp_path)),
        ("remote.origin.uploadpack", spy),
    ):
        gitrepo.git(kit, "config", key, value)
    gitrepo.git(inner, "config", "filter.f.clean", spy)
    (inner / "file").write_text("two", encoding="utf-8")
    with opened_repository(str(kit)) as repository:
        repository.check()
        assert not repository.answers("cat-file", "-e", f"{blob}^{{blob}}")
        repository.changed_since("v0.1.0")
        repository.released(FILES, tag="v0.2.0", message="Release", sign=False)
    assert not ran.exists()


def test_what_signs_is_what_git_runs(kit: Path, opened: AuthorRepository, tmp_path: Path) -> None:
    gitrepo.git(kit, "config", "gpg.openpgp.program", "/bin/true")
    gitrepo.git(kit, "config", "gpg.program", "/bin/false")
    assert opened.programs(sign=True) == ["the signing program /bin/false"]
    gitrepo.git(kit, "config", "gpg.format", "ssh")
    gitrepo.git(kit, "config", "gpg.ssh.defaultKeyCommand", "find-key --here")
    finds = "the program find-key --here, which names the key to sign with"
    assert opened.programs(sign=True) == [finds, "the signing program ssh-keygen"]
    gitrepo.git(kit, "config", "user.signingKey", "/k.pub")
    assert len(opened.programs(sign=True)) == 1


def test_hooks_and_the_signing_program_are_told_before_they_run(
    kit: Path, opened: AuthorRepository
) -> None:
    hook(kit, "pre-commit", "exit 0")
    hook(kit, "pre-push", "exit 0")
    (kit / ".git/hooks/commit-msg").write_text("not executable", encoding="utf-8")
    assert opened.programs(sign=False) == ["the hook .git/hooks/pre-commit"]
    assert opened.programs(sign=True)[1] == "the signing program gpg"
    gitrepo.git(kit, "config", "gpg.format", "ssh")
    gitrepo.git(kit, "config", "user.signingKey", "/k.pub")
    gitrepo.git(kit, "config", "commit.gpgSign", "true")
    told = "the signing program ssh-keygen, with the key /k.pub"
    assert opened.programs(sign=False)[1] == told


def test_a_release_is_one_commit_of_these_files_and_one_tag(
    kit: Path, opened: AuthorRepository
) -> None:
    commit = opened.released(FILES, tag="v0.2.0", message="Release words v0.2.0", sign=False)
    assert gitrepo.git(kit, "rev-parse", "v0.2.0^{commit}") == commit
    assert gitrepo.git(kit, "show", "--format=%an %s", "--name-only", "HEAD").split("\n") == [
        *("Ada Release words v0.2.0", "", "CHANGELOG.md", "kit_config.json"),
    ]
    assert gitrepo.git(kit, "cat-file", "-t", "v0.2.0") == "tag"
    assert opened.has_tag("v0.2.0") and opened.tags() == ["v0.2.0"]
    assert state(kit)[2] == "" and not opened.changed_since("v0.2.0")


@pytest.mark.parametrize(
    "failing",
    ["pre-commit", "reference-transaction", "changes", "commits", "index", "tag", "sign"],
)
def test_where_one_step_fails_everything_is_as_it_was(
    kit: Path, opened: AuthorRepository, failing: str
) -> None:
    if failing == "changes":
        hook(kit, "pre-commit", "echo more >> kit_config.json")
    elif failing == "commits":
        once = "test -e .git/once || { touch .git/once; git commit -q --allow-empty -m x; }"
        hook(kit, "post-commit", once)
    elif failing == "index":
        (kit / ".git/index.lock").touch()
    elif failing == "tag":
        gitrepo.git(kit, "tag", "v0.2.0")
    elif failing == "sign":
        gitrepo.git(kit, "config", "gpg.program", "false")
    elif failing == "reference-transaction":
        hook(kit, failing, '[ "$1" != prepared ] || ! grep -q tags/v0.2.0')
    else:
        hook(kit, failing, "echo not today >&2; exit 1")
    before = state(kit)
    with pytest.raises(ToolExecutionError) as caught:
        opened.released(FILES, tag="v0.2.0", message="Release", sign=failing == "sign")
    said = {
        "pre-commit": "git commit failed: not today",
        "changes": "a hook changed kit_config.json",
        "commits": "a hook committed something else with the release: a commit of its own",
        "index": "git add failed",
        "tag": "git tag failed",
        "sign": "git commit failed",
    }
    assert said.get(failing, "git tag failed") in str(caught.value)
    assert state(kit) == before


def test_the_next_command_names_the_remote_that_there_is(
    kit: Path, opened: AuthorRepository
) -> None:
    push = "git push --atomic {} main v0.2.0"
    assert opened.push_command("main", "v0.2.0") == push.format("REMOTE")
    gitrepo.git(kit, "remote", "add", "upstream", "https://example.invalid/x.git")
    assert opened.push_command("main", "v0.2.0") == push.format("upstream")


def test_a_kit_below_the_top_is_released_where_git_shows_relative_paths(
    home: Path, tmp_path: Path
) -> None:
    mono = gitrepo.repository(tmp_path / "mono")
    for name, value in (
        *(("user.name", "Ada"), ("user.email", "ada@example.invalid")),
        ("diff.relative", "true"),
    ):
        gitrepo.git(mono, "config", name, value)
    kit = mono / "kits/words"
    kit.mkdir(parents=True)
    (kit / "kit_config.json").write_text('{"kit_id": "words"}', encoding="utf-8")
    (mono / "notes.txt").write_text("one", encoding="utf-8")
    gitrepo.commit(mono)
    amend = (
        "test -e .git/once && exit",
        *("touch .git/once", "echo two > notes.txt", "git commit -q --amend --no-edit notes.txt"),
    )
    hook(mono, "post-commit", *amend)
    before = state(mono)
    with opened_repository(str(kit)) as repository:
        with pytest.raises(ToolExecutionError) as caught:
            repository.released(FILES, tag="v0.2.0", message="Release", sign=False)
        assert str(caught.value) == ("a hook committed something else with the release: notes.txt")
        assert caught.value.hint == "commit these files before the release, or change the hook"
        assert gitrepo.git(mono, "rev-parse", "HEAD") == before[0]
        gitrepo.git(mono, "reset", "--quiet", "--hard")
        repository.released(FILES, tag="v0.2.0", message="Release", sign=False)
    assert gitrepo.git(mono, "show", "--format=", "--name-only", "--no-relative", "HEAD") == (
        "kits/words/CHANGELOG.md\nkits/words/kit_config.json"
    )
