"""The tables of types, held against Python itself."""

import builtins
import importlib
from typing import Any

import pytest

from vespe.schemas.validator import check_schema
from vespe.tools.python import types as python_types

STANDARD = sorted(
    name
    for name in {
        *python_types.PLAIN,
        *python_types.ARRAYS,
        *python_types.SETS,
        *python_types.OBJECTS,
        *python_types.WRAPPERS,
    }
    if not name.startswith("pydantic.") and name not in ("typing.AbstractSet", "typing.ReadOnly")
)


@pytest.mark.parametrize("name", STANDARD)
def test_every_name_in_the_tables_is_one_that_python_has(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    home: Any = importlib.import_module(module) if module else builtins
    abstract: Any = importlib.import_module("collections.abc")
    assert (
        name == "None"
        or hasattr(home, attribute)
        or (module == "typing" and hasattr(abstract, attribute))
    )


def test_every_form_is_a_schema() -> None:
    assert [
        name
        for name, schema in python_types.PLAIN.items()
        if check_schema(schema, root_object=False)
    ] == []


def test_the_exceptions_are_rows_of_the_table() -> None:
    assert set(python_types.UNCONVERTED) <= python_types.PLAIN.keys()
    assert set(python_types.LOOSE_FORMATS) <= {
        schema.get("format") for schema in python_types.PLAIN.values()
    }
