"""The official suite judges what an MCP server's questions become where Vespe is the client."""

import sys
from pathlib import Path

import pytest

from tests.acceptance.test_mcp_foreign import MODULES, Node, node

__all__ = ["node"]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("scenario", "revision", "checks"),
    [
        ("sep-2322-client-request-state", ("--spec-version", "2026-07-28"), 5),
        ("elicitation-sep1034-client-defaults", (), 5),
    ],
)
def test_a_server_that_asks_is_answered_by_the_person_at_the_terminal(
    node: Node, scenario: str, revision: tuple[str, ...], checks: int
) -> None:
    judged = node.run(
        str(MODULES / "@modelcontextprotocol/conformance/dist/index.js"),
        *("client", "--scenario", scenario, *revision, "--timeout", "110000"),
        *("--command", f"{sys.executable} -m tests.support.answering_client"),
        cwd=ROOT,
    )
    assert f"Passed: {checks}/{checks}, 0 failed" in judged.stdout + judged.stderr, judged
