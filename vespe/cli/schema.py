"""`vespe schema`: the published JSON Schemas of Vespe's own files."""

import os

import click

from vespe import defaults, errors
from vespe.cli import options, report, tables
from vespe.projects import project
from vespe.projects.workspace import find_root
from vespe.schemas import published


@click.command("schema", epilog="Example: vespe schema tool > tool.schema.json")
@click.argument(
    "name",
    required=False,
    metavar=f"[{'|'.join(published.NAMES)}]",
    type=click.Choice(published.NAMES),
)
@click.option(
    "--write",
    is_flag=True,
    help="Write all schemas to the project's .vespe/schemas, for editors.",
)
@options.project_option
@options.json_option
def command(name: str | None, write: bool, project_dir: str | None, as_json: bool) -> None:
    """Print the JSON Schema of one of Vespe's files, or list them.

    With `--write`, the schemas are saved in the project. The config.json of each tool that you
    create afterwards refers to its schema, so that editors can complete and check it.
    """
    if write:
        if name is not None:
            raise errors.UsageError(
                "--write writes all schemas, so it cannot be used with a name",
                hint="run `vespe schema --write`",
            )
        _write(find_root(project_dir), as_json)
    elif name is not None:
        report.emit_json(published.read_published(name))
    else:
        titles = {one: published.read_published(one)["title"] for one in published.NAMES}
        if as_json:
            report.emit_json(
                {"schemas": [{"name": one, "title": title} for one, title in titles.items()]}
            )
        else:
            tables.show(("SCHEMA", "OF"), list(titles.items()))


def _write(root: str, as_json: bool) -> None:
    paths = published.write_published(os.path.join(project.project_dir(root), defaults.SCHEMAS_DIR))
    if as_json:
        report.emit_json({"written": paths})
    else:
        report.say(f"wrote {report.count(len(paths), 'schema')} into {os.path.dirname(paths[0])}")
