"""Activating kits, wherever that is asked for."""

from pathlib import Path

import pytest

from vespe.cli.kit import activation
from vespe.errors import KitNotFound
from vespe.projects import project as projects


def test_kits_are_active_in_the_order_given_or_not_at_all(project: Path) -> None:
    with pytest.raises(KitNotFound):
        activation.activate(str(project), ["file_io_with_git", "snow"])
    assert projects.read_config(project).active_kits == ()
    assert activation.activate(
        str(project), ["file_io_with_git", "file_io_with_git"]
    ).active_kits == ("file_io_with_git",)
