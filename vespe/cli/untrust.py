"""`vespe untrust`: take back every approval of a project."""

import click

from vespe.cli import options, report
from vespe.projects.workspace import find_root
from vespe.trust import gate


@click.command("untrust", epilog="Example: vespe untrust")
@options.project_option
@options.json_option
def command(project_dir: str | None, as_json: bool) -> None:
    """Withdraw every approval of this project, including those of single tools."""
    root = find_root(project_dir)
    taken = gate.untrust(root)
    if as_json:
        report.emit_json({"path": root, "revoked": len(taken)})
    else:
        report.say(
            f"revoked {report.count(len(taken), 'approval')} of {root}; nothing in it runs now"
            if taken
            else f"{root} was not approved"
        )
