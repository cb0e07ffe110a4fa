"""The table of verbs names commands that exist and explain themselves."""

import importlib

import pytest

from vespe.cli.verbs import CONFIG, KIT, TOOL, VERBS

ALL = [
    entry[0]
    for table in (TOOL, KIT, CONFIG, VERBS)
    for entry in table.values()
    if isinstance(entry[1], str)
]


@pytest.mark.parametrize("module", ALL)
def test_every_verb_of_the_table_has_a_command_with_an_example(module: str) -> None:
    verb = importlib.import_module(module).command
    assert verb.help and str(verb.epilog).startswith("Example: ")
