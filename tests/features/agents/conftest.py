"""What the tests of conversations share."""

from pathlib import Path

import pytest

from tests.features.agents.agents_on_disk import Bench


@pytest.fixture
def bench(project: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A trusted project for in-process tools."""
    monkeypatch.chdir(project)
    return Bench(project)
