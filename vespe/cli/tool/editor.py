"""The user's editor, opened on a tool's files."""

import os

import click

from vespe import defaults


def edit(directory: str) -> None:
    """Open every file of a tool directory in the user's editor ($VISUAL, $EDITOR), config.json and
    description.md first.
    """
    first = {defaults.CONFIG_FILE: 0, defaults.DESCRIPTION_FILE: 1}
    names = sorted(os.listdir(directory), key=lambda name: (first.get(name, 2), name))
    paths = [
        path
        for path in (os.path.join(directory, name) for name in names)
        if os.path.isfile(path) and not os.path.islink(path)
    ]
    click.edit(filename=paths)
