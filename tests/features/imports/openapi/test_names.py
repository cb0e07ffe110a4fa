"""Names that outlast the growth of an API."""

import pytest

from vespe.features.imports.openapi.names import input_name, secret_name, tool_names


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (("gists/list", "GET", "/gists"), "gists_list"),
        (("repos/get-by-id", "GET", "/r"), "repos_get-by-id"),
        (("", "GET", "/users/{id}/posts"), "get_users_id_posts"),
        (("", "DELETE", "/"), "delete"),
        (("größe", "GET", "/g"), "gr_e"),
        (("日本", "GET", "/g"), "tool"),
        (("1st", "GET", "/g"), "_1st"),
        (("a b.c", "GET", "/g"), "a_b_c"),
    ],
)
def test_a_name_is_what_the_operation_says(operation: tuple[str, str, str], name: str) -> None:
    assert tool_names([operation]) == [name]


def test_a_name_too_long_ends_in_a_digest_of_all_of_it() -> None:
    one, two = tool_names([("x" * 80 + "a", "GET", "/1"), ("x" * 80 + "b", "GET", "/2")])
    assert len(one) == len(two) == 64
    assert one != two


def test_names_stay_when_operations_come_and_move() -> None:
    before = [("a/b", "GET", "/a"), ("a_b", "GET", "/z"), ("", "GET", "/p")]
    known = dict(zip(before, tool_names(before), strict=True))
    after = [("new", "GET", "/0"), *reversed(before), ("a-c", "GET", "/c")]
    assert {
        one: name for one, name in zip(after, tool_names(after), strict=True) if one in known
    } == known


def test_of_two_operations_with_one_name_each_has_its_own() -> None:
    names = tool_names([("same", "GET", "/b"), ("same", "GET", "/a"), ("same", "POST", "/a")])
    assert names[1] == "same"
    assert len(set(names)) == 3


@pytest.mark.parametrize(
    ("name", "place", "taken", "made"),
    [
        ("filter[name]", "query", (), "filter_name"),
        ("X-Request-ID", "header", (), "X-Request-ID"),
        ("id", "query", ("id",), "id_query"),
        ("$top", "query", (), "top"),
        ("[]", "query", (), "query"),
    ],
)
def test_an_input_has_its_parameters_name_where_that_can_be(
    name: str, place: str, taken: tuple[str, ...], made: str
) -> None:
    assert input_name(name, place, taken) == made


def test_a_secret_says_kit_and_scheme() -> None:
    assert secret_name("discord", "BotToken") == "DISCORD_BOT_TOKEN"
    assert secret_name("9kit", "key") == "API_9KIT_KEY"
