"""What `vespe doctor` looks at, asked without the command."""

import sys
from pathlib import Path

import pytest

from vespe.cli import diagnosis
from vespe.files import locations
from vespe.trust import gate


def test_every_check_says_something_of_its_subject(project: Path) -> None:
    found = diagnosis.diagnose(str(project))
    assert {"vespe", "sandbox", "your configuration", "kits", "project", "trust", "tools"} <= {
        one.about for one in found
    }
    assert {one.state for one in found} <= {"ok", "warning", "failed"}


def test_a_check_that_cannot_be_made_is_named_and_the_others_go_on(project: Path) -> None:
    config = Path(locations.user_config_dir()) / "config.json"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("{", encoding="utf-8")
    found = {one.about: one for one in diagnosis.diagnose(str(project))}
    assert found["configuration"].state == "failed" and str(config) in (
        found["configuration"].message
    )
    assert found["state directory"].state == "ok"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="XDG counts on Linux alone")
@pytest.mark.parametrize("kind", ["config", "state", "data", "cache"])
def test_a_directory_that_is_refused_is_one_row_and_the_others_go_on(
    kind: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {one.about for one in diagnosis.diagnose(str(project))}
    place = tmp_path / "open/vespe"
    place.mkdir(parents=True)
    place.chmod(0o777)
    monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(place.parent))
    found = diagnosis.diagnose(str(project))
    failed = [one for one in found if one.state == "failed"]
    assert [one.message.startswith(f"{place} can be written") for one in failed] == [True]
    assert f"chmod go-w {place}" in failed[0].message
    needing = {
        "config": {"your configuration", "configuration directory", "sandbox", "mcp"},
        "state": {"state directory", "trust", "mcp"},
        "data": {"kits", "project", "trust", "tools", "mcp"},
        "cache": {"sandbox", "tools", "mcp"},
    }[kind]
    assert {one.about for one in found} >= before - needing, found


def test_the_reason_for_trust_holds_for_the_project_itself_too(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.untrust(project)
    monkeypatch.setenv("VESPE_TRUSTED_PATHS", str(project))
    (said,) = [one.message for one in diagnosis.diagnose(str(project)) if one.about == "trust"]
    assert said == "VESPE_TRUSTED_PATHS names this project or a directory above it"
