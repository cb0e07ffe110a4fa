"""What the names of a program mean where they stand."""

import ast

import pytest

from vespe.features.programs.scopes import Scopes


def read(code: str, name: str) -> tuple[bool, str]:
    """Say of the last place that reads a name whether it is bound, and which module it is."""
    tree = ast.parse(code)
    scopes = Scopes(tree)
    places = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id == name
    ]
    last = max(places, key=lambda node: (node.lineno, node.col_offset))
    return scopes.is_bound(last), scopes.module(last)


@pytest.mark.parametrize(
    "code",
    [
        "exit = 1\nexit",
        "def exit(): pass\nexit()",
        "def f(exit):\n    return exit",
        "def f(exit):\n    def g():\n        return exit\n    return g",
        "def f():\n    global exit\n    exit = 1\nexit",
        "[exit for exit in range(3)]",
        "[exit := one for one in range(3)]\nexit",
        'match {"a": 1}:\n    case {**exit}:\n        exit',
        "match [1]:\n    case [*exit]:\n        exit",
        "try:\n    1\nexcept ValueError as exit:\n    exit",
        "class A:\n    exit = 1\n    two = exit",
    ],
)
def test_a_name_is_bound_where_its_scope_or_one_around_it_binds_it(code: str) -> None:
    assert read(code, "exit") == (True, "")


@pytest.mark.parametrize(
    "code",
    [
        "exit",
        "def f(exit):\n    return 1\nexit",
        "lambda exit: 1\nexit",
        "[1 for exit in range(3)]\nexit",
        "class A:\n    exit = 1\n    def f(self):\n        return exit",
        "def f(a=exit, *, exit=1): pass",
    ],
)
def test_a_binding_of_another_scope_says_nothing(code: str) -> None:
    assert read(code, "exit") == (False, "")


def test_a_module_is_known_under_its_name_until_something_else_has_that_name() -> None:
    assert read("import re\nre", "re") == (True, "re")
    assert read("import json as re\nre", "re") == (True, "json")
    assert read("import re\ndef f(re):\n    return 1\nre", "re") == (True, "re")
    assert read("import re\ndef f(re):\n    return re", "re") == (True, "")
    assert read("import re\nre = 1\nre", "re") == (True, "")
