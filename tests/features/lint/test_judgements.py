"""A judgement says what the rules found, and what it rests on that is not in the directory."""

from pathlib import Path

from tests.support.ondisk import write_tool
from vespe.features.lint.judged_directory import ALL
from vespe.features.lint.judgements import Judgement, judge
from vespe.tools.effects import FlowContext

SHELL = {"type": "shell_command", "entrypoint": "no-such-program", "args": {"argv": []}}


def judged(directory: Path) -> Judgement:
    return judge(str(directory), kit_id=None, scope="s", around=FlowContext(), rules=ALL)


def test_it_says_what_was_found_with_its_place(tmp_path: Path) -> None:
    found = judged(write_tool(tmp_path / "tool-a", "one", secret=["A"])).found or []
    (unknown,) = [one for one in found if one.code == "layout-unknown-key"]
    assert (unknown.pointer, unknown.place > (1, 1)) == ("/secret", True)


def test_without_rules_there_is_the_outline_alone(tmp_path: Path) -> None:
    made = judge(
        str(write_tool(tmp_path / "tool-a", "one")),
        kit_id=None,
        scope="s",
        around=FlowContext(),
        rules=None,
    )
    assert made.found is None and made.outline is not None and made.outline.name == "one"


def test_it_rests_on_the_programs_that_run(tmp_path: Path) -> None:
    outside = judged(write_tool(tmp_path / "tool-a", "one", implementation=SHELL)).outside
    assert outside.programs == (("no-such-program", False),) and not outside.is_more
    assert outside.still_holds(str(tmp_path / "tool-a"))
    there = outside._replace(programs=(("no-such-program", True),))
    assert not there.still_holds(str(tmp_path / "tool-a"))


def test_it_rests_on_links_in_the_project(tmp_path: Path) -> None:
    tool = tmp_path / ".vespe/tools/tool-a"
    (tmp_path / "data").symlink_to("/")
    write_tool(tool, "one", implementation=SHELL, permissions={"read": ["data"]})
    outside = judged(tool).outside
    assert outside.leads == (("data", "/"),)
    (tmp_path / "data").unlink()
    assert not outside.still_holds(str(tool))


def test_an_origin_is_something_else(tmp_path: Path) -> None:
    tool = write_tool(tmp_path / "tool-a", "one", created_from={"path": "a.py"})
    assert judged(tool).outside.is_more


def test_a_file_that_is_no_tool_has_no_name(tmp_path: Path) -> None:
    (tmp_path / "tool-a").mkdir()
    (tmp_path / "tool-a/config.json").write_text("[", encoding="utf-8")
    made = judged(tmp_path / "tool-a")
    assert made.name is None and made.outline is None
    assert (made.found or [])[0].code == "layout-unreadable"
