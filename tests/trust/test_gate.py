"""Trust: nothing runs unasked, any change revokes an approval of bytes and is named, and what was
checked is what runs.
"""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import accesses
from tests.support.accesses import Accesses
from tests.support.ondisk import approve_bytes, python_tool, write_tool
from vespe.errors import NotTrusted, ProjectNotFound, Refused, StorageError, UsageError
from vespe.files import stamps
from vespe.files.identity import place_of
from vespe.models import Entry
from vespe.projects.project import read_config, set_active
from vespe.trust import gate
from vespe.trust.gate import Grant, TrustCheck


def tools(root: Path) -> Path:
    return root / ".vespe" / "tools"


def tool(root: Path, uid: str) -> str:
    return str(tools(root) / uid)


@pytest.fixture
def clone(home: Path, tmp_path: Path) -> Path:
    """A project that came from elsewhere: two tools, one with an asset in a directory, an
    executable and bytecode.
    """
    root = tmp_path / "clone"
    python_tool(tools(root) / "tool-a", "add", "return 1")
    (tools(root) / "tool-a" / "assets").mkdir()
    (tools(root) / "tool-a" / "assets" / "words.txt").write_text("one\ntwo\n", encoding="utf-8")
    (tools(root) / "tool-a" / "__pycache__").mkdir()
    (tools(root) / "tool-a" / "__pycache__" / "main.cpython-311.pyc").write_bytes(b"\0\1\2\r\n")
    write_tool(
        tools(root) / "tool-b",
        "run",
        implementation={"type": "shell_command", "path": "run.sh"},
        files={"run.sh": "#!/bin/sh\n"},
    )
    (tools(root) / "tool-b" / "run.sh").chmod(0o755)
    return root


def check(root: Path, uid: str | None = None, *, paths: str = "", trusted: bool = False) -> Grant:
    directory = tool(root, uid) if uid else None
    return gate.check(
        read_config(root),
        directory,
        environ={"VESPE_TRUSTED_PATHS": paths} if paths else {},
        trusted=trusted,
    )


def changes(root: Path, uid: str | None = None) -> tuple[str, ...]:
    with pytest.raises(NotTrusted) as refusal:
        check(root, uid)
    return refusal.value.changes


def test_p1_a_project_that_nobody_approved_is_refused_and_the_refusal_keeps_nothing(
    clone: Path, home: Path
) -> None:
    assert changes(clone) == changes(clone, "tool-a") == ()
    assert list(home.iterdir()) == []


def test_p1_an_approval_of_another_project_does_not_help(clone: Path, tmp_path: Path) -> None:
    python_tool(tools(tmp_path / "mine") / "tool-c", "mine", "return 1")
    approve_bytes(tmp_path / "mine")
    assert changes(clone) == ()


def test_an_approval_of_bytes_holds_with_its_files_and_secrets(clone: Path) -> None:
    approve_bytes(clone, secrets=("KEY",))
    grant = check(clone, "tool-a")
    assert (grant.kind, grant.root, grant.secrets) == ("content", str(clone), ("KEY",))
    assert grant.files is not None
    assert "tool-a/main.py" in grant.files
    assert (grant.allows_secret("KEY"), grant.allows_secret("OTHER")) == (True, False)


def refusal(root: Path, uid: str | None = None) -> NotTrusted:
    with pytest.raises(NotTrusted) as raised:
        check(root, uid)
    return raised.value


def test_p1_the_same_bytes_elsewhere_are_not_approved_and_the_refusal_says_where_they_were(
    clone: Path, tmp_path: Path
) -> None:
    approve_bytes(clone)
    (clone / "Makefile").write_text("build:\n\techo good\n", encoding="utf-8")
    shutil.copytree(clone, tmp_path / "fork")
    (tmp_path / "fork/Makefile").write_text("build:\n\techo evil\n", encoding="utf-8")
    assert refusal(tmp_path / "fork").same_at == str(clone)
    assert str(refusal(tmp_path / "fork")).endswith(f"you approved the same in {clone}")
    assert check(clone).kind == "content"
    approve_bytes(tmp_path / "fork")
    assert check(tmp_path / "fork").kind == "content"


