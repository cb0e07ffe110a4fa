"""The page of a replay."""

from pathlib import Path

from tests.features.inspector.conftest import record, stock
from tests.support.inspecting import Pages
from tests.support.ondisk import vespe


def test_a_replay_that_finds_nothing_says_so(talk: Path, pages: Pages) -> None:
    page = pages.get("replay", of="talk.json")
    assert "No differences" in page
    assert "2 of 2 turns were replayed" in page
    assert pages.answer("replay", of="nothing.json").status == 404


def test_a_project_without_trust_is_not_replayed(project: Path) -> None:
    record(stock(project))
    assert vespe("untrust", cwd=project).returncode == 0
    assert Pages(project).answer("replay", of="talk.json").status == 403
