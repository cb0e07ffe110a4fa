"""A request that ends in an error that nobody foresaw is answered, and the log says why."""

import os
from pathlib import Path

from tests.features.mcp.server.test_skills import tides
from tests.support.installs import copy_package
from tests.support.stdio_client import MODERN, served
from vespe.errors import StorageError
from vespe.features.mcp.server import unforeseen

__all__ = ["tides"]
_SERVE = "import sys; sys.path.insert(0, {!r}); from vespe.cli import main; main(['mcp', 'serve'])"


def test_a_list_that_fails_in_a_damaged_installation_is_answered_and_logged(
    tides: Path, project: Path, tmp_path: Path
) -> None:
    damaged = copy_package(
        tmp_path / "damaged", without=("features/packing/skill.py",), copy=os.link
    )
    log = tmp_path / "log"
    with (
        log.open("wb") as stderr,
        served(project, code=_SERVE.format(str(damaged.directory)), stderr=stderr) as client,
    ):
        error = client.answer("skills/list", {"_meta": MODERN})["error"]
        assert error["code"] == -32603
        assert error["message"].startswith("a bug in Vespe ended the request 'skills/list' (")
        assert set(client.names()) == {"high", "low"}  # it serves on
        assert client.close() == 0
    said = log.read_text(encoding="utf-8")
    assert "please report it" in said and "features.packing" in said


def test_an_error_of_ours_is_told_in_its_own_sentence_and_is_no_bug() -> None:
    error = StorageError("read", "/x", OSError(5, "Input/output error"))
    said = unforeseen.failed(7, "tools/list", error)["error"]
    assert (said["code"], said["data"]) == (-32603, {"code": "storage_error"})
    assert "/x" in said["message"] and "bug" not in said["message"]