def test_p1_who_approved_a_project_without_tools_has_approved_no_other(
    home: Path, tmp_path: Path
) -> None:
    for name in ("harmless", "hostile"):
        (tmp_path / name / ".vespe/tools").mkdir(parents=True)
        set_active(tmp_path / name, ["git_and_programs"])
    approve_bytes(tmp_path / "harmless")
    assert (refusal(tmp_path / "hostile").same_at, refusal(tmp_path / "hostile").changes) == (
        None,
        (),
    )
    assert check(tmp_path / "harmless").kind == "content"


def test_a_project_that_is_moved_asks_nothing_again(clone: Path, tmp_path: Path) -> None:
    approve_bytes(clone)
    clone.rename(tmp_path / "moved")
    place = place_of(str(tmp_path / "moved"))
    assert place
    if not place.strong:
        pytest.skip(
            "this file system tells no generation of an inode, so that a path is part of a place"
        )
    assert check(tmp_path / "moved").kind == "content"


def test_p1_a_project_cloned_again_at_an_approved_path_is_asked_about_again(
    clone: Path, tmp_path: Path
) -> None:
    approve_bytes(clone)
    shutil.copytree(clone, tmp_path / "other")
    shutil.rmtree(clone)
    (tmp_path / "other").rename(clone)
    assert refusal(clone).same_at == str(clone)


def test_p1_an_approval_of_an_earlier_version_is_asked_for_again_with_its_reason(
    clone: Path, home: Path
) -> None:
    approve_bytes(clone)
    record = next((home / "state/vespe/trust").glob("content-*.json"))
    record.write_text(
        record.read_text(encoding="utf-8").replace('"version": 2', '"version": 1'), encoding="utf-8"
    )
    assert "an earlier version asked for less" in str(refusal(clone))
    approve_bytes(clone)
    assert check(clone).kind == "content"


def test_p2_a_windows_checkout_of_the_same_text_is_the_same_project(clone: Path) -> None:
    approve_bytes(clone)
    for path in tools(clone).rglob("*"):
        if path.is_file() and path.suffix in (".py", ".json", ".md"):
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert check(clone).kind == "content"


@pytest.mark.parametrize("name", ["deploy", "mode.txt", "deploy.sh"])
def test_p2_other_line_ends_of_what_a_shell_may_read_revoke(clone: Path, name: str) -> None:
    path = tools(clone) / "tool-a" / name
    path.write_text(
        "mode=dry-run\ncase $mode in dry-run) echo dry;; *) echo real;; esac # all\n",
        encoding="utf-8",
    )
    approve_bytes(clone)
    assert check(clone).kind == "content"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert changes(clone) == (f"changed tools/tool-a/{name}",)


@pytest.mark.parametrize("name", ["tool-a/main.py", "tool-b/run.sh"])
def test_p2_one_line_end_that_becomes_crlf_revokes_and_is_named(clone: Path, name: str) -> None:
    approve_bytes(clone)
    path = tools(clone) / name
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n", 1))
    assert changes(clone) == (f"changed tools/{name}",)


def test_p2_the_line_ends_of_binaries_are_content(clone: Path) -> None:
    approve_bytes(clone)
    path = tools(clone) / "tool-a/__pycache__/main.cpython-311.pyc"
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    assert changes(clone) == ("changed tools/tool-a/__pycache__/main.cpython-311.pyc",)


