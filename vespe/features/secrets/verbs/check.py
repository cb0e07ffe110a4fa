"""`vespe secret check`: whether every secret that the tools here declare can be had."""

import click

from vespe import errors
from vespe.cli import options, report, tables
from vespe.features.secrets import declared, settings
from vespe.features.secrets.declared import SecretNeed
from vespe.projects.workspace import open_workspace


@click.command("check", epilog="Example: vespe secret check")
@click.argument("secret_names", nargs=-1, metavar="[NAME...]")
@options.project_option
@options.json_option
def command(secret_names: tuple[str, ...], project_dir: str | None, as_json: bool) -> int:
    """Fetch the secrets that the available tools declare, and report which have a value. With
    NAMEs, check these; if no tool declares a secret, check the configured ones. Values are not
    shown. The exit code is 1 if a secret has no value.
    """
    needs = _asked(secret_names, project_dir)
    rows = [need.proved() for need in needs]
    if as_json:
        report.emit_json({"secrets": rows})
    elif not rows:
        report.note("no tool here needs a secret, and none is configured")
    else:
        tables.show(
            ("NAME", "STATE", "FROM", "NEEDED BY", "MESSAGE"),
            [
                (
                    need.shown,
                    row["state"],
                    row["source"] or "",
                    ", ".join(row["tools"]),
                    row["message"] or "",
                )
                for need, row in zip(needs, rows, strict=True)
            ],
        )
        if any(row["state"] == "missing" for row in rows):
            report.note(
                "if a value is kept elsewhere, `vespe secret set NAME --ref …` stores a reference "
                "to it"
            )
    return 0 if all(row["state"] == "ok" for row in rows) else 1


def _asked(names: tuple[str, ...], project_dir: str | None) -> list[SecretNeed]:
    configured = settings.configured()
    for name in names:
        settings.check_name(name)
    try:
        needs = declared.needs(open_workspace(project_dir))
    except errors.ProjectNotFound:
        if project_dir is not None:
            raise
        return declared.configured(names or sorted(configured))
    if not names:
        # Where no tool here needs any, those that are configured are what there is to prove.
        return needs or declared.configured(sorted(configured))
    known = {name for need in needs for name in (need.name, *need.names)}
    return [
        *(need for need in needs if {need.name, *need.names} & {*names}),
        *declared.configured(name for name in dict.fromkeys(names) if name not in known),
    ]
