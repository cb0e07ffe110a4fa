"""What `vespe doctor` looks at, asked without the command."""

from pathlib import Path

from vespe.cli import diagnosis
from vespe.files import locations


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
