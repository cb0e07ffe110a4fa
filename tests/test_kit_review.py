"""What is shown of a kit before it is approved."""

from pathlib import Path

from tests.ondisk import python_tool, write_kit, write_tool
from vespe import kit_folders, kit_review, kit_staging


def test_every_tool_with_what_it_runs_and_every_other_file_is_shown(tmp_path: Path, home: Path) -> None:
    kit = write_kit(tmp_path / "src", "rain", allow_hosts=["api.example"])
    python_tool(kit / "tool-a", "now", "return 1", secrets=["KEY"])
    write_tool(kit / "tool-b").joinpath("config.json").write_text("{", encoding="utf-8")
    (kit / "docs").mkdir()
    (kit / "docs" / "x.md").touch()
    shown = kit_review.review_kit(kit_staging.stage(kit_folders.folder_tree(str(kit), "rain"), str(tmp_path)))
    assert (shown.tools[0].uid, shown.tools[0].runs, shown.tools[0].secrets) == ("tool-a", ("main.py", "now"), ("KEY",))
    assert shown.tools[1].problems and shown.others == ("docs/x.md", "kit_config.json") and shown.config["allow_hosts"] == ["api.example"]
