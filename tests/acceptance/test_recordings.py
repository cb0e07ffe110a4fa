"""A server that was recorded for one TypeScript client; `./dev acceptance recordings` asks five
that others wrote.
"""

import os
from pathlib import Path

import pytest

from tests.acceptance.recordings import CLIENTS, MODULES, PASSWORD, SECRET, TOKEN, compared
from tests.support.mcp_servers import ByHand


@pytest.mark.parametrize("client", ["typescript sdk", "typescript client"])
def test_a_client_sees_the_same_bytes_and_no_secret_is_kept(
    client: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not os.path.exists(MODULES / ".bin/node"):
        pytest.skip("no Node with the foreign clients (`./dev servers` brings them)")
    assert client in CLIENTS
    monkeypatch.setenv("MY_SECRET", SECRET)
    server = ByHand(project / "server")
    calls = [("echo", {"text": f"größer {SECRET} {TOKEN}"}), ("echo", {"password": PASSWORD})]
    file = project / "recorded.jsonl"
    assert compared(client, calls, server.command, project, file) == (True, True)
