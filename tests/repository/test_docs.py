"""README and docs as tests: every fence runs, every link leads somewhere, the generated page is
fresh.
"""

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import vespe as package
from tests.support import chat_model, render_api, render_cli, render_llms, render_reference
from tests.support.ondisk import vespe

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SET_UP = ("./dev demo", "./dev test")
"""Commands that the gate itself runs, so that a page's fence need not."""
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    line: str
    expected: str

    @property
    def command(self) -> str:
        return self.line.partition("  # exit ")[0]

    @property
    def code(self) -> int:
        return int(self.line.partition("  # exit ")[2] or 0)


def steps(fence: str) -> list[Step]:
    pieces = re.split(r"^\$ ", fence, flags=re.MULTILINE)[1:]
    return [
        Step(line, "\n".join(rest))
        for line, *rest in (piece.rstrip("\n").split("\n") for piece in pieces)
    ]


def assert_like(seen: str, expected: str) -> None:
    """Compare output line by line; `…` stands for any text in a line, and alone on the last line
    for any further lines.
    """
    wanted = [line.strip() for line in expected.split("\n") if line.strip()]
    lines = [line.strip() for line in seen.split("\n") if line.strip()]
    if wanted and wanted[-1] == "…":
        wanted.pop()
        lines = lines[: len(wanted)]
    assert len(lines) == len(wanted), seen
    for line, pattern in zip(lines, wanted, strict=True):
        assert re.fullmatch(
            ".*".join(map(re.escape, pattern.split("…"))),
            re.sub(r"\s+", " ", line) if " " in pattern else line,
        ) or (re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line)), (
            f"{line!r} is not like {pattern!r}"
        )


def run_console(fence: str, directory: Path) -> None:
    for step in steps(fence):
        if step.command in SET_UP:
            continue
        program, *arguments = shlex.split(step.command)
        if program == "vespe":
            done = vespe(*arguments, cwd=directory)
        else:
            program = sys.executable if program == "python" else program
            done = subprocess.run(
                [program, *arguments],
                cwd=directory,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
            )
        assert done.returncode == step.code, f"{step.command}: {done.stdout}{done.stderr}"
        if step.expected.strip():
            assert_like(done.stdout + done.stderr, step.expected)


def run_python(code: str, directory: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=directory,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{code}\n{done.stderr}"


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.usefixtures("home", "model")
def test_every_fence_of_a_page_runs_in_order_in_one_fresh_directory(
    page: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "reader"
    directory.mkdir()
    # its examples need nothing of each other: one interpreter is enough
    if page == render_api.PAGE:
        alone = [
            f"exec({body!r}, {{'__name__': '__main__'}})"
            for language, _, body in FENCE.findall(page.read_text(encoding="utf-8"))
        ]
        run_python("\n".join(alone), directory)
        return
    for language, filename, body in FENCE.findall(page.read_text(encoding="utf-8")):
        assert language in ("console", "python", "json", "text"), (
            f"{page.name}: a fence in {language or 'no language'} would not be tested"
        )
        if filename:
            (directory / filename).parent.mkdir(parents=True, exist_ok=True)
            (directory / filename).write_text(body, encoding="utf-8")
        elif language == "console":
            run_console(body, directory)
        elif language == "python":
            run_python(body, directory)
        elif language == "json":
            json.loads(body)


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
    assert all(f"| `{key}` |" in page for key in ("approvals.flow", "limits.timeout_s"))


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
    examples = " ".join(body for _, _, body in FENCE.findall(page))
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
