"""What is shown of a kit before it is approved."""

from pathlib import Path

from tests.support.ondisk import python_tool, write_kit, write_tool
from vespe.kits import origins, review, staging


def test_every_tool_with_what_it_runs_and_every_other_file_is_shown(
    tmp_path: Path, home: Path
) -> None:
    kit = write_kit(tmp_path / "src", "rain", allow_hosts=["api.example"])
    python_tool(kit / "tool-a", "now", "return 1", secrets=["KEY"])
    write_tool(kit / "tool-b").joinpath("config.json").write_text("{", encoding="utf-8")
    (kit / "docs").mkdir()
    (kit / "docs" / "x.md").touch()
    shown = review.review_kit(staging.stage(origins.folder_tree(str(kit), "rain"), str(tmp_path)))
    assert (shown.tools[0].uid, shown.tools[0].runs, shown.tools[0].secrets) == (
        "tool-a",
        ("main.py", "now"),
        ("KEY",),
    )
    assert (
        shown.tools[1].problems
        and shown.others == ("docs/x.md", "kit_config.json")
        and shown.config["allow_hosts"] == ["api.example"]
    )


def test_what_is_reviewed_is_what_was_hashed_whatever_is_on_the_disk_since(
    tmp_path: Path, home: Path
) -> None:
    kit = write_kit(tmp_path / "src", "rain")
    python_tool(kit / "tool-a", "now", "return 1")
    staged = staging.stage(origins.folder_tree(str(kit), "rain"), str(tmp_path))
    (tmp_path / "rain/rain/tool-a/config.json").write_text("{", encoding="utf-8")
    review.get_ready()
    assert review.review_kit(staged).tools[0].runs == ("main.py", "now")
