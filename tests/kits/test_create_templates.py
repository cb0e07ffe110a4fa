"""The texts of a new kit."""

from vespe.documents import safe_yaml
from vespe.kits.create import WORKFLOW, kit_files


def test_the_workflow_is_yaml_that_names_the_kit_and_may_only_read() -> None:
    workflow = safe_yaml.parse_yaml(
        kit_files("team_tools", title="Team", summary="Tools.")[WORKFLOW]
    )
    assert workflow["permissions"] == {"contents": "read"}
    assert "vespe lint --strict team_tools" in [
        step.get("run") for step in workflow["jobs"]["check"]["steps"]
    ]


def test_the_readme_says_what_the_kit_is_for_and_how_to_install_it() -> None:
    text = kit_files("team_tools", title="Team", summary="What it is for.")["README.md"]
    assert (
        text.startswith("# Team\n\nWhat it is for.\n")
        and "vespe kit install gh:OWNER/team_tools" in text
    )
