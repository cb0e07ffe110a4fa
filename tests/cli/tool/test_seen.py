"""Tools as models see them."""

import json
from pathlib import Path

from tests.support.ondisk import write_tool
from vespe.cli.tool.seen import seen_by_models
from vespe.projects.workspace import open_workspace

SHELL = {"type": "shell_command", "entrypoint": "echo", "args": {"argv": ["hi"]}}


def test_models_see_a_tool_under_the_name_that_the_project_gives(project: Path) -> None:
    write_tool(project / ".vespe/tools/tool-a", "a", implementation=SHELL)
    config = project / ".vespe/config.json"
    document = json.loads(config.read_text(encoding="utf-8"))
    shown = {"project_tools/a": {"as": "alpha", "expose": "always"}}
    config.write_text(json.dumps({**document, "tools": shown}), encoding="utf-8")
    workspace = open_workspace(project)
    (seen,), _ = seen_by_models(
        workspace, [row for row in workspace.rows() if row.entry.scope == "project_tools"]
    )
    said = seen.to_json()
    assert (said["name"], said["is"], said["expose"]) == ("alpha", "project_tools/a", "always")
    assert seen.effects == said["effects"] != {}
