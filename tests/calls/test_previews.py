"""What Vespe itself says that a call would do."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import write_tool
from vespe.calls.path import CallPath
from vespe.calls.policy import Answer, Question, policy_of
from vespe.calls.previews import Preview, previewing
from vespe.calls.registry import ToolRegistry
from vespe.models import Tool
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace

TEXTS = {name: {"type": "string"} for name in ("path", "content", "old_text", "new_text")}
EDIT = Tool(
    uid="u", name="edit", description="", input_schema={"type": "object", "properties": TEXTS}
)


def path_of(project: Path) -> CallPath:
    return CallPath(workspace=open_workspace(str(project)), registry=ToolRegistry(), trusted=True)


def previews(project: Path, tool: Tool = EDIT, **inputs: Any) -> list[tuple[str, str, str]]:
    found = previewing(path_of(project))(tool, inputs)
    return [(one.kind, one.title, one.text) for one in found]


def test_a_new_content_is_shown_as_the_difference_to_the_file(project: Path) -> None:
    (project / "a.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    assert previews(project, path="a.txt", content="one\n2\nthree\n") == [
        (
            "difference",
            "the change to a.txt",
            "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three",
        )
    ]
    assert previews(project, path=str(project / "new.txt"), content="one\n")[0][1:] == (
        f"{project}/new.txt is new",
        "@@ -0,0 +1 @@\n+one",
    )
    same = previews(project, path="a.txt", content="one\ntwo\nthree\n")
    assert same[0][2] == "a.txt has exactly this content already"


@pytest.mark.parametrize("text", ["line\n" * 6000, "x" * 300_000])
def test_a_content_that_is_too_large_to_compare_is_not_said_to_be_shown(
    project: Path, text: str
) -> None:
    (project / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    lines = len(text.splitlines())
    look = previewing(path_of(project))
    written = look(EDIT, {"path": "a.txt", "content": text})
    edited = look(EDIT, {"path": "a.txt", "old_text": "one\ntwo", "new_text": text})
    for (one,) in (written, edited):
        said = f"too large to compare here: 2 lines before, {lines:,} line"
        assert one.text.startswith(said) and one.instead_of == ()


def test_an_edit_is_shown_where_it_is_in_the_file(project: Path) -> None:
    lines = [f"line {number}" for number in range(1, 41)]
    (project / "a.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert previews(project, path="a.txt", old_text="25\nline 26", new_text="5\nline 6") == [
        (
            "difference",
            "Change in a.txt",
            "@@ -22,8 +22,8 @@\n line 22\n line 23\n line 24\n-line 25\n-line 26\n+line 5\n+line 6"
            "\n line 27\n line 28\n line 29",
        )
    ]
    look = previewing(path_of(project))
    every = {"path": "a.txt", "old_text": "line 1\n", "new_text": "", "replace_all": True}
    (project / "a.txt").write_text("line 1\nb\nline 1\n", encoding="utf-8")
    (one,) = look(EDIT, every)
    assert one.text == "@@ -1,3 +1 @@\n-line 1\n b\n-line 1"
    assert one.instead_of == ("old_text", "new_text")


@pytest.mark.parametrize("content", [None, "no such text", "two two", "", "one\r\ntwo\r\nx"])
def test_an_edit_of_an_unknown_place_has_no_line_numbers(
    project: Path, content: str | None
) -> None:
    if content is not None:
        (project / "a.txt").write_text(content, encoding="utf-8", newline="")
    old = "two" if content != "one\r\ntwo\r\nx" else "one\ntwo"
    assert previews(project, path="a.txt", old_text=old, new_text="2")[0][2].endswith("-two\n+2")
    assert "@@" not in previews(project, path="a.txt", old_text=old, new_text="2")[0][2]
    texts = ["\n".join([first, *"abcdefghij", first]) for first in ("1", "2")]
    far = previews(project, path="a.txt", old_text=texts[0], new_text=texts[1])[0][2]
    assert far == "-1\n+2\n a\n b\n c\n…\n h\n i\n j\n-1\n+2"


def test_an_edit_of_a_file_that_is_kept_from_tools_shows_nothing_of_it(project: Path) -> None:
    (project / "keys.txt").write_text("KEY=1\ntwo\n", encoding="utf-8")
    user_config.set_value("files.never_read", ["keys.txt"])
    assert previews(project, path="keys.txt", old_text="two", new_text="2") == [
        ("difference", "Change in keys.txt", "-two\n+2")
    ]


@pytest.mark.parametrize(
    "path", ["../outside.txt", ".env", "link.txt", "folder/link", "big.txt", "bytes", "", "a\0b"]
)
def test_files_that_are_no_business_of_a_question_are_not_read(project: Path, path: str) -> None:
    (project.parent / "outside.txt").write_text("outside", encoding="utf-8")
    (project / ".env").write_text("KEY=1", encoding="utf-8")
    (project / "folder").mkdir()
    os.symlink("../outside.txt", project / "link.txt")
    os.symlink("../../outside.txt", project / "folder/link")
    (project / "big.txt").write_text("x" * 300_000, encoding="utf-8")
    (project / "bytes").write_bytes(b"\xff\xfe")
    assert previews(project, path=path, content="new") == []


def test_what_the_user_keeps_from_tools_is_not_shown_either(project: Path) -> None:
    (project / "keys.txt").write_text("KEY=1", encoding="utf-8")
    user_config.set_value("files.never_read", ["keys.txt"])
    assert previews(project, path="keys.txt", content="new") == []


def test_a_command_and_a_request_are_shown_as_they_would_go_out(project: Path) -> None:
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    script = (
        write_tool(
            project / ".vespe/tools/tool-say",
            "say",
            schema=text,
            implementation={
                "type": "shell_command",
                "path": "say.sh",
                "args": {"argv": ["{text}"], "stdin": "{text}!"},
            },
            files={"say.sh": '#!/bin/sh\necho "$1"\n'},
        )
        / "say.sh"
    )
    script.chmod(0o755)
    write_tool(
        project / ".vespe/tools/tool-post",
        "post",
        schema=text,
        implementation={
            "type": "http_request",
            "path": "https://api.example.org/notes",
            "entrypoint": "POST",
            "args": {"body": {"text": "{text}"}},
        },
    )
    path = path_of(project)
    asked: list[Question] = []

    def no(question: Question) -> Answer:
        asked.append(question)
        return Answer(allowed=False)

    policy = policy_of(path, ask=no)
    for name in ("say", "post"):
        assert policy.why_not(path.tool(name), {"text": "it's"})
    command, request = (one.previews[0] for one in asked)
    assert command == Preview(
        kind="command",
        title="Command",
        text=""".vespe/tools/tool-say/say.sh 'it'"'"'s'\n\nwith this on its input:\nit's!""",
    )
    assert request.kind == "request" and request.text.startswith("POST https://api.example.org/not")
    assert request.text.endswith("\n\nit's")