def flip(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def remode(path: Path) -> None:
    path.chmod(path.stat().st_mode ^ 0o100)


def add(path: Path) -> None:
    path.with_name("added").write_bytes(b"")


def rename(path: Path) -> None:
    path.rename(path.with_name("renamed"))


def link(path: Path) -> None:
    aside = path.parents[len(path.parents) - 1 - path.parts.index(".vespe")] / "aside"
    path.rename(aside)
    path.symlink_to(aside)


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


MUTATIONS: dict[str, tuple[Callable[[Path], object], str]] = {
    "flip": (flip, "changed {path}"),
    "truncate": (truncate, "changed {path}"),
    "remode": (remode, "mode of {path}: "),
    "add": (add, "added {folder}/added"),
    "delete": (Path.unlink, "removed {path}"),
    "rename": (rename, "renamed {path} -> {folder}/renamed"),
    "link": (link, "{path} is a symbolic link"),
    "fifo": (fifo, "{path} is a FIFO"),
    "directory": (directory, "removed {path}"),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_p2_every_change_of_every_file_revokes_and_is_named_and_reverting_restores(
    clone: Path, mutation: str, tmp_path: Path
) -> None:
    approve_bytes(clone)
    shutil.copytree(clone, tmp_path / "pristine")
    mutate, expected = MUTATIONS[mutation]
    names = sorted(
        path.relative_to(tools(clone)) for path in tools(clone).rglob("*") if path.is_file()
    )
    assert len(names) == 8
    for name in names:
        mutate(tools(clone) / name)
        wanted = expected.format(path=f"tools/{name}", folder=f"tools/{name.parent}")
        assert any(change.startswith(wanted) for change in changes(clone)), (name, changes(clone))
        shutil.rmtree(clone / ".vespe")
        shutil.copytree(tmp_path / "pristine/.vespe", clone / ".vespe")
        assert check(clone).kind == "content", name


def test_p2_a_new_tool_and_a_loose_file_revoke_the_whole(clone: Path) -> None:
    approve_bytes(clone)
    (tools(clone) / "loose").write_bytes(b"")
    assert changes(clone, "tool-a") == ("added tools/loose",)
    (tools(clone) / "loose").unlink()
    write_tool(tools(clone) / "tool-new", "new")
    assert changes(clone, "tool-a") == (
        "added tools/tool-new/config.json",
        "added tools/tool-new/description.md",
    )


def configure(
    root: Path, *active: str, order: tuple[str, ...] = ("project_tools", "active_kits")
) -> None:
    document = {"active_kits": list(active), "tool_resolution_order": list(order)}
    (root / ".vespe/config.json").write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("active", "order"),
    [
        (("one", "two", "three"), ("project_tools", "active_kits")),
        (("two", "one"), ("project_tools", "active_kits")),
        (("one", "two"), ("active_kits", "project_tools")),
        (("one", "two"), ("project_tools", "two", "active_kits")),
        (("one", "two", "three"), ("project_tools", "one", "two")),
    ],
)
def test_p2_one_more_active_kit_or_another_order_revokes_and_is_named(
    clone: Path, active: tuple[str, ...], order: tuple[str, ...]
) -> None:
    configure(clone, "one", "two")
    approve_bytes(clone)
    configure(clone, *active, order=order)
    (said,) = changes(clone)
    assert "three" in said or "another order" in said
    configure(clone, "one", "two")
    assert check(clone).kind == "content"


def test_a_kit_that_is_active_no_longer_and_one_that_a_person_activates_ask_nothing_again(
    clone: Path,
) -> None:
    configure(clone, "one", "two")
    approve_bytes(clone)
    set_active(clone, ["one"], active=False)
    assert check(clone).kind == "content"
    set_active(clone, ["three"])
    assert check(clone).kind == "content"


def test_p1_a_kit_that_a_person_activates_approves_nothing_that_was_not_approved(
    clone: Path,
) -> None:
    approve_bytes(clone)
    configure(clone, "evil")
    set_active(clone, ["three"])
    assert changes(clone) == tuple(f"the kit {kit} is active now" for kit in ("evil", "three"))


def test_the_changes_are_told_for_a_pulled_clone_elsewhere_too(clone: Path, tmp_path: Path) -> None:
    approve_bytes(clone)
    shutil.copytree(clone, tmp_path / "copy")
    flip(tools(tmp_path / "copy") / "tool-a" / "main.py")
    assert changes(tmp_path / "copy") == ("changed tools/tool-a/main.py",)


def test_a_place_that_the_user_made_is_trusted_whatever_becomes_of_it(clone: Path) -> None:
    assert gate.trust_place(clone) == Grant(kind="place", root=str(clone))
    link(tools(clone) / "tool-a" / "main.py")
    grant = check(clone, "tool-a")
    assert (grant.kind, grant.files, grant.allows_secret("ANY")) == ("place", None, True)


def test_a_project_cloned_again_at_a_trusted_path_is_not_trusted(
    clone: Path, tmp_path: Path
) -> None:
    shutil.copytree(clone, tmp_path / "evil")
    gate.trust_place(clone)
    place = place_of(str(clone), ".vespe")
    assert place
    if not place.strong:
        pytest.skip(
            "this file system tells no generation of an inode: the documented residual risk"
        )
    shutil.rmtree(clone)
    shutil.copytree(tmp_path / "evil", clone)
    assert changes(clone) == ()


def test_a_copy_of_a_trusted_place_is_another_place(clone: Path, tmp_path: Path) -> None:
    gate.trust_place(clone)
    shutil.copytree(clone, tmp_path / "copy")
    assert changes(tmp_path / "copy") == ()


def test_a_project_cannot_borrow_the_trust_of_a_place_or_a_tool_by_a_link(
    clone: Path, tmp_path: Path
) -> None:
    gate.trust_place(clone)
    gate.trust_tool(clone, "tool-a")
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / ".vespe").symlink_to(clone / ".vespe")
    assert changes(evil) == changes(evil, "tool-a") == ()
    (evil / ".vespe").unlink()
    tools(evil).mkdir(parents=True)
    (tools(evil) / "tool-a").symlink_to(tool(clone, "tool-a"))
    assert changes(evil, "tool-a") == ()


