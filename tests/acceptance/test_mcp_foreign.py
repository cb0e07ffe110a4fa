"""Clients and judges that others wrote: the official conformance suite, the TypeScript SDK's
clients, and the inspector.
"""

import contextlib
import functools
import json
import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance import conformance_extensions, inspector_web
from tests.acceptance.conformance_server import EXCUSES, HOMES, endpoint, judged, said_of
from tests.support import conformance_project
from tests.support.browser import chromium
from tests.support.http_serving import gone, noted, serving, stocked
from tests.support.ondisk import python_tool
from vespe.projects import user_config

MODULES = Path(sys.prefix) / "node" / "node_modules"
WITHOUT = "VESPE_TEST_WITHOUT_NPM"
"""The environment variable that allows CI to go without the foreign clients."""
VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")


@dataclass(frozen=True)
class Node:
    """Node 22 or later, with the packages of tests/cases/mcp/node/package.json."""

    program: Path

    def run(
        self, *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        home = pwd.getpwuid(os.getuid()).pw_dir
        return subprocess.run(
            [str(self.program), *arguments],
            env={**os.environ, "HOME": home, **(env or {})},
            cwd=cwd,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )


@pytest.fixture(scope="session")
def node() -> Node:
    program = MODULES / ".bin/node"
    if not program.exists():
        said = (
            "no Node with the foreign clients (`./dev servers` brings them, "
            "where npm's registry can be reached): NOTHING FOREIGN WAS TRIED"
        )
        if os.environ.get("CI", "").lower() in ("1", "true") and not os.environ.get(WITHOUT):
            pytest.fail(f"{said}; {WITHOUT}=1 allows it")
        pytest.skip(said)  # npm's registry is out of reach
    return Node(program)


@pytest.fixture(scope="module")
def endpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """The project of the suite's fixture tools over HTTP, or over stdio behind the bridge: one
    server for every revision.
    """
    root = tmp_path_factory.mktemp("suite")
    with pytest.MonkeyPatch.context() as patch:
        for name in HOMES:
            patch.setenv(name, str(root / name))
        project, environment = conformance_project.make(root / "conformance"), dict(os.environ)
    with contextlib.ExitStack() as stack:
        yield functools.cache(
            lambda transport: stack.enter_context(endpoint(transport, project, environment))
        )


GATED = (("http", "2025-11-25"), ("http", "2026-07-28"))
"""What each run of the tests judges; `./dev acceptance conformance_server` judges all."""


@pytest.mark.parametrize(("transport", "version"), GATED)
def test_every_scenario_of_the_conformance_suite_that_a_tools_server_can_pass_passes(
    transport: str, version: str, endpoints: Callable[[str], str], node: Node
) -> None:
    assert node.program.exists()
    found = judged(endpoints(transport), version)
    assert len(found) > 20, "the suite did not run"
    said = {scenario: said_of(scenario, checks, transport) for scenario, checks in found.items()}
    assert {name: text for name, text in said.items() if text.startswith("FAILED")} == {}


@pytest.mark.parametrize("name", conformance_extensions.GATE)
def test_the_scenarios_about_tasks_and_skills_pass(
    name: str, endpoints: Callable[[str], str], node: Node
) -> None:
    found = conformance_extensions.judged_server(name, endpoints("http"))
    assert found["ok"], found


def test_a_client_reads_nothing_of_a_skill_that_is_not_what_its_server_listed(node: Node) -> None:
    found = conformance_extensions.judged_client("sep-2640-client-verify-digest")
    assert found["ok"], found


def test_every_excuse_is_for_a_scenario_that_the_suite_has(node: Node) -> None:
    suite = (MODULES / "@modelcontextprotocol/conformance/dist/index.js").read_text(
        encoding="utf-8"
    )
    assert [name for part in EXCUSES.values() for name in part if name not in suite] == []


def test_the_page_names_every_scenario_that_is_left_out_with_its_reason() -> None:
    page = (Path(__file__).parents[2] / "docs/mcp.md").read_text(encoding="utf-8")
    missing = [
        name
        for part in EXCUSES.values()
        for name, reason in part.items()
        if f"`{name}`" not in page or reason not in page
    ]
    assert missing == []


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize(
    ("package", "revision"), [("sdk", ""), ("client", ""), ("client", "newest")]
)
def test_the_typescript_sdks_client_lists_calls_asks_cancels_and_hears_of_changes(
    package: str, revision: str, transport: str, node: Node, project: Path
) -> None:
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    python_tool(project / ".vespe/tools/tool-asked", "asked", "return inputs['text']", schema=text)
    large = python_tool(
        project / ".vespe/tools/tool-large", "large", "return {'rows': list(range(50_000))}"
    )
    document = json.loads((large / "config.json").read_text(encoding="utf-8"))
    document["schema"]["output"] = {"type": "object", "properties": {"rows": {"type": "array"}}}
    (large / "config.json").write_text(json.dumps(document), encoding="utf-8")
    user_config.set_value("approvals.ask", ["asked"])
    script = str(Path(__file__).parents[1] / "cases/mcp/node/client.mjs")
    env = {
        **os.environ,
        "REVISION": revision,
        "MARK": str(project / "mark"),
        "TOOLS": str(stocked(project) / ".vespe/tools"),
    }
    if transport == "http":
        with serving(project) as served:
            done = node.run(
                script, str(MODULES), package, "http", served.url, str(served.token), env=env
            )
            over = gone(noted(project / "mark"))
    else:
        command = (sys.executable, "-m", "vespe", "mcp", "serve", "--project", str(project))
        done = node.run(script, str(MODULES), package, "stdio", *command, env=env)
        over = gone(noted(project / "mark"))
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (
        seen
        == {
            "tools": ["add", "asked", "large", "nap", "read_result"],
            "asked": ["hi", True, 2, True],
            "large": [True, 288_900, 50_000],
            "call": ["3", False],
            "error": True,
            "unknown": -32602,
            "cancel": "cancelled",
            "progress": True,
            "changed": True,
            "after": ["add", "asked", "fresh", "large", "nap", "read_result"],
        }
        and over
    )


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_the_inspector_lists_calls_reads_and_tells_a_tools_error_by_its_exit_code(
    transport: str, node: Node, project: Path, tmp_path: Path
) -> None:
    inspector = (str(MODULES / ".bin/mcp-inspector"), "--cli")

    def asked(*target: str) -> None:
        def ask(*method: str) -> subprocess.CompletedProcess[str]:
            catalog = str(tmp_path / "catalog.json")
            return node.run(
                *inspector,
                *target,
                "--method",
                *method,
                env={"MCP_CATALOG_PATH": catalog},
                cwd=project,
            )

        listed = ask("tools/list")
        names = [tool["name"] for tool in json.loads(listed.stdout)["tools"]]
        assert names == ["add", "nap", "read_result"], listed.stderr
        called = ask("tools/call", "--tool-name", "add", "--tool-arg", "a=1", "b=2")
        assert called.returncode == 0 and json.loads(called.stdout)["content"][0]["text"] == "3", (
            called.stderr
        )
        assert ask("tools/call", "--tool-name", "add", "--tool-arg", "c=1").returncode == 5
        read = ask("resources/read", "--uri", "vespe://tools/add/description.md")
        assert json.loads(read.stdout)["contents"][0]["text"].startswith("# add"), read.stderr

    stocked(project)
    if transport == "stdio":
        # It gives a server little of its own environment, and the trust of this test's project is
        # kept where XDG says.
        given = [
            word
            for name, value in os.environ.items()
            if name.startswith("XDG_")
            for word in ("-e", f"{name}={value}")
        ]
        return asked(str(Path(sys.executable).parent / "vespe"), "mcp", "serve", *given)
    with serving(project) as served:
        return asked(
            served.url, "--transport", "http", "--header", f"Authorization: Bearer {served.token}"
        )


def test_the_web_interface_of_the_inspector_answers_questions_and_reads_a_linked_result(
    node: Node, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    inspector_web.make_project(project)
    with inspector_web.inspecting(project) as url, chromium() as browser, browser.page() as page:
        found = inspector_web.used(inspector_web.Person(page), url, project)
    assert found == inspector_web.EXPECTED
