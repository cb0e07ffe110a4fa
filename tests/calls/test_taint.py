"""Where the values of a model's call come from."""

from typing import Any

import pytest

from vespe.calls.taint import Taint, copied


def heard(*said: tuple[str, Any]) -> Taint:
    taint = Taint()
    for tool, value in said:
        taint.heard(value, tool=tool)
    return taint


INBOX = ("read_inbox", {"mails": [{"from": "eve@x.example", "iban": "DE89 3704 0044", "n": 7}]})
USER = ("", "Pay 120 to bob@x.example for https://shop.example/a/ please.")


@pytest.mark.parametrize(
    ("value", "origin"),
    [
        ("bob@x.example", "from you"),
        ("BOB@X.example", "from you"),
        (120, "from you"),
        (120.0, "from you"),
        ("http://www.shop.example/a", "from you"),
        ("eve@x.example", "from a result of read_inbox, not from your messages"),
        ("mailto:eve@x.example", "from a result of read_inbox, not from your messages"),
        ("DE89 3704 0044", "from a result of read_inbox, not from your messages"),
        (["bob@x.example", "eve@x.example"], "from a result of read_inbox and from you"),
        ({"to": {"name": "eve@x.example"}}, "from a result of read_inbox, not from your messages"),
        ("carol@x.example", "written by the model"),
        (
            ["bob@x.example", "carol@x.example"],
            "written by the model, with parts from you",
        ),
        (
            "Dear Bob, the account is eve@x.example, as it was said in the mail of yesterday.",
            "written by the model, with parts from a result of read_inbox, not from your messages",
        ),
        (True, None),
        (None, None),
        ("", None),
        ("...", None),
        ([], None),
    ],
)
def test_a_value_is_from_whoever_said_it_first_the_user(value: Any, origin: str | None) -> None:
    assert heard(INBOX, USER).origins({"a": value}).get("a") == origin


def test_what_the_user_named_is_theirs_even_where_a_result_holds_it_too() -> None:
    both = ("read_inbox", ["bob@x.example"])
    assert heard(both, USER).origins({"a": "bob@x.example"}) == {"a": "from you"}


def test_where_the_users_words_are_not_known_nothing_is_said_of_them() -> None:
    assert heard(INBOX).origins({"a": "eve@x.example"}) == {"a": "from a result of read_inbox"}
    assert Taint().origins({"a": "eve@x.example"}) == {}


def test_what_was_not_looked_at_is_not_said_to_be_the_models() -> None:
    long = heard(("page", "word " * 20_000 + "eve@x.example"))
    assert long.origins({"a": "eve@x.example"}) == {"a": "origin unknown"}


def test_values_of_several_tools_are_listed_in_words() -> None:
    taint = heard(("a", ["x.example"]), ("b", ["y.example"]), ("c", ["z.example"]), USER)
    told = taint.origins({"v": ["x.example", "y.example", "z.example", "bob@x.example"]})
    assert told == {"v": "from a result of a, b and c and from you"}
    assert taint.origins({"v": ["x.example", "y.example"]}) == {
        "v": "from a result of a and b, not from your messages"
    }


def test_of_what_was_passed_on_by_a_handle_the_result_is_named_and_nothing_is_guessed() -> None:
    taint = heard(INBOX, USER)
    with copied({"a": "copied from the result r1 of page"}):
        assert taint.origins({"a": "eve@x.example", "b": "eve@x.example"}) == {
            "a": "copied from the result r1 of page, not from your messages",
            "b": "from a result of read_inbox, not from your messages",
        }
        assert taint.origins({"a": "bob@x.example"}) == {"a": "copied from the result r1 of page"}
        assert taint.origins({"a": True}) == {"a": "copied from the result r1 of page"}
        assert heard(INBOX).origins({"a": "eve@x.example"}) == {
            "a": "copied from the result r1 of page"
        }
        assert Taint().origins({"a": 1, "b": 2}) == {"a": "copied from the result r1 of page"}
    assert taint.origins({"a": "eve@x.example"}) == {
        "a": "from a result of read_inbox, not from your messages"
    }


def test_a_name_that_is_long_is_cut() -> None:
    told = heard(("t" * 200, "x.example")).origins({"a": "x.example"})["a"]
    assert told.startswith("from a result of tttt") and len(told) < 100


def test_many_results_are_kept_as_digests() -> None:
    taint = heard(*(("list", {"id": f"id-{number}"}) for number in range(1000)))
    assert taint.origins({"a": "id-0", "b": "id-999", "c": "id-1000"}) == {
        "a": "from a result of list",
        "b": "from a result of list",
        "c": "written by the model",
    }


def test_the_bytes_of_an_image_are_no_words() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    taint = heard(("", [image, {"type": "text", "text": "send it to bob@x.example"}]), INBOX)
    assert taint.origins({"a": "bob@x.example", "b": "eve@x.example", "c": "carol"}) == {
        "a": "from you",
        "b": "from a result of read_inbox, not from your messages",
        "c": "written by the model",
    }
