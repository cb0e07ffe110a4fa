"""What names stand for, judged on small files."""

import ast

import pytest

from vespe.tools.python.names import Names, as_json, expression, parse_source, read_names, spelling


def names_of(source: str) -> Names:
    return read_names(parse_source(source))


def node(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


MEANINGS = {
    "import typing as t; t.List[int]": "typing.List",
    "from typing import Optional as Opt; Opt": "typing.Optional",
    "import collections.abc; collections.abc.Sequence": "typing.Sequence",
    "from collections import abc; abc.Mapping": "typing.Mapping",
    "from collections.abc import Mapping as M; M": "typing.Mapping",
    "from typing_extensions import TypedDict; TypedDict": "typing.TypedDict",
    "import dataclasses as d; d.dataclass(frozen=True)": "dataclasses.dataclass",
    "from .beside import Thing; Thing": ".beside.Thing",
    "from typing import *; List": "typing.List",
    "from typing import *; int": "int",
    "int": "int",
    "1": "",
    "from typing import List\nList = 3; List": "List",
}


@pytest.mark.parametrize(("source", "meaning"), MEANINGS.items())
def test_a_name_is_followed_to_where_it_comes_from(source: str, meaning: str) -> None:
    statements, _, wanted = source.rpartition("; ")
    assert names_of(statements).dotted(node(wanted)) == meaning


def test_names_below_conditions_count_and_those_in_functions_do_not() -> None:
    found = names_of(
        "if x:\n    a = 1\nelif y:\n    b = 2\nwith z:\n    c = 3\ntry: d = 4\nfinally: "
        "e = 5\ndef f():\n    g = 6\n"
    )
    assert found.values.keys() == set("abcde")
    assert found.functions.keys() == {"f"}


def test_the_last_meaning_of_a_name_counts() -> None:
    found = names_of(
        "from enum import Enum\nclass Enum: ...\nX = 1\nclass X: ...\ndef Y(): ...\nY: "
        "int = 2\nZ: int\nW += 1\n"
    )
    assert (found.imports, set(found.classes), set(found.functions), set(found.values)) == (
        {},
        {"Enum", "X"},
        set(),
        {"Y"},
    )


def test_literals_and_constants_are_values_of_json() -> None:
    found = names_of("LIMIT = -3\nOTHER = LIMIT")
    assert [found.literal(node(text)) for text in ("(1, [2.5], {'a': None})", "LIMIT")] == [
        [1, [2.5], {"a": None}],
        -3,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "f()",
        "{1, 2}",
        "b'x'",
        "1j",
        "1e999",
        "{1: 2}",
        "'\\udc00'",
        "...",
        "OTHER",
        "1 << 3",
        "x",
        "{[]: 1}",
        "2**2000",
        "-'a'",
    ],
)
def test_what_json_cannot_say_is_no_literal(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|literal|malformed"):
        names_of("LIMIT = 1\nOTHER = LIMIT").literal(node(text))


def test_a_number_of_more_digits_than_json_should_carry_is_refused() -> None:
    assert as_json(2**1000) == 2**1000
    with pytest.raises(ValueError, match="JSON"):
        as_json(2**1025)


def test_quoted_annotations_are_opened_and_bad_ones_left() -> None:
    assert ast.unparse(expression(node("\"'int'\""))) == "int"
    assert ast.unparse(expression(node("'list['"))) == "'list['"
    assert ast.unparse(expression(node("'\\0'"))) == "'\\x00'"


def test_a_spelling_looks_through_calls_and_subscripts() -> None:
    assert [spelling(node(text)) for text in ("a.b(1)[2].c", "a", "'a'", "(1).real")] == [
        "a.b.c",
        "a",
        "",
        "",
    ]
