"""The page of one tool: run by its form, asked about where an agent would ask, and shown with all
that is known of it.
"""

import json
from pathlib import Path

from tests.support.inspecting import Pages
from vespe.features.inspector.sources import MAX_SHOWN
from vespe.kits import roots


def test_a_tool_that_only_reads_runs_at_once_and_its_call_is_in_the_log(pages: Pages) -> None:
    page = pages.follow(pages.post("tool", "project_tools", "tool-read"))
    assert 'class="outcome ok"' in page
    assert "No calls yet" not in page
    assert "[\n  1,\n  2\n]" in page


def test_any_other_tool_waits_for_a_yes_to_exactly_what_is_shown(pages: Pages) -> None:
    words = ("tool", "project_tools", "tool-say")
    asked = pages.post(*words, in_text="hello")
    page = pages.follow(asked)
    key = asked.headers["location"].partition("waiting=")[2].partition("#")[0]
    assert "Run it?" in page
    assert "is not marked read-only and may" in page
    assert "outcome ok" not in page
    assert "hello" in pages.follow(pages.post(*words, waiting=key, answer="once"))
    assert pages.post(*words, waiting=key, answer="once").status == 404  # one yes is for one call


def test_a_no_runs_nothing_and_is_said(pages: Pages) -> None:
    words = ("tool", "project_tools", "tool-say")
    asked = pages.post(*words, in_text="hello")
    page = pages.follow(
        pages.post(
            *words,
            waiting=asked.headers["location"].partition("waiting=")[2].partition("#")[0],
            answer="no",
        )
    )
    assert "the user has denied this call" in page


def test_arguments_that_do_not_fit_stay_in_the_form_with_what_is_wrong(pages: Pages) -> None:
    page = pages.follow(
        pages.post("tool", "project_tools", "tool-nap", in_mark="a", whole='{"mark": 1}')
    )
    assert "invalid_arguments" in page
    assert 'aria-invalid="true"' in page
    assert "{&#34;mark&#34;: 1}" in page
    assert "invalid_json" in pages.follow(
        pages.post("tool", "project_tools", "tool-nap", whole="{")
    )


def test_a_broken_tool_is_shown_with_what_is_wrong_and_cannot_be_run(pages: Pages) -> None:
    page = pages.get("tool", "project_tools", "tool-bad")
    assert "objekt" in page
    assert '<section id="run"' not in page
    assert pages.post("tool", "project_tools", "tool-bad").status == 422


def test_a_model_is_shown_other_shapes(pages: Pages) -> None:
    assert "input_schema" in pages.get("tool", "project_tools", "tool-say", **{"as": "anthropic"})
    assert "parameters" in pages.get("tool", "project_tools", "tool-say", **{"as": "nonsense"})


def test_an_example_fills_the_form(pages: Pages) -> None:
    place = Path(pages.site._project.root) / ".vespe/tools/tool-say/config.json"
    config = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(
        json.dumps(config | {"examples": [{"input": {"text": "from an example"}}]}),
        encoding="utf-8",
    )
    assert "from an example</textarea>" in pages.get(
        "tool", "project_tools", "tool-say", example="1"
    )
    assert "from an example</textarea>" not in pages.get(
        "tool", "project_tools", "tool-say", example="2"
    )


def test_a_tool_that_is_not_here_is_not_found(pages: Pages) -> None:
    assert pages.answer("tool", "project_tools", "tool-gone").status == 404
    assert pages.post("tool", "nowhere", "tool-read").status == 404
    assert pages.answer("tool", "project_tools").status == 404


def test_the_page_of_every_tool_of_every_kit_that_ships_is_shown(pages: Pages) -> None:
    shipped = [kit for kit in roots.find_kits() if kit.root_kind == "shipped"]
    tools = [(kit.kit_id, uid) for kit in shipped for uid in roots.tool_directories(kit.path)]
    pages_shown = {uid: pages.get("tool", scope, uid) for scope, uid in tools}
    assert {"compiled", "file_io_with_git"} <= {kit.kit_id for kit in shipped}
    assert len(pages_shown) == sum(kit.tools for kit in shipped)
    assert "tool.wasm" in pages_shown["tool-uid_word_count_compiled"]


def test_a_large_file_that_is_not_text_is_named_and_not_shown(pages: Pages) -> None:
    tool = Path(pages.site._project.root) / ".vespe/tools/tool-read"
    (tool / "picture.png").write_bytes(b"\x89PNG\0" * MAX_SHOWN)
    (tool / "cut.txt").write_text("é" * MAX_SHOWN, encoding="utf-8")
    page = pages.get("tool", "project_tools", "tool-read")
    assert f"This file is not text, so it is not shown: <code>{tool}/picture.png" in page
    assert f"The first {MAX_SHOWN // 2} characters of" in page


def test_what_a_secret_is_for_is_shown_with_a_link(pages: Pages) -> None:
    place = Path(pages.site._project.root) / ".vespe/tools/tool-say/config.json"
    config = json.loads(place.read_text(encoding="utf-8"))
    item = {"name": "PAY_KEY", "description": "it <b>pays</b>", "docs_url": 'https://h.org/?a="b'}
    place.write_text(json.dumps(config | {"secrets": [item]}), encoding="utf-8")
    page = pages.get("tool", "project_tools", "tool-say")
    assert "PAY_KEY</span>: it &lt;b&gt;pays&lt;/b&gt;" in page
    assert '<a href="https://h.org/?a=&#34;b" rel="noreferrer noopener">' in page