def test_a_single_trusted_tool_lends_nothing_to_its_project(clone: Path) -> None:
    assert gate.trust_tool(clone, "tool-a").kind == "tool"
    flip(tools(clone) / "tool-a" / "main.py")
    assert check(clone, "tool-a").kind == "tool"
    assert changes(clone, "tool-b") == changes(clone) == ()


def test_a_kits_tool_of_the_same_uid_is_not_the_trusted_tool(clone: Path, tmp_path: Path) -> None:
    gate.trust_tool(clone, "tool-a")
    with pytest.raises(NotTrusted):
        gate.check(read_config(clone), str(tmp_path / "kit" / "tool-a"), environ={})


def test_what_does_not_exist_cannot_be_trusted(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ProjectNotFound):
        gate.trust_place(tmp_path)
    with pytest.raises(ProjectNotFound):
        gate.trust_tool(tmp_path, "tool-a")
    assert list(home.iterdir()) == []


def test_the_flag_and_the_environment_trust_without_a_look_at_the_project(
    clone: Path, tmp_path: Path
) -> None:
    assert check(clone, trusted=True).kind == "flag"
    for paths in (str(clone), str(tmp_path), f"/nowhere:{clone}/", "/"):
        assert check(clone, paths=paths).kind == "environment", paths


def test_the_environment_trusts_neither_a_sibling_nor_a_relative_path(
    clone: Path, tmp_path: Path
) -> None:
    with pytest.raises(NotTrusted):
        check(clone, paths=f"{tmp_path / 'clo'}:{clone / '.vespe'}::")
    with pytest.raises(UsageError, match=r"names '\.'"):
        check(clone, paths=".")


