"""Styles by themselves; `tests/features/imports/openapi/test_openapi_wire.py` holds them against the
specification's table, on the wire.
"""

import pytest

from vespe.errors import InvalidArguments
from vespe.types.http_request.styles import Style, as_it_is, encoded, encoded_but_reserved


@pytest.mark.parametrize(
    ("said", "value", "pairs"),
    [
        ({}, [1, None, 2], [("a", "1"), ("a", "2")]),
        ({}, {"x": None, "y": "z"}, [("y", "z")]),
        ({"style": "form", "explode": False}, [None], []),
        ({"style": "deepObject"}, {"x": {"y": {"z": 1}}}, [("a%5Bx%5D%5By%5D%5Bz%5D", "1")]),
        ({"style": "deepObject"}, "plain", [("a", "plain")]),
        ({}, [[1, 2]], [("a", "%5B1%2C2%5D")]),
        ({}, None, []),
    ],
)
def test_what_rfc_6570_calls_undefined_is_not_sent(
    said: dict[str, object], value: object, pairs: list[tuple[str, str]]
) -> None:
    assert Style.of(said, default="form").pairs("a", value) == pairs


def test_reserved_characters_stay_where_allowed_but_for_those_that_split_a_query() -> None:
    assert encoded_but_reserved("a/b?c&d#e+f%2Fg%zz") == "a/b?c%26d%23e%2Bf%2Fg%25zz"
    assert encoded("a/b~") == "a%2Fb~"


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="lone surrogate"):
        encoded("\ud800")


def test_a_header_is_not_encoded() -> None:
    assert (
        Style.of({"explode": True}, default="simple", encode=as_it_is).text({"a": "x y"}) == "a=x y"
    )
