"""Which servers are remembered as ones that ask in an older revision only; calls to one are in
test_session_questions.py.
"""

from pathlib import Path
from typing import Any

import pytest

from vespe.files import locations
from vespe.types.mcp_tool import older_questions

COMMAND: dict[str, Any] = {"command": ["server", "--stdio"]}
REMOTE: dict[str, Any] = {"url": "https://example.com/mcp"}


@pytest.mark.usefixtures("home")
def test_a_server_is_remembered_by_its_command_and_where_it_starts_or_by_its_url() -> None:
    for args in (COMMAND, REMOTE):
        assert not older_questions.is_known(args, "/one")
        assert older_questions.remember(args, "/one")
        assert older_questions.remember(args, "/one")
        assert older_questions.is_known(args, "/one")
    assert not older_questions.is_known(COMMAND, "/other")
    assert older_questions.is_known(REMOTE, "/other")
    assert not older_questions.is_known({"command": ["server"]}, "/one")
    for _ in range(2):
        older_questions.forget(COMMAND, "/one")
        assert not older_questions.is_known(COMMAND, "/one")
    assert older_questions.is_known(REMOTE, "/one")


def test_where_nothing_can_be_written_nothing_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmp_path / "file"
    taken.write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(taken))
    assert locations.user_cache_dir().startswith(str(taken))
    assert not older_questions.remember(COMMAND, "/one")
    assert not older_questions.is_known(COMMAND, "/one")
