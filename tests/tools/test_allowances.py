"""What a kit states that its tools may use."""

from typing import Any

import pytest

from vespe.tools.allowances import KitLimits, excess, limits_of, wrong_limits


def said(limits: dict[str, Any], **config: Any) -> list[str]:
    return [pointer for pointer, _ in excess(config, limits_of(limits))]


def http(url: str) -> dict[str, Any]:
    return {"type": "http_request", "path": url, "entrypoint": "GET"}


def test_what_a_kit_does_not_state_limits_nothing() -> None:
    config = {
        "implementation_details": http("https://any.example.com/x"),
        "secrets": ["KEY"],
        "permissions": {"network": ["x.org"]},
    }
    assert limits_of({}) == KitLimits() and not said({}, **config)


def test_a_type_a_host_and_a_secret_beyond_what_is_stated_are_each_named_with_their_place() -> None:
    limits = {
        "allow_types": ["python_script"],
        "allow_hosts": ["api.example.com"],
        "secrets": [{"name": "OTHER", "description": "another"}, "THIRD"],
    }
    config = {
        "implementation_details": http("https://evil.example.com/x"),
        "secrets": ["OTHER", {"name": "KEY"}, {"name": "THIRD"}],
    }
    assert said(limits, **config) == [
        "/implementation_details/type",
        "/implementation_details/path",
        "/secrets/1",
    ]


@pytest.mark.parametrize(
    ("allowed", "url", "fits"),
    [
        ("api.example.com", "https://api.example.com/{path}", True),
        ("API.example.com", "https://api.EXAMPLE.com/", True),
        ("api.example.com", "http://api.example.com:8080/", True),
        ("api.example.com:8080", "http://api.example.com:8080/", True),
        ("api.example.com:8080", "http://api.example.com/", False),
        ("api.example.com:443", "https://api.example.com/", True),
        ("example.com", "https://api.example.com/", False),
        ("api.example.com", "https://api.example.com.evil.org/", False),
        ("api.example.com", "https://api.example.com@evil.org/", False),
        ("127.0.0.1", "http://127.0.0.1:9/", True),
        ("127.0.0.1", "http://2130706433/", False),
        ("[::1]:80", "http://[::1]/", True),
    ],
)
def test_a_host_is_compared_whole_and_a_port_where_one_is_stated(
    allowed: str, url: str, fits: bool
) -> None:
    assert (not said({"allow_hosts": [allowed]}, implementation_details=http(url))) is fits


def test_hosts_that_a_tool_of_any_type_says_it_reaches_are_compared_too() -> None:
    config = {
        "implementation_details": {"type": "python_script"},
        "permissions": {"network": ["a.org", "a.org:9", "b.org"]},
    }
    assert said({"allow_hosts": ["a.org"]}, **config) == ["/permissions/network/2"]
    assert said({"allow_hosts": ["a.org:9"]}, **config) == [
        "/permissions/network/0",
        "/permissions/network/2",
    ]


def test_an_empty_list_allows_nothing_and_so_does_a_value_of_the_wrong_type() -> None:
    config = {"implementation_details": http("https://a.org/"), "secrets": ["KEY"]}
    for value in ([], "a.org", {"a": 1}, [1], None):
        assert (
            len(said({"allow_types": value, "allow_hosts": value, "secrets": value}, **config)) == 3
        )


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"implementation_details": 1},
        {"implementation_details": {"type": ["a"]}, "secrets": 3, "permissions": []},
    ],
)
def test_a_broken_tool_is_never_an_exception(config: dict[str, Any]) -> None:
    assert said({"allow_types": [], "allow_hosts": [], "secrets": []}, **config) == []


@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        (
            {
                "allow_types": ["python_script"],
                "allow_hosts": ["a.org", "a.org:80", "[::1]:80"],
                "secrets": ["KEY", {"name": "TOKEN", "description": "a token"}],
            },
            [],
        ),
        ({"allow_types": "python_script"}, ["/allow_types"]),
        (
            {"allow_types": ["python"], "secrets": ["A B", "", 1, {"name": "A B"}, {}]},
            [
                "/allow_types/0",
                "/secrets/0",
                "/secrets/1",
                "/secrets/2",
                "/secrets/3/name",
                "/secrets/4",
            ],
        ),
        (
            {"allow_hosts": ["https://a.org", "*.a.org", "a.org/x", "a b", "a.org\n"]},
            [f"/allow_hosts/{index}" for index in range(5)],
        ),
    ],
)
def test_what_is_wrong_with_the_statement_itself_is_named(
    document: dict[str, Any], pointers: list[str]
) -> None:
    assert [pointer for pointer, _ in wrong_limits(document)] == pointers
