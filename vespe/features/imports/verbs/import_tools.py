"""`vespe tool import`: project tools from a file of OpenAI, Anthropic, Gemini, Ollama or MCP
definitions.
"""

import os
import sys

import click

from vespe.cli import options, report
from vespe.features.imports import definitions
from vespe.files import atomic
from vespe.projects.workspace import find_root
from vespe.records import json_of


@click.command("import", epilog="Example: vespe tool import tools.json get_weather")
@click.argument("file", metavar="FILE")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@options.project_option
@options.json_option
def command(file: str, names: tuple[str, ...], project_dir: str | None, as_json: bool) -> None:
    """Create project tools from the definitions in FILE (`-` is stdin): all of them, or those with
    the NAMEs.

    FILE is JSON, JSON lines or YAML. It contains definitions in the format of a model API or an MCP
    server, a UTCP manual, or a list of the Docker MCP registry. You can list and lint the new tools
    at once. Only tools from a UTCP manual can also run; for the others, register an implementation
    in-process or add one to config.json. If one definition is invalid, no tool is created.
    """
    root = find_root(project_dir)
    data = (
        sys.stdin.buffer.read(definitions.MAX_BYTES + 1)
        if file == "-"
        else atomic.read_bytes(os.path.realpath(file), limit=definitions.MAX_BYTES)
    )
    path = "stdin" if file == "-" else file
    drafts = definitions.read_drafts(data, names, path=path, warn=report.warn)
    definitions.check_new(root, drafts, path=file)
    made = definitions.make_all(root, drafts)
    if as_json:
        report.emit_json(
            {
                "tools": [
                    json_of(tool, "uid", "name", "directory", directory="path") for tool in made
                ]
            }
        )
        return
    for tool in made:
        report.say(f"made {tool.name} in {os.path.relpath(tool.directory or '')}")
    if bare := [tool.name for tool in made if tool.implementation is None]:
        report.say(
            f"nothing implements {'it' if len(bare) == 1 else 'them'} yet: register an "
            "implementation, or write `implementation_details`"
        )
