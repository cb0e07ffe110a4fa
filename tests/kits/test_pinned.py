"""What runs of an installed kit is what was approved, whatever happens to the store meanwhile."""

import os
import threading
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.errors import InvalidDocument, Refused
from vespe.kits import origins, pinned, staging, store
from vespe.trust import approvals


@pytest.fixture
def tool(tmp_path: Path, home: Path) -> Path:
    """The directory of an installed and approved tool."""
    source = write_kit(tmp_path / "src", "weather")
    python_tool(source / "tool-a", "now", "return 1")
    with store.staging() as directory:
        staged = staging.stage(origins.folder_tree(str(source), "weather"), directory)
        with store.locked():
            staging.commit(staged)
    approvals.store_kit(staged.digest, str(source))
    return Path(store.kit_path(staged.digest, "weather")) / "tool-a"


def test_the_copy_is_private_and_has_the_kit_s_config_beside_it(tool: Path) -> None:
    with pinned.locate(str(tool)) as copy:
        assert os.path.basename(copy) == "tool-a" and copy != str(tool)
        assert (
            Path(copy, "../kit_config.json").read_bytes()
            == (tool.parent / "kit_config.json").read_bytes()
        )
    assert not os.path.exists(copy)


def test_a_tool_outside_the_store_is_where_it_is(tmp_path: Path, home: Path) -> None:
    with pinned.locate(str(tmp_path)) as directory:
        assert directory == str(tmp_path)


def test_bytes_that_nobody_approved_do_not_run(tool: Path, home: Path) -> None:
    for record in home.rglob("kit-*.json"):
        record.unlink()
    with pytest.raises(Refused, match="have not approved"), pinned.locate(str(tool)):
        pass


@pytest.mark.parametrize(
    "mutation", ["change", "add", "remove", "link", "mode", "config", "manifest"]
)
def test_p4_whatever_changed_is_refused_by_name(mutation: str, tool: Path) -> None:
    target = {
        "config": tool.parent / "kit_config.json",
        "manifest": tool.parent.parent / "manifest",
    }.get(mutation, tool / "main.py")
    os.chmod(target.parent, 0o755)
    if mutation == "add":
        target = tool / "json.py"
        target.touch()
    elif mutation == "mode":
        target.chmod(0o755)
    elif mutation in ("remove", "link"):
        target.unlink()
        if mutation == "link":
            target.symlink_to("/etc/passwd")
    else:
        target.write_text(target.read_text(encoding="utf-8") + " ", encoding="utf-8")
    with pytest.raises(InvalidDocument, match=target.name), pinned.locate(str(tool)):
        pass


def test_p4_a_script_that_is_rewritten_while_it_is_checked_never_comes_through(tool: Path) -> None:
    good, stop = (tool / "main.py").read_bytes(), threading.Event()

    def rewrite() -> None:
        while not stop.is_set():
            for data in (b"evil" * 20, good):
                (tool / "main.py").write_bytes(data)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        for _ in range(100):
            try:
                with pinned.locate(str(tool)) as copy:
                    assert Path(copy, "main.py").read_bytes() == good
            except InvalidDocument:
                continue
    finally:
        stop.set()
        writer.join()
