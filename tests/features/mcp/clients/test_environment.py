"""What a server that a client starts sees, and what it needs."""

from pathlib import Path

import pytest

from vespe.features.mcp.clients import environment

HOME = {"HOME": "/h", "PATH": "/bin"}


def test_a_server_sees_a_short_list_and_what_its_entry_says() -> None:
    shell = {**HOME, "XDG_STATE_HOME": "/s", "TOKEN": "t", "EDITOR": "vi"}
    assert environment.passed(shell, {}) == HOME
    assert environment.passed(shell, {"env": {"A": "b", "N": 1}}) == {**HOME, "A": "b"}
    assert environment.passed(shell, {"env": []}) == HOME


@pytest.mark.parametrize(
    ("said", "needed"),
    [
        ({}, {}),
        ({"XDG_STATE_HOME": "/s"}, {"XDG_STATE_HOME": "/s"}),
        ({"XDG_STATE_HOME": "/h/.local/state", "XDG_CONFIG_HOME": "relative"}, {}),
        ({"XDG_DATA_DIRS": "/nowhere:/usr/share"}, {}),
        ({"VESPE_KITS_PATH": "/kits:x"}, {"VESPE_KITS_PATH": "/kits:x"}),
        ({"VESPE_KITS_PATH": "x"}, {}),
        ({"TOKEN": "t", "VESPE_TRUSTED_PATHS": "/p"}, {}),
    ],
)
def test_what_moves_the_files_of_vespe_is_needed(
    said: dict[str, str], needed: dict[str, str]
) -> None:
    assert environment.needed({**HOME, **said}) == needed


def test_kits_of_the_site_are_needed_where_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "vespe/kits").mkdir(parents=True)
    said = {"XDG_DATA_DIRS": f"/usr/share:{tmp_path}"}
    assert environment.needed({**HOME, **said}) == said


def test_what_trusts_projects_is_apart() -> None:
    assert environment.granted({**HOME, "VESPE_TRUSTED_PATHS": "/p"}) == {
        "VESPE_TRUSTED_PATHS": "/p"
    }
    assert environment.granted(HOME) == {}
