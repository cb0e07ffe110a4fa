"""The user's editor, opened on a tool's files."""

import os

import click

from vespe import defaults, errors


def edit(directory: str, name: str) -> None:
    """Open every file of a tool's directory in the user's editor ($VISUAL, $EDITOR), config.json
    and description.md first. Raises ToolExecutionError where the editor cannot be started, or
    fails.
    """
    first = {defaults.CONFIG_FILE: 0, defaults.DESCRIPTION_FILE: 1}
    names = sorted(os.listdir(directory), key=lambda name: (first.get(name, 2), name))
    paths = [
        path
        for path in (os.path.join(directory, name) for name in names)
        if os.path.isfile(path) and not os.path.islink(path)
    ]
    try:
        click.edit(filename=paths)
    except click.ClickException as error:
        variable = next((one for one in ("VISUAL", "EDITOR") if os.environ.get(one)), "EDITOR")
        called = os.environ.get(variable)
        source = f"{variable} is {called!r}" if called else "VISUAL and EDITOR are not set"
        is_missing = isinstance(error.__cause__, OSError)
        raise errors.ToolExecutionError(
            f"your editor {'cannot be started' if is_missing else 'ended with an error'} "
            f"({source})",
            hint=f"`{variable}=nano vespe tool edit {name}` uses another editor; the files are in "
            f"{directory}",
        ) from None
