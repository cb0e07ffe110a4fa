"""Whose tools a verb changes."""

from pathlib import Path

import pytest

from tests.support.ondisk import python_tool
from vespe.cli.tool.owner import ToolOwner
from vespe.errors import ToolNotFound, UsageError
from vespe.kits import create


def test_the_project_and_a_kit_each_have_their_own(project: Path, tmp_path: Path) -> None:
    kit, tool = create.found_kit(tmp_path, "words")
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    (Path(kit) / "tool-broken").mkdir()
    own, of_kit = ToolOwner(None, str(project)), ToolOwner(kit, None)
    assert [entry.name for entry in own.list()] == ["one"]
    assert [entry.name for entry in of_kit.list()] == [tool.name]
    assert of_kit.load(of_kit.find(tool.name)).kit_id == "words"
    assert own.load(own.find("one")).kit_id is None
    assert (own.has("one"), own.has(tool.name), of_kit.has("one")) == (True, False, False)
    assert (own.tools_dir, of_kit.tools_dir) == (str(project / ".vespe/tools"), kit)
    for owner, name in ((own, tool.name), (of_kit, "one")):
        with pytest.raises(ToolNotFound):
            owner.find(name)
    with pytest.raises(UsageError):
        ToolOwner(str(tmp_path), None)
