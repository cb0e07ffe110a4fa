"""README and docs as tests: every fence runs, every link leads somewhere, the generated page is
fresh.
"""

import inspect
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import vespe as package
from tests.acceptance import examples
from tests.support import (
    chat_model,
    pages,
    render_api,
    render_cli,
    render_llms,
    render_reference,
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GATE_PAGES = [page for page in PAGES if page.name not in examples.LONG]
SET_UP = ("./dev demo", "./dev test")
"""Commands that the gate itself runs, so that a page's fence need not."""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A model on loopback, where the vendors' own clients look for theirs; and `vespe` on PATH, as
    a reader has it.
    """
    monkeypatch.setenv(
        "PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    )
    with chat_model.calling("search", {"query": "sourdough", "limit": 2}) as (url, _):
        for name, value in {
            "OPENAI_BASE_URL": url,
            "ANTHROPIC_BASE_URL": url.removesuffix("/v1"),
        }.items():
            monkeypatch.setenv(name, value)
            monkeypatch.setenv(name.replace("BASE_URL", "API_KEY"), "a-key")
        yield


@pytest.mark.parametrize("page", GATE_PAGES, ids=lambda page: page.name)
@pytest.mark.usefixtures("home", "model")
def test_every_fence_of_a_page_runs_in_order_in_one_fresh_directory(
    page: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "reader"
    directory.mkdir()
    with pages.Reader(directory, SET_UP) as reader:
        # its examples need nothing of each other: one interpreter is enough
        if page == render_api.PAGE:
            fences = pages.FENCE.findall(page.read_text(encoding="utf-8"))
            alone = [f"exec({body!r}, {{'__name__': '__main__'}})" for _, _, body in fences]
            reader.run("\n".join(alone))
        else:
            reader.read(page)


def test_the_set_up_commands_of_the_pages_are_the_ones_that_the_gate_runs() -> None:
    gate = (
        (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        if (ROOT / ".ci").is_dir()
        else "\n".join(SET_UP)
    )
    assert set(SET_UP) <= {line.strip() for line in gate.splitlines()}
    assert "$ " + "\n$ ".join(SET_UP) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_picture_brings_all_that_it_shows() -> None:
    asked = {
        path.name: found
        for path in (ROOT / "docs").rglob("*.svg")
        if (
            found := re.findall(
                r"(?:href|url|src|@import)[=( ]+[^)#]{0,3}(?:https?:|//)",
                path.read_text(encoding="utf-8"),
            )
        )
    }
    assert asked == {}


def test_every_relative_link_leads_to_a_file() -> None:
    dead = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(
            r"\]\(([^)#:]+)(?:#[^)]*)?\)",
            re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8")),
        )
        if not (page.parent / target).exists()
    ]
    assert dead == []


def test_the_pages_for_developers_name_no_file_that_is_gone() -> None:
    files = [
        path.as_posix() for folder in ("vespe", "tests") for path in (ROOT / folder).rglob("*.py")
    ]
    gone = [
        f"{page}: {name}"
        for page in ("design.md", "architecture.md", "contributing.md", "sandbox.md", "security.md")
        for name in re.findall(
            r"`((?:[\w.-]+/)*\w+\.py)`",
            re.sub(r"(?ms)^```.*?^```", "", (ROOT / "docs" / page).read_text(encoding="utf-8")),
        )
        if not re.search(r"/a/|[A-Z]{3}", name)
        and not any(path.endswith(f"/{name}") for path in files)
    ]
    assert gone == []


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    assert render_cli.PAGE.read_text(encoding="utf-8") == render_cli.render(), "run `./dev docs`"


def test_the_page_of_configuration_files_is_what_the_schemas_say() -> None:
    page = render_reference.PAGE.read_text(encoding="utf-8")
    assert page == render_reference.render(), "run `./dev docs`"
    headed = ("approvals.flow", "limits.timeout_s", "limits.model_tokens", "tool_budget")
    assert all(f"# `{key}` (" in page for key in headed), "the search finds a key by its heading"
    assert "| `approvals.ask[].tool` |" in page


def test_the_list_of_pages_for_models_is_what_the_pages_say() -> None:
    page = render_llms.PAGE.read_text(encoding="utf-8")
    assert page == render_llms.render(), "run `./dev docs`"
    assert "(troubleshooting.md)" in page


def test_the_page_of_the_python_api_is_what_the_docstrings_say() -> None:
    assert render_api.PAGE.read_text(encoding="utf-8") == render_api.render(), "run `./dev docs`"


def test_every_promised_name_stands_on_the_page_of_the_python_api() -> None:
    page = render_api.PAGE.read_text(encoding="utf-8")
    assert [name for name in package.__all__ if f"### {name}\n" not in page] == ["__version__"]


def test_what_a_program_uses_most_has_an_example_in_its_docstring() -> None:
    """Errors and what others return are shown in the examples of those that use them."""
    wanted = {
        name
        for title in (
            "Functions as tools",
            "Projects",
            "In this process",
            "Agents",
            "Providers",
            "Handlers and streams",
        )
        for name in render_api.GROUPS[title]
    }
    shown = {
        name for name in wanted if "```python" in (inspect.getdoc(getattr(package, name)) or "")
    }
    page = render_api.PAGE.read_text(encoding="utf-8")
    examples = " ".join(body for _, _, body in pages.FENCE.findall(page))
    returned = {
        "ToolFunction",
        "ToolOptions",
        "ToolImplementation",
        "RunResult",
        "serve_http",
        "LLMProvider",
        "ToolHandler",
    }
    returned |= {"StreamContext", "StreamingRequest", "StreamResult", "StreamEvent"}
    assert {name for name in wanted - shown if not re.search(rf"\b{name}\b", examples)} <= returned