def test_the_environments_path_may_lead_through_a_link(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(clone)
    assert check(clone, paths=str(tmp_path / "link")).kind == "environment"
    assert check(tmp_path / "link", paths=str(clone)).root == str(clone)


def test_untrusting_takes_every_approval_back(clone: Path) -> None:
    approve_bytes(clone)
    gate.trust_tool(clone, "tool-a")
    gate.trust_place(clone)
    assert sorted(approval.kind for approval in gate.untrust(clone)) == ["content", "place", "tool"]
    assert changes(clone, "tool-a") == ()
    assert gate.untrust(clone) == ()


def test_untrusting_reaches_older_bytes_and_places_that_moved(clone: Path, tmp_path: Path) -> None:
    approve_bytes(clone)
    flip(tools(clone) / "tool-a" / "main.py")
    gate.trust_tool(clone, "tool-b")
    clone.rename(tmp_path / "moved")
    (tmp_path / "moved").rename(clone)
    assert sorted(approval.kind for approval in gate.untrust(clone)) == ["content", "tool"]
    flip(tools(clone) / "tool-a" / "main.py")
    assert changes(clone) == ()


def test_a_project_without_tools_can_be_approved_and_untrusted(home: Path, tmp_path: Path) -> None:
    approve_bytes(tmp_path)
    assert check(tmp_path).kind == "content"
    assert [approval.kind for approval in gate.untrust(tmp_path)] == ["content"]


def test_a_check_that_lives_sees_each_change_and_its_reversal(clone: Path) -> None:
    approve_bytes(clone)
    lasting = TrustCheck(read_config(clone), environ={})
    script = tools(clone) / "tool-a" / "main.py"
    for _ in range(3):
        assert lasting.check(tool(clone, "tool-a")).kind == "content"
        flip(script)
        with pytest.raises(NotTrusted, match=r"changed tools/tool-a/main\.py"):
            lasting.check()
        flip(script)


def test_a_check_that_lives_reads_only_what_changed(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve_bytes(clone)
    monkeypatch.setattr(stamps, "_SETTLED_NS", -(10**12))
    lasting = TrustCheck(read_config(clone), environ={})
    found = list(tools(clone).rglob("*"))
    with Accesses(*(path for path in found if path.is_dir()), kind=accesses.READ) as read:
        lasting.check()
        assert read.taken() == {path for path in found if path.is_file()}
        (tools(clone) / "tool-b" / "run.sh").touch()
        lasting.check()
        assert read.taken() == {tools(clone) / "tool-b" / "run.sh"}
        lasting.check()
        assert read.taken() == set()


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for temporary files, which must be empty again at the end."""
    directory = tmp_path / "scratch"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    yield directory
    assert list(directory.iterdir()) == []


def test_approved_bytes_are_pinned_as_a_private_copy_that_goes_away(
    clone: Path, scratch: Path
) -> None:
    approve_bytes(clone)
    with gate.locate(tool(clone, "tool-b") + "/", check(clone)) as place:
        assert os.path.basename(place) == "tool-b"
        assert place.startswith(str(scratch))
        assert (os.stat(place).st_mode & 0o077, os.stat(f"{place}/run.sh").st_mode & 0o777) == (
            0,
            0o700,
        )
        assert sorted(os.listdir(place)) == ["config.json", "description.md", "run.sh"]
    with gate.locate(tool(clone, "tool-a"), check(clone)) as place:
        assert Path(place, "assets", "words.txt").read_text(encoding="utf-8") == "one\ntwo\n"


def test_a_pinned_copy_keeps_the_line_ends_of_its_checkout(clone: Path, scratch: Path) -> None:
    description = tools(clone) / "tool-a" / "description.md"
    description.write_bytes(b"one\ntwo\n")
    approve_bytes(clone)
    description.write_bytes(b"one\r\ntwo\r\n")
    with gate.locate(tool(clone, "tool-a"), check(clone)) as place:
        assert Path(place, "description.md").read_bytes() == b"one\r\ntwo\r\n"


def test_what_a_tool_leaves_in_its_pinned_copy_goes_away_too(clone: Path, scratch: Path) -> None:
    approve_bytes(clone)
    with gate.locate(tool(clone, "tool-a"), check(clone)) as place:
        Path(place, "shut", "inner").mkdir(parents=True)
        Path(place, "shut", "inner", "link").symlink_to("/etc")
        Path(place, "shut").chmod(0)
    assert os.path.isdir("/etc")


@pytest.mark.parametrize("mutation", ["flip", "remode", "add", "delete", "rename", "link"])
def test_p4_a_change_after_the_check_is_refused_and_named(
    clone: Path, scratch: Path, mutation: str
) -> None:
    approve_bytes(clone)
    grant = check(clone)
    mutate, expected = MUTATIONS[mutation]
    mutate(tools(clone) / "tool-a" / "main.py")
    with pytest.raises(NotTrusted) as refusal, gate.locate(tool(clone, "tool-a"), grant):
        pytest.fail("nothing may run")
    assert refusal.value.changes[0].startswith(
        expected.format(path="tools/tool-a/main.py", folder="tools/tool-a")
    )


def test_p4_a_tool_that_is_gone_after_the_check_is_refused(clone: Path, scratch: Path) -> None:
    approve_bytes(clone)
    grant = check(clone)
    shutil.rmtree(tool(clone, "tool-b"))
    with (
        pytest.raises(NotTrusted, match=r"removed tools/tool-b/run\.sh"),
        gate.locate(tool(clone, "tool-b"), grant),
    ):
        pytest.fail("nothing may run")


def test_places_and_kits_run_from_their_own_directory(
    clone: Path, tmp_path: Path, scratch: Path
) -> None:
    approve_bytes(clone)
    with gate.locate(str(tmp_path / "kit" / "tool-a"), check(clone)) as place:
        assert place == str(tmp_path / "kit" / "tool-a")
    with gate.locate(tool(clone, "tool-a"), gate.trust_place(clone)) as place:
        assert place == tool(clone, "tool-a")


def test_p4_a_script_that_is_swapped_all_the_time_never_runs_unapproved(
    clone: Path, scratch: Path
) -> None:
    script = tools(clone) / "tool-b" / "run.sh"
    script.write_bytes(b"#!/bin/sh\necho approved\n")
    approve_bytes(clone)
    done = threading.Event()
    outputs: list[str] = []
    refusals = 0
    writer = threading.Thread(target=swap, args=(script, done))
    writer.start()
    try:
        while len(outputs) < 200 and refusals < 20_000:
            try:
                with gate.locate(tool(clone, "tool-b"), check(clone, "tool-b")) as place:
                    outputs.append(
                        subprocess.run(
                            [f"{place}/run.sh"], capture_output=True, encoding="utf-8", check=True
                        ).stdout
                    )
            except NotTrusted:
                refusals += 1
    finally:
        done.set()
        writer.join()
    assert set(outputs) == {"approved\n"}
    assert len(outputs) == 200
    assert refusals > 0


def swap(script: Path, done: threading.Event) -> None:
    """Swap approved and evil bytes all the time: in place, and by renaming another file over the
    script.
    """
    evil, good = b"#!/bin/sh\necho evil!!!!\n", b"#!/bin/sh\necho approved\n"
    aside = script.parents[3] / "aside"
    while not done.is_set():
        script.write_bytes(evil)
        script.write_bytes(good)
        done.wait(0.002)
        for data in (evil, good):
            aside.write_bytes(data)
            aside.chmod(0o755)
            aside.rename(script)
        done.wait(0.002)


def test_p47_a_private_copy_that_cannot_be_made_is_a_sentence(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve_bytes(clone)
    grant = check(clone)
    monkeypatch.setenv("TMPDIR", "/dev/null/nowhere")
    with (
        pytest.raises(StorageError, match="/dev/null/nowhere"),
        gate.locate(tool(clone, "tool-a"), grant),
    ):
        pytest.fail("nothing may run")


def test_p47_a_disk_that_fills_while_copying_is_a_sentence_and_leaves_nothing(
    clone: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve_bytes(clone)
    grant = check(clone)

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with (
        pytest.raises(StorageError, match="No space left"),
        gate.locate(tool(clone, "tool-a"), grant),
    ):
        pytest.fail("nothing may run")


def test_a_trusted_place_that_others_may_write_runs_what_was_approved_by_its_bytes_alone(
    clone: Path,
) -> None:
    gate.trust_place(clone)
    tools(clone).chmod(0o777)
    with pytest.raises(Refused, match="can be written by everybody"):
        check(clone)
    approve_bytes(clone)
    assert check(clone).kind == "content"
    tools(clone).chmod(0o755)
    assert check(clone).kind == "place"


def test_whether_a_tool_may_run_is_asked_of_the_project_and_of_its_own_directory(
    clone: Path,
) -> None:
    def entry(uid: str) -> Entry:
        return Entry(
            uid=uid,
            name=uid,
            scope="project_tools",
            kit_id=None,
            type=None,
            description=None,
            path=tool(clone, uid),
        )

    may_run = gate.may_run(read_config(clone), environ={})
    assert not may_run(entry("tool-a"))
    gate.trust_created(clone, "tool-a")
    assert may_run(entry("tool-a")) and not may_run(entry("tool-b"))
    assert gate.may_run(read_config(clone), environ={"VESPE_TRUSTED_PATHS": str(clone)})(
        entry("tool-b")
    )


def test_another_content_of_one_file_keeps_the_approval_and_nothing_else_does(clone: Path) -> None:
    approve_bytes(clone)
    config, path = read_config(clone), "tool-a/config.json"
    file = tools(clone) / path

    def change(data: bytes) -> None:
        with gate.carrying_over_files(config) as told:
            file.write_bytes(data)
            told({path: data}, ["TOKEN"])

    change(file.read_bytes() + b" \n")
    assert check(clone).allows_secret("TOKEN") and not check(clone).allows_secret("OTHER")
    with gate.carrying_over_files(config):
        pass
    assert check(clone).kind == "content"
    with gate.carrying_over_files(config) as told:
        file.write_bytes(file.read_bytes() + b"  ")
        told({path: b"something else"}, [])
    with pytest.raises(NotTrusted):
        check(clone)
    change(file.read_bytes() + b" ")
    with pytest.raises(NotTrusted):
        check(clone)
    approve_bytes(clone)
    with gate.carrying_over_files(config) as told:
        file.write_bytes(data := file.read_bytes() + b" ")
        (tools(clone) / "tool-a/more.txt").write_text("x", encoding="utf-8")
        told({path: data}, [])
    with pytest.raises(NotTrusted):
        check(clone)
