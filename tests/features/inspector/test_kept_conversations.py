"""A conversation that is kept, with a program in it that waits: what the page says of it, in a real
browser too.
"""

import html
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Browser
from tests.support.inspecting import Inspecting, Pages
from vespe import Transcript
from vespe.features.agents.transcripts import ConversationFile, save
from vespe.features.inspector import conversations, kept_conversations

CODE = "total = 0\nfor n in [1, 2]:\n    total += nap(mark='<b>')\ntotal"


def kept(path: Path, *, waits: dict[str, Any] | None, answered: bool = False) -> Path:
    """Keep a conversation with a program that has made one call, and waits for its second."""
    talk = Transcript(provider="simulated", model="m")
    talk.add({"role": "user", "content": "How long?"})
    function = {"name": "run_code", "arguments": json.dumps({"code": CODE})}
    talk.add({"role": "assistant", "tool_calls": [{"id": "c1", "function": function}]})
    call = {"tool": "nap", "digest": "0", "arguments": {"mark": "<b>"}, "line": 3}
    record = {"began": "", "seed": "", "calls": [call | {"outcome": {"result": 1}}]}
    talk.programs["c1"] = record | ({"waits": waits} if waits else {"calls": [call]})
    if answered:
        talk.answer({0: {"role": "tool", "tool_call_id": "c1", "content": "2"}})
        talk.add({"role": "assistant", "content": "Two."})
    save(talk, path)
    return path


WAITS = {"id": "c1/2", "tool": "nap", "arguments": {"mark": "<b>"}, "line": 3, "why": "it <i>naps"}


def test_where_a_program_waits_is_shown_with_its_calls(pages: Pages) -> None:
    root = Path(pages.site._project.root)
    file = kept(root / "kept.json", waits=WAITS)
    assert any(one.is_kept for one in conversations.found(str(root), []))
    assert "kept.json" in pages.get("conversations")
    page = pages.get("conversations", of="kept.json")
    assert "The program waits in line 3" in page and "it &lt;i&gt;naps" in page
    assert '<span class="here">    total += nap(mark=' in page and "1 call of the program" in page
    assert "vespe agent calls kept.json approve" in page and "Replay" not in page
    file.unlink()


def test_the_name_of_a_file_adds_nothing_to_the_commands_that_are_copied(pages: Pages) -> None:
    root = Path(pages.site._project.root)
    name = "a$(touch struck) b.json"
    for waits in (WAITS, WAITS | {"unknown_outcome": True}, None):
        file = kept(root / name, waits=waits, answered=waits is None)
        page = html.unescape(pages.get("conversations", of=name))
        copied = re.findall('data-copy="(vespe [^"]*)"', page)
        assert copied and all(name in shlex.split(one) for one in copied)
    file.unlink()


@pytest.mark.parametrize("calls", [5, "x", {"a": 1}, [5, None]])
def test_what_a_program_called_may_be_anything_in_a_file_that_was_edited(
    tmp_path: Path, calls: Any
) -> None:
    file = kept(tmp_path / "a.json", waits=WAITS)
    document = json.loads(file.read_text(encoding="utf-8"))
    document["vespe"]["programs"]["c1"]["calls"] = calls
    file.write_text(json.dumps(document), encoding="utf-8")
    assert kept_conversations.read(str(file)).said[1].calls[0].inner == ()


def test_what_nobody_saw_end_and_what_has_ended_are_told_apart(tmp_path: Path) -> None:
    unknown = kept(tmp_path / "a.json", waits=WAITS | {"unknown_outcome": True})
    read = kept_conversations.read(str(unknown))
    call = read.said[1].calls[0]
    assert read.stop_reason == "waits" and call.outcome is None and call.is_program
    assert call.waits is not None and call.waits.is_unknown and call.inner[0].outcome is not None
    done = kept_conversations.read(str(kept(tmp_path / "b.json", waits=None, answered=True)))
    call = done.said[1].calls[0]
    assert done.stop_reason == "done" and call.waits is None and call.outcome is not None
    assert call.outcome.result == "2" and call.inner[0].outcome is None  # it had begun
    assert [said.text for said in done.said] == ["How long?", "", "Two."]


def test_a_run_that_goes_on_is_read_from_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    talk, file = Transcript(), ConversationFile(path)
    talk.keep = file.keep
    talk.add({"role": "user", "content": "Hi"})
    assert kept_conversations.begins_as_one(path.read_bytes()[:200])
    assert kept_conversations.read(str(path)).said[0].text == "Hi"


@pytest.mark.parametrize("text", ['{"messages": {"en": 1}}', "[]", "", "messages role"])
def test_other_files_are_no_conversations(text: str) -> None:
    assert not kept_conversations.begins_as_one(text.encode())


def test_a_browser_shows_it_at_every_width(inspected: Inspecting, browser: Browser) -> None:
    kept(inspected.project / "kept.json", waits=WAITS)
    with browser.page() as page:
        name, _, value = inspected.cookie.partition("=")
        name, _, value = inspected.cookie.partition("=")
        where = {"path": inspected.room, "domain": "127.0.0.1"}
        page.send("Network.setCookie", name=name, value=value, **where)
        for width in (400, 800, 1280):
            page.size(width)
            page.open(f"{inspected.origin}{inspected.room}conversations?of=kept.json")
            assert "The program waits in line 3" in page.text and "it <i>naps" in page.text
            wide = page.run("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, width
            marked = "getComputedStyle(document.querySelector('.program .here')).fontWeight"
            assert page.run(marked) == "650"
    (inspected.project / "kept.json").unlink()
