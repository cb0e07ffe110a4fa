"""MCP servers in a project's lock: what is kept, what is missing here, and what a stranger's lock
may not say.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.kits.test_mcp_kits import with_skill
from tests.support.mcp_servers import definition
from tests.support.ondisk import write_kit
from vespe.errors import InvalidDocument, Refused, UsageError
from vespe.kits import links, lock, mcp_kits, mcp_lock, mcp_snapshots, roots

SERVER = {"command": ["serve", "it"], "secrets": ["TOKEN"]}


def made(*definitions: dict[str, Any], server: dict[str, Any] | None = None) -> mcp_kits.KitDraft:
    return mcp_kits.draft("things", server or SERVER, definitions or (definition(),), about={})


@pytest.fixture
def root(project: Path) -> str:
    shipped = roots.find_kit("file_io_without_git").path
    mcp_lock.keep(str(project), [mcp_kits.write(made()), shipped])
    return str(project)


def test_a_lock_keeps_how_a_server_is_reached_and_what_it_defined(root: str) -> None:
    (kept,) = mcp_lock.read(lock.project_lock(root)).values()
    assert kept.server == SERVER and list(kept.definitions) == ["echo"]
    assert mcp_lock.missing([kept]) == [], "it is here as it was locked"
    mcp_lock.check(made(), kept, "lock")


def test_what_is_beside_the_servers_stays_and_a_server_can_go_again(root: str) -> None:
    path = Path(lock.project_lock(root))
    path.write_text(
        json.dumps({"later": 1, **json.loads(path.read_text(encoding="utf-8"))}), encoding="utf-8"
    )
    lock.update_lock(str(path), lambda kits: None)
    assert mcp_lock.of_project(root)
    mcp_lock.forget(root, ["things", "others"])
    assert (
        mcp_lock.of_project(root) == {}
        and json.loads(path.read_text(encoding="utf-8"))["later"] == 1
    )


def test_other_definitions_are_missing_here_and_refused_from_the_server(root: str) -> None:
    (kept,) = mcp_lock.of_project(root).values()
    mcp_lock.keep(
        root,
        [mcp_kits.write(made(definition(description="Another."), definition("more")))],
    )
    mcp_lock.tidy("things", SERVER, keep="")
    ((wanted, before),) = mcp_lock.missing([kept])
    assert wanted == kept and set(before) == {"echo", "more"}
    with pytest.raises(InvalidDocument, match="echo, more"):
        mcp_lock.check(made(definition(description="Another."), definition("more")), kept, "lock")


def test_another_server_of_that_name_stands_beside_it(root: str, tmp_path: Path) -> None:
    (kept,) = mcp_lock.of_project(root).values()
    other = mcp_kits.write(made(server={"command": ["serve", "another"]}))
    assert mcp_lock.missing([kept]) == []
    assert roots.find_kit("things", project=root).path != other
    assert roots.find_kit("things", project=root).problem is None
    assert "2 MCP servers have this name" in (roots.find_kit("things").problem or "")


def test_a_link_of_that_name_goes_before_the_lock_and_is_told(root: str, tmp_path: Path) -> None:
    links.link_kit(write_kit(tmp_path, "things"))
    with pytest.raises(UsageError, match="another kit called 'things'"):
        mcp_lock.missing(mcp_lock.of_project(root).values())


def test_only_what_no_project_needs_is_deleted(root: str, tmp_path: Path) -> None:
    first = roots.find_kit("things", project=root).path
    (tmp_path / "other/.vespe").mkdir(parents=True)
    second = mcp_kits.write(made(definition(description="Newer.")))
    mcp_lock.keep(str(tmp_path / "other"), [second])
    third = mcp_kits.write(made(definition(description="Newest.")))
    mcp_lock.tidy("things", SERVER, keep="")
    assert [os.path.exists(path) for path in (first, second, third)] == [True, True, False]
    assert mcp_lock.users("things", but=root) == {second: str(tmp_path / "other")}
    assert mcp_lock.removable("things", root) == [first]
    with pytest.raises(Refused, match="is used by the project"):
        mcp_lock.removable("things", str(tmp_path))
    Path(lock.project_lock(tmp_path / "other")).write_text("{", encoding="utf-8")
    assert mcp_lock.users("things") is None, "nobody knows what it needs"
    assert mcp_lock.removable("things", root) == []


@pytest.mark.parametrize(
    "entry",
    [
        [],
        {},
        {"command": ["a"], "url": "https://example.com"},
        {"command": []},
        {"command": "a"},
        {"command": [1]},
        {"url": "file:///x"},
        {"command": None},
        {"command": ["a"], "definitions": {"x": 1}},
        {"command": ["a"], "definitions": []},
        {"command": ["a\0b"]},
        {"url": "https://example.com", "headers": {"A": 1}},
        {"command": ["a"], "secrets": ["a b"]},
        {"command": ["a"], "timeout_s": "x"},
    ],
)
def test_an_entry_that_is_no_server_is_named_with_its_place(entry: Any, tmp_path: Path) -> None:
    path = tmp_path / "kits.lock.json"
    path.write_text(json.dumps({"kits": {}, "mcp_servers": {"things": entry}}), encoding="utf-8")
    with pytest.raises(InvalidDocument, match="mcp_servers"):
        mcp_lock.read(str(path))


def test_a_name_of_several_servers_is_removed_in_the_project_that_means_one(
    root: str, tmp_path: Path
) -> None:
    other = tmp_path / "other place"
    (other / ".vespe").mkdir(parents=True)
    (other / ".vespe/config.json").write_text("{}", encoding="utf-8")
    mcp_lock.keep(str(other), [mcp_kits.write(made(server={"command": ["another"]}))])
    with pytest.raises(UsageError, match="2 MCP servers are called 'things'") as caught:
        mcp_lock.removable("things", None)
    assert f"`vespe kit remove things --project '{other}'`" in caught.value.hint
    assert mcp_lock.removable("things", root) == [mcp_kits.kit_path(made())]


def test_a_name_that_a_kit_of_ones_own_has_is_for_no_server(home: Path) -> None:
    write_kit(home / "data/vespe/kits", "things")
    with pytest.raises(UsageError) as caught:
        mcp_kits.check_new("things", SERVER)
    assert caught.value.hint == "choose another name for the kit"


def test_other_bytes_of_a_skill_are_not_what_is_locked(home: Path, project: Path) -> None:
    made = with_skill()
    path = mcp_kits.write(made)
    mcp_lock.keep(str(project), [path])
    (locked,) = mcp_lock.of_project(str(project)).values()
    assert locked.skills == made.skills.pins()
    entry = json.loads(Path(lock.project_lock(project)).read_text(encoding="utf-8"))
    assert mcp_snapshots.locked_path("sea", entry["mcp_servers"]["sea"]) == path
    mcp_lock.check(made, locked, "lock")
    assert mcp_lock.missing([locked]) == []
    with pytest.raises(InvalidDocument, match=r"the skill skill://tides/SKILL\.md"):
        mcp_lock.check(with_skill(b"other"), locked, "lock")
    # Models are shown the description before they read the file.
    with pytest.raises(InvalidDocument, match=r"the skill skill://tides/SKILL\.md"):
        mcp_lock.check(with_skill(description="Obey."), locked, "lock")


@pytest.mark.parametrize("skills", [[], {"tool": "a b", "files": {}}, {"tool": "a", "files": 1}])
def test_a_lock_whose_skills_are_none_is_named_with_its_place(
    skills: object, home: Path, project: Path
) -> None:
    path = Path(lock.project_lock(project))
    server = {"command": ["serve"], "definitions": {}, "skills": skills}
    path.write_text(json.dumps({"version": 1, "mcp_servers": {"sea": server}}), encoding="utf-8")
    with pytest.raises(InvalidDocument, match="/mcp_servers/sea/skills"):
        mcp_lock.read(str(path))
