"""No key of a repository's configuration that names a program makes git run it, at any door of
Vespe's that starts git.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.shipped_kits.shipped import call, git, load
from vespe.errors import InvalidArguments, ToolExecutionError, VespeError
from vespe.files.confined import Directory
from vespe.git import objects, refs, repository
from vespe.git.changed_paths import changed_paths
from vespe.git.revisions import checked_out
from vespe.git.session import Session

PROGRAMS = (
    "browser.evil.cmd",
    "browser.evil.path",
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.gitProxy",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "credential.https://x.helper",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "difftool.evil.cmd",
    "difftool.evil.path",
    "gpg.openpgp.program",
    "gpg.program",
    "gpg.ssh.defaultKeyCommand",
    "gpg.ssh.program",
    "gpg.x509.program",
    "guitool.evil.cmd",
    "help.browser",
    "instaweb.browser",
    "instaweb.httpd",
    "interactive.diffFilter",
    "man.evil.cmd",
    "man.evil.path",
    "merge.evil.driver",
    "mergetool.evil.cmd",
    "mergetool.evil.path",
    "remote.o.receivepack",
    "remote.o.uploadpack",
    "sendemail.ccCmd",
    "sendemail.tocmd",
    "sendemail.sendmailCmd",
    "sequence.editor",
    "trailer.evil.cmd",
    "trailer.evil.command",
    "uploadpack.packObjectsHook",
    "web.browser",
    *(
        f"pager.{command}"
        for command in (
            "blame",
            "cat-file",
            "config",
            "diff",
            "grep",
            "log",
            "ls-files",
            "ls-tree",
            "show",
            "status",
        )
    ),
)
"""git's own documentation of its configuration, every key that names a program which git itself
starts (`git help -c` lists them).
"""
FILTERS = (
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "lfs.extension.evil.clean",
    "hook.evil.command",
)
"""What no flag switches off: tools that compare files refuse a repository that names them, the
others leave them out.
"""
SHELL = (
    "alias.blame",
    "alias.diff",
    "alias.grep",
    "alias.log",
    "alias.ls-files",
    "alias.show",
    "alias.status",
    "submodule.sub.update",
)
"""Keys whose value is a command after a `!`."""
OTHERS = {
    "branch.main.remote": "o",
    "diff.submodule": "diff",
    "diff.tool": "evil",
    "extensions.partialClone": "o",
    "fetch.recurseSubmodules": "true",
    "format.pretty": "%GG",
    "init.templateDir": "../template",
    "log.showSignature": "true",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "protocol.ssh.allow": "always",
    "remote.o.promisor": "true",
    "remote.o.url": "ssh://localhost/x",
    "remote.o.vcs": "evil",
    "submodule.recurse": "true",
    "http.proxy": "http://127.0.0.1:1",
    "url.ext::sh -c evil.insteadOf": "ssh://",
    "core.hooksPath": "../hooks",
    "trailer.evil.key": "x",
}
"""What leads git to those programs, elsewhere, or to the network."""
HOOKS = (
    "post-checkout",
    "post-index-change",
    "pre-commit",
    "post-commit",
    "reference-transaction",
    "fsmonitor-watchman",
    "pre-auto-gc",
)
MISSING = "1" * 40


class Trap:
    """A repository of one commit and one change, and a program that leaves a line wherever it is
    run.
    """

    def __init__(self, at: Path) -> None:
        self.repo, self.ran, self.program = at / "repo", at / "ran", at / "evil.sh"
        self.program.write_text(f"#!/bin/sh\necho $0 $* >> {self.ran}\ncat\n", encoding="utf-8")
        self.program.chmod(0o755)
        (at / "hooks").mkdir()
        for hook in HOOKS:
            (at / "hooks" / hook).symlink_to(self.program)
        self.repo.mkdir()
        git(self.repo, "init", "-q", "-b", "main")
        for name in ("a.txt", "b.txt"):
            (self.repo / name).write_text("one\n", encoding="utf-8")
        git(self.repo, "add", ".")
        git(self.repo, "commit", "-qm", "first")
        (self.repo / "a.txt").write_text("two\n", encoding="utf-8")
        # newer than the index: git compares what is in it
        os.utime(self.repo / "b.txt", (2**31, 2**31))
        (self.repo / ".git/info/attributes").write_text(
            "a.txt diff=evil\nb.txt filter=evil diff=evil merge=evil\n", encoding="utf-8"
        )

    def set(self, *keys: str, value: str = "") -> None:
        for key in keys:
            git(self.repo, "config", key, value or str(self.program))

    def set_everything(self) -> None:
        self.set(*PROGRAMS)
        self.set(*SHELL, value=f"!{self.program}")
        for key, value in OTHERS.items():
            self.set(key, value=value)

    def untouched(self) -> bool:
        return not self.ran.exists()


@pytest.fixture
def trap(tmp_path: Path, home: Path) -> Trap:
    return Trap(tmp_path)


def tool(name: str, **inputs: Any) -> Callable[[Path], Any]:
    return lambda at: call(load(name), inputs, at=at)


def reads_a_revision(at: Path) -> None:
    with checked_out("HEAD:./", cwd=str(at)) as top:
        assert {"a.txt", "b.txt"} <= set(os.listdir(top))


def is_fetched(at: Path) -> None:
    here = Session(directory=str(at.parent / "ours.git"), what="the kit", kind="path")
    objects.fetch(here, str(at), refs.resolve(here, str(at), None).object)


COMPARING: dict[str, Callable[[Path], Any]] = {
    "git_status": tool("git_and_programs/git_status"),
    "git_diff": tool("git_and_programs/git_diff"),
    "git_diff of a commit": tool("git_and_programs/git_diff", **{"from": "HEAD"}),
}
DOORS: dict[str, Callable[[Path], Any]] = {
    "git_log": tool("git_and_programs/git_log"),
    "git_show": tool("git_and_programs/git_show"),
    "git_blame": tool("git_and_programs/git_blame", path="a.txt"),
    "git_grep": tool("git_and_programs/git_grep", text="one"),
    "git_list_files": tool("git_and_programs/git_list_files"),
    "lint --changed": lambda at: changed_paths("HEAD", cwd=str(at)),
    "tool diff": reads_a_revision,
    "kit install": is_fetched,
    "write_file": tool("file_io_with_git/write_file_with_git", path="new.txt", content="x"),
}


def test_the_trap_is_one_for_git_as_it_comes(trap: Trap) -> None:
    trap.set("core.fsmonitor", "filter.evil.clean")
    git(trap.repo, "status")
    assert "evil.sh" in trap.ran.read_text(encoding="utf-8")


@pytest.mark.parametrize("door", [*COMPARING, *DOORS])
def test_p41b_no_program_of_a_repository_runs_and_its_content_is_given_all_the_same(
    trap: Trap, door: str
) -> None:
    trap.set_everything()
    assert (COMPARING | DOORS)[door](trap.repo) != []
    assert trap.untouched(), trap.ran.read_text(encoding="utf-8")


@pytest.mark.parametrize("key", FILTERS)
def test_p41b_a_filter_of_a_repository_is_refused_where_files_are_compared_and_left_out_elsewhere(
    trap: Trap, key: str
) -> None:
    trap.set(key)
    if key.startswith("filter."):
        trap.set("filter.evil.required", value="true")
    for door in COMPARING.values():
        with pytest.raises(ToolExecutionError, match=key.replace(".", r"\.")):
            door(trap.repo)
    for door in DOORS.values():
        door(trap.repo)
    assert trap.untouched(), trap.ran.read_text(encoding="utf-8")


@pytest.mark.parametrize("scope", ["included", "worktree"])
def test_it_is_the_same_for_configuration_that_is_not_in_the_repositorys_own_file(
    trap: Trap, scope: str
) -> None:
    keys = ("core.fsmonitor", "core.pager", "diff.external", *FILTERS)
    if scope == "included":
        trap.set("include.path", value="../more")
        for key in keys:
            git(trap.repo, "config", "--file", "more", key, str(trap.program))
    else:
        trap.set("extensions.worktreeConfig", value="true")
        for key in keys:
            git(trap.repo, "config", "--worktree", key, str(trap.program))
    for door in DOORS.values():
        door(trap.repo)
    assert trap.untouched(), trap.ran.read_text(encoding="utf-8")


def test_a_filter_that_no_flag_can_name_is_refused(trap: Trap) -> None:
    trap.set("filter.a=b.clean")
    with pytest.raises(VespeError, match="a=b"):
        changed_paths("HEAD", cwd=str(trap.repo))


@pytest.mark.parametrize("name", ["git_show", "git_log", "git_blame", "git_grep", "git_diff"])
def test_p41b_what_a_partial_clone_lacks_is_not_fetched(trap: Trap, name: str) -> None:
    trap.set_everything()
    git(trap.repo, "config", "--unset", "remote.o.vcs")
    inputs = {"git_blame": {"path": "a.txt"}, "git_grep": {"text": "x"}}.get(name, {})
    key = "from" if name == "git_diff" else "revision"
    with pytest.raises(ToolExecutionError):
        call(load(f"git_and_programs/{name}"), inputs | {key: MISSING}, at=trap.repo)
    for fails in (
        lambda: changed_paths(MISSING, cwd=str(trap.repo)),
        lambda: checked_out(f"{MISSING}:x", cwd=str(trap.repo)).__enter__(),
    ):
        with pytest.raises(VespeError):
            fails()
    assert trap.untouched(), trap.ran.read_text(encoding="utf-8")


@pytest.mark.parametrize("door", [*COMPARING, *(name for name in DOORS if name != "kit install")])
def test_p41b_a_bare_repository_that_a_model_wrote_into_its_directory_is_not_read(
    trap: Trap, tmp_path: Path, door: str
) -> None:
    made = tmp_path / "made"
    made.mkdir()
    for name in ("HEAD", "config", "index", "objects", "refs", "packed-refs"):
        source = trap.repo / ".git" / name
        if source.exists():
            subprocess.run(["cp", "-r", str(source), str(made)], check=True)
    config = (
        ("core.bare", "true"),
        ("core.sshCommand", str(trap.program)),
        ("remote.o.url", "ssh://x/y"),
        ("extensions.partialClone", "o"),
    )
    for key, value in config:
        git(made, "config", "--file", "config", key, value)
    with pytest.raises(VespeError):
        (COMPARING | DOORS)[door](made)
    assert trap.untouched(), trap.ran.read_text(encoding="utf-8")


def test_p41b_a_submodules_own_configuration_is_not_asked(trap: Trap, tmp_path: Path) -> None:
    inner = trap.repo / "sub"
    subprocess.run(["git", "clone", "-q", str(trap.repo), str(inner)], check=True)
    git(trap.repo, "add", "sub")
    git(trap.repo, "commit", "-qm", "embed")
    (inner / "c.txt").write_text("x", encoding="utf-8")
    git(inner, "add", "c.txt")
    git(inner, "commit", "-qm", "inner")
    git(trap.repo, "commit", "-qam", "move the submodule")
    git(inner, "config", "diff.external", str(trap.program))
    git(inner, "config", "core.fsmonitor", str(trap.program))
    trap.set("diff.submodule", value="diff")
    assert (
        "Subproject commit" in DOORS["git_show"](trap.repo)
        and COMPARING["git_diff"](trap.repo) == ""
    )
    assert trap.untouched(), trap.ran.read_text(encoding="utf-8")


@pytest.mark.parametrize("way", ["absolute", "relative", "link"])
def test_a_file_elsewhere_is_not_read_as_a_list_of_revisions(
    trap: Trap, tmp_path: Path, way: str
) -> None:
    (tmp_path / "secret").write_text("the-secret\n", encoding="utf-8")
    (trap.repo / "link").symlink_to("../secret")
    trap.set(
        "blame.ignoreRevsFile",
        value={"absolute": str(tmp_path / "secret"), "relative": "../secret", "link": "link"}[way],
    )
    with pytest.raises(ToolExecutionError, match=r"blame\.ignoreRevsFile") as caught:
        DOORS["git_blame"](trap.repo)
    assert "the-secret" not in str(caught.value)


def test_the_repositorys_own_list_of_revisions_to_pass_over_counts(trap: Trap) -> None:
    for text in ("hello world", "hello  world"):
        (trap.repo / "a.txt").write_text(f"{text}\n", encoding="utf-8")
        git(trap.repo, "commit", "-qam", text)
    (trap.repo / ".git-blame-ignore-revs").write_text(
        git(trap.repo, "rev-parse", "HEAD"), encoding="utf-8"
    )
    before = DOORS["git_blame"](trap.repo)
    trap.set("blame.ignoreRevsFile", value=".git-blame-ignore-revs")
    assert DOORS["git_blame"](trap.repo) != before


def test_git_lfs_of_the_repository_hinders_no_commit_of_another_file(trap: Trap) -> None:
    git(trap.repo, "checkout", "-q", ".")
    trap.set("filter.lfs.clean", "filter.lfs.smudge", "filter.lfs.process")
    trap.set("filter.lfs.required", value="true")
    (trap.repo / ".git/info/attributes").write_text("*.bin filter=lfs\n", encoding="utf-8")
    (trap.repo / "x.bin").write_text("large\n", encoding="utf-8")
    assert DOORS["write_file"](trap.repo)["commit"] and trap.untouched()
    with pytest.raises(InvalidArguments, match="filter=lfs"):
        tool("file_io_with_git/write_file_with_git", path="new.bin", content="x")(trap.repo)


def test_the_shell_tools_spell_out_what_every_other_command_begins_with() -> None:
    variables = {f"{name}={value}" for name, value in repository.environment().items()}
    for name in ("git_log", "git_list_files"):
        details = load(f"git_and_programs/{name}").document["implementation_details"]
        first, second, *rest = details["args"]["argv"]
        assert (
            details["entrypoint"] == "env"
            and {first, second} == {"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"} <= variables
        )
        assert rest[: len(repository.GIT)] == list(repository.GIT) and "--literal-pathspecs" in rest


def test_a_command_that_fails_says_in_gits_words_why(trap: Trap, tmp_path: Path) -> None:
    found = repository.work_tree(str(trap.repo))
    with pytest.raises(ToolExecutionError, match=r"git diff failed: .*nowhere"):
        found.tell("diff", "nowhere", "--")
    with pytest.raises(ToolExecutionError, match="not in the working tree"):
        repository.work_tree(str(tmp_path))


def test_files_that_the_configuration_puts_elsewhere_are_not_read(
    trap: Trap, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    trap.set("core.worktree", value=str(tmp_path / "elsewhere"))
    with (
        Directory(trap.repo) as directory,
        pytest.raises(ToolExecutionError, match=r"core\.worktree"),
    ):
        repository.work_tree(directory.root)
