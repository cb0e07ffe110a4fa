"""Where the kits of MCP servers are: what a name means with a lock, and what it means without."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_servers import definition
from tests.support.ondisk import write_kit
from vespe.kits import mcp_kits, mcp_lock, mcp_snapshots, roots

ONE = {"command": ["serve", "one"]}
TWO = {"command": ["serve", "two"], "secrets": ["TOKEN"]}


def written(server: dict[str, Any], *definitions: dict[str, Any]) -> str:
    made = mcp_kits.draft("things", server, definitions or (definition(),), about={"version": "3"})
    return mcp_kits.write(made)


def as_before(home: Path, path: str) -> Path:
    """Put a kit where Vespe 0.2 kept it: under its name."""
    former = home / "data/vespe/kits/things"
    former.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(path, former)
    shutil.rmtree(os.path.dirname(path))
    return former


def test_a_kit_is_kept_by_what_its_server_and_its_tools_are(home: Path) -> None:
    one, two = written(ONE), written(TWO)
    assert one == written(dict(ONE)) != two
    assert os.path.dirname(os.path.dirname(one)) == str(home / "data/vespe/mcp_kits")
    (known,) = [kit for kit in mcp_snapshots.choices("things") if kit.path == one]
    assert os.path.basename(os.path.dirname(one)) == known.digest
    assert mcp_snapshots.names() == ["things"] and mcp_snapshots.root_of(one) == str(
        home / "data/vespe/mcp_kits"
    )


def test_a_name_means_what_the_lock_says_and_without_one_the_only_server(
    home: Path, project: Path
) -> None:
    one = written(ONE)
    assert roots.find_kit("things").path == one
    mcp_lock.keep(str(project), [one])
    written(TWO)
    assert roots.find_kit("things", project=str(project)).path == one
    assert [
        kit.path for kit in roots.find_kits(project=str(project)) if kit.root_kind == "user"
    ] == [one]
    assert "`vespe kit activate things` asks" in (roots.find_kit("things").problem or "")


def test_of_one_server_the_newest_is_meant(home: Path) -> None:
    old, new = written(ONE), written(ONE, definition(description="Newer."))
    os.utime(os.path.join(old, "kit_config.json"), ns=(1, 1))
    assert roots.find_kit("things").path == new
    assert [kit.path for kit in mcp_snapshots.choices("things")] == [new]
    assert [kit.path for kit in mcp_snapshots.same_server("things", ONE)] == [new, old]


def test_what_0_2_kept_under_its_name_is_still_what_the_name_means(
    home: Path, project: Path
) -> None:
    former = as_before(home, written(ONE))
    assert roots.find_kit("things").path == str(former)
    other = written(TWO)
    assert roots.find_kit("things").path == str(former), "it had the name first"
    mcp_lock.keep(str(project), [other])
    assert roots.find_kit("things", project=str(project)).path == other
    newer = written(ONE, definition(description="Newer."))
    os.utime(former / "kit_config.json", ns=(1, 1))
    assert roots.find_kit("things").path == newer


def test_a_lock_of_0_2_means_the_kit_that_0_2_kept_and_a_sync_keeps_it_by_its_digest(
    home: Path, project: Path
) -> None:
    path = written(ONE)
    mcp_lock.keep(str(project), [path])
    former = as_before(home, path)
    assert roots.find_kit("things", project=str(project)).path == str(former)
    assert (
        len([kit for kit in roots.find_kits(project=str(project)) if kit.kit_id == "things"]) == 1
    )
    assert mcp_lock.missing(mcp_lock.of_project(str(project)).values()) == []
    assert roots.find_kit("things", project=str(project)).path == path
    assert roots.find_kit("things", project=str(project)).version == "3"
    assert former.exists(), "other projects may mean it by its name"


def test_a_locked_server_that_is_not_here_is_no_other_one_of_its_name(
    home: Path, project: Path
) -> None:
    path = written(ONE)
    mcp_lock.keep(str(project), [path])
    shutil.rmtree(os.path.dirname(path))
    written(TWO)
    found = roots.find_kit("things", project=str(project))
    assert "`vespe kit sync`" in (found.problem or "")
    former = as_before(home, written(TWO))
    assert "`vespe kit sync`" in (roots.find_kit("things", project=str(project)).problem or "")
    assert former.exists()


def test_a_kit_of_another_kind_keeps_its_name(home: Path) -> None:
    own = write_kit(home / "data/vespe/kits", "things")
    written(ONE)
    assert roots.find_kit("things").path == str(own)
    assert mcp_snapshots.read(str(own)) is None


@pytest.mark.parametrize("entry", [None, [], "x", {"definitions": 1}, {"command": 5}])
def test_an_entry_that_says_nothing_means_no_kit(entry: Any, home: Path, project: Path) -> None:
    written(ONE)
    path = project / ".vespe/kits.lock.json"
    path.write_text(json.dumps({"kits": {}, "mcp_servers": {"things": entry}}), encoding="utf-8")
    assert roots.find_kit("things", project=str(project)).problem


def test_what_cannot_be_read_is_no_kit(home: Path) -> None:
    path = written(ONE)
    with open(os.path.join(path, "kit_config.json"), "w", encoding="utf-8") as file:
        file.write("{")
    assert mcp_snapshots.choices("things") == ()
    assert roots.find_kit("things").problem
