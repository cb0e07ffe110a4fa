"""What is shown before an approval is all of it, unshortened, and exactly what is then approved."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_tool
from vespe.errors import NotTrusted, Refused
from vespe.files import walk
from vespe.projects.project import read_config
from vespe.trust import approvals, gate
from vespe.trust.review import Review, ToolReview, approve, review

EVIL = "\x1b[2K\u202e" + "x" * 10_000


def tools(root: Path) -> Path:
    return root / ".vespe" / "tools"


def shell(entrypoint: str, *argv: Any) -> dict[str, Any]:
    return {"type": "shell_command", "entrypoint": entrypoint, "args": {"argv": list(argv)}}


@pytest.fixture
def clone(home: Path, tmp_path: Path) -> Path:
    root = tmp_path / "clone"
    write_tool(
        tools(root) / "tool-a",
        "log",
        implementation=shell("git", "log", ["-n", "{n}"], EVIL),
        secrets=["TOKEN", "KEY"],
    )
    url = "https://user@api.example.com:8443/v1/{city}?q=1"
    http = {"type": "http_request", "path": url, "entrypoint": "GET", "args": {}}
    write_tool(
        tools(root) / "tool-b",
        "weather",
        implementation=http,
        permissions={"network": ["cdn.example.com"]},
        secrets=["KEY"],
    )
    python_tool(tools(root) / "tool-c", "add", "return 1")
    return root


def reviewed(root: Path) -> Review:
    return review(read_config(root))


def shown(root: Path, uid: str) -> ToolReview:
    return next(tool for tool in reviewed(root).tools if tool.uid == uid)


def test_p5_a_command_is_given_whole_with_every_character(clone: Path) -> None:
    tool = shown(clone, "tool-a")
    assert tool.runs == ("git", "log", '["-n","{n}"]', EVIL)
    assert (tool.name, tool.type, tool.secrets) == ("log", "shell_command", ("TOKEN", "KEY"))
    assert tool.implementation == shell("git", "log", ["-n", "{n}"], EVIL)
    assert json.loads(tool.config)["implementation_details"] == tool.implementation


def test_p5_an_http_tool_shows_its_method_its_url_and_every_host(clone: Path) -> None:
    tool = shown(clone, "tool-b")
    assert tool.runs == ("GET", "https://user@api.example.com:8443/v1/{city}?q=1")
    assert tool.hosts == ("api.example.com:8443", "cdn.example.com")


def test_p5_a_python_tool_shows_its_script_its_function_and_all_its_files(clone: Path) -> None:
    tool = shown(clone, "tool-c")
    assert tool.runs == ("main.py", "add")
    assert tool.files == ("config.json", "description.md", "main.py")
    assert tool.directory == str(tools(clone) / "tool-c")
    assert (tool.problems, tool.hosts) == ((), ())


def test_the_secrets_of_all_tools_are_shown_together(clone: Path) -> None:
    assert reviewed(clone).secrets == ("KEY", "TOKEN")


@pytest.mark.parametrize(
    "config",
    [
        "",
        "{",
        "[]",
        '{"implementation_details": 3, "secrets": {"A": 1}, "permissions": [], "name": 4}',
    ],
)
def test_p5_a_broken_tool_is_shown_with_its_raw_text_and_what_is_wrong(
    clone: Path, config: str
) -> None:
    (tools(clone) / "tool-a" / "config.json").write_text(config, encoding="utf-8")
    tool = shown(clone, "tool-a")
    assert (tool.config, tool.name, tool.type, tool.runs, tool.secrets, tool.hosts) == (
        config,
        None,
        None,
        (),
        (),
        (),
    )
    assert tool.problems


def test_p5_a_broken_tool_that_can_be_read_shows_what_it_says(clone: Path) -> None:
    write_tool(
        tools(clone) / "tool-d",
        "no name!",
        implementation={"type": "magic", "path": ["odd"], "entrypoint": "go"},
    )
    tool = shown(clone, "tool-d")
    assert (tool.name, tool.type, tool.runs) == ("no name!", "magic", ('["odd"]', "go"))
    assert tool.problems


def test_a_directory_without_a_config_and_files_of_no_tool_are_shown(clone: Path) -> None:
    (tools(clone) / "shared").mkdir()
    (tools(clone) / "shared" / "lib.py").touch()
    (tools(clone) / "loose.sh").touch()
    assert reviewed(clone).others == ("loose.sh",)
    assert (shown(clone, "shared").files, shown(clone, "shared").config) == (("lib.py",), "")


def test_a_config_larger_than_vespe_reads_is_part_of_the_digest_and_broken(clone: Path) -> None:
    (tools(clone) / "tool-a" / "config.json").write_text(" " * 1_048_577, encoding="utf-8")
    assert shown(clone, "tool-a").problems
    assert reviewed(clone).digest == walk.scan(str(clone), *gate.TOOLS).digest


def test_what_is_odd_is_shown_with_its_tool_and_cannot_be_approved_by_bytes(clone: Path) -> None:
    (tools(clone) / "tool-c" / "link.py").symlink_to("main.py")
    found = reviewed(clone)
    assert (found.digest, dict(found.odd)) == (None, {"tool-c/link.py": "a symbolic link"})
    assert "link.py" in shown(clone, "tool-c").files
    with pytest.raises(Refused, match=r"tools/tool-c/link\.py is a symbolic link"):
        approve(found)
    assert not approvals.any_content()


def test_what_is_odd_can_be_trusted_as_a_place(clone: Path) -> None:
    os.mkfifo(tools(clone) / "fifo")
    assert approve(reviewed(clone), develop=True).kind == "place"
    assert gate.check(read_config(clone), environ={}).kind == "place"


def test_a_tools_directory_that_is_a_link_is_odd_as_a_whole(clone: Path, tmp_path: Path) -> None:
    tools(clone).rename(tmp_path / "aside")
    tools(clone).symlink_to(tmp_path / "aside")
    found = reviewed(clone)
    assert (found.tools, found.others, list(found.odd)) == ((), (), [""])
    with pytest.raises(Refused, match="tools is not a directory"):
        approve(found)


def test_p5_what_was_shown_is_what_is_approved(clone: Path) -> None:
    found = reviewed(clone)
    grant = approve(found)
    assert (grant.kind, grant.files, grant.secrets) == ("content", found.files, ("KEY", "TOKEN"))
    checked = gate.check(read_config(clone), environ={})
    assert checked == grant
    assert (reviewed(clone).approved, reviewed(clone).former.changes) == ("content", ())


@pytest.mark.parametrize("develop", [False, True])
def test_p5_what_changed_after_it_was_shown_is_not_approved(clone: Path, develop: bool) -> None:
    found = reviewed(clone)
    (tools(clone) / "tool-c" / "main.py").write_text("import os\n", encoding="utf-8")
    with pytest.raises(NotTrusted) as refusal:
        approve(found, develop=develop)
    assert refusal.value.changes == ("changed tools/tool-c/main.py",)
    with pytest.raises(NotTrusted):
        gate.check(read_config(clone), environ={})


def test_a_place_that_was_exchanged_after_it_was_shown_is_not_approved(
    clone: Path, tmp_path: Path
) -> None:
    found = reviewed(clone)
    shutil.copytree(clone / ".vespe", tmp_path / "other")
    (clone / ".vespe").rename(tmp_path / "aside")
    (tmp_path / "other").rename(clone / ".vespe")
    with pytest.raises(NotTrusted, match="another directory"):
        approve(found, develop=True)


def test_asked_again_it_shows_what_differs_from_the_last_approval(clone: Path) -> None:
    approve(reviewed(clone))
    (tools(clone) / "tool-c" / "main.py").write_text("import os\n", encoding="utf-8")
    (tools(clone) / "tool-c" / "new.py").touch()
    found = reviewed(clone)
    assert (found.approved, found.former.changes) == (
        None,
        ("added tools/tool-c/new.py", "changed tools/tool-c/main.py"),
    )
    approve(found)
    assert reviewed(clone).former.changes == ()


def test_a_trusted_place_is_shown_as_such(clone: Path) -> None:
    gate.trust_place(clone)
    assert reviewed(clone).approved == "place"


def test_reviewing_writes_nothing(clone: Path, home: Path) -> None:
    found: Review = reviewed(clone)
    assert [tool.uid for tool in found.tools] == ["tool-a", "tool-b", "tool-c"]
    assert list(home.iterdir()) == []


def test_a_project_without_tools_has_nothing_to_show_and_can_be_approved(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / ".vespe").mkdir()
    assert reviewed(tmp_path).tools == ()
    assert approve(reviewed(tmp_path)).kind == "content"
