"""`vespe doctor`: what of the installation and the project works, and what to do about the rest."""

import click

from vespe import features
from vespe.cli import diagnosis, options, report
from vespe.records import json_of


@click.command("doctor", epilog="Example: vespe doctor --escapes")
@click.option(
    "--escapes",
    is_flag=True,
    help="Instead, try the known sandbox escapes on this machine, against files and processes "
    "that are created for it. The exit code is 1 if one succeeds that the sandbox should "
    "prevent.",
)
@options.project_option
@options.json_option
def command(escapes: bool, project_dir: str | None, as_json: bool) -> int:
    """Check the installation and the project. The exit code is 1 only if a problem prevents every
    call.
    """
    if escapes:
        return int(features.load("escapes", "report").show(as_json=as_json))
    found = diagnosis.diagnose(project_dir)
    if as_json:
        report.emit_json({"checks": [json_of(one) for one in found]})
    else:
        for one in found:
            report.emit_sentence(f"{one.state:<8} {one.about}: {one.message}", hanging=9)
    return 1 if any(one.state == "failed" for one in found) else 0
