"""URLs that say one host to everyone, and the addresses that no tool reaches."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.errors import AddressRefused, Refused
from vespe.http.addresses import encode_target, is_address, is_listed, parse_url, why_denied

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "cases" / "addresses.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not row["resolves"]], ids=lambda row: ascii(row["url"])
)
def test_p37_a_url_alone_tells_whether_its_host_may_be_reached(row: dict[str, Any]) -> None:
    assert _said_of(row["url"]) == (
        row.get("refused") is not None and "an address of this machine" not in row["refused"]
    )


def _said_of(url: str) -> bool:
    try:
        host = parse_url(url).host
    except Refused:
        return True
    return is_address(host) and why_denied(host) is not None


def test_p37_the_table_has_at_least_sixty_rows_that_are_refused() -> None:
    assert sum("refused" in row for row in ROWS) >= 60


def test_a_url_is_taken_apart_as_it_is_sent() -> None:
    url = parse_url("HTTPS://API.Example.com:8443/a b/ü?q={x}&r=1#part")
    assert (url.scheme, url.host, url.port, url.target) == (
        "https",
        "api.example.com",
        8443,
        "/a%20b/%C3%BC?q=%7Bx%7D&r=1",
    )
    assert (url.authority, str(url)) == (
        "api.example.com:8443",
        "https://api.example.com:8443/a%20b/%C3%BC?q=%7Bx%7D&r=1",
    )


def test_an_ipv6_host_loses_its_brackets_and_gets_them_back() -> None:
    url = parse_url("http://[2606:2800:220:1::1]?q")
    assert (url.host, url.port, url.target, url.authority) == (
        "2606:2800:220:1::1",
        80,
        "/?q",
        "[2606:2800:220:1::1]",
    )


def test_a_port_that_is_the_scheme_s_own_is_no_other_origin() -> None:
    assert (
        parse_url("https://example.com:443/a").origin == parse_url("https://EXAMPLE.com/b").origin
    )
    assert parse_url("http://example.com:443/").origin != parse_url("https://example.com/").origin


def test_an_address_in_a_hidden_form_says_how_to_write_it() -> None:
    with pytest.raises(AddressRefused) as caught:
        parse_url("http://0177.0.0.1/")
    assert caught.value.hint == "write it as four decimal numbers"


def test_the_user_s_list_matches_a_host_as_it_is_written() -> None:
    allow = ("127.0.0.1:8080", "MyHost.internal", "[::1]:9", "fd00::1")
    assert is_listed("127.0.0.1", 8080, allow)
    assert not is_listed("127.0.0.1", 8081, allow)
    assert is_listed("myhost.internal", 1234, allow)
    assert not is_listed("other.myhost.internal", 1234, allow)
    assert is_listed("::1", 9, allow)
    assert not is_listed("::1", 80, allow)
    assert is_listed("fd00::1", 443, allow)
    assert not is_listed("localhost", 8080, allow)


def test_an_ipv6_entry_without_a_port_is_not_read_as_a_host_and_a_port() -> None:
    assert not is_listed("fd00:", 1, ("fd00::1",))
    assert not is_listed("::1", 9, ("::1:9",))


@settings(max_examples=200)
@given(st.integers(0, 2**32 - 1))
def test_p37_an_ipv4_address_in_ipv6_is_denied_wherever_it_is_denied_itself(number: int) -> None:
    dotted = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    verdict = why_denied(dotted) is None
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    for form in (
        f"::ffff:{dotted}",
        f"64:ff9b::{dotted}",
        f"2002:{high}:{low}::1",
        f"2a00::5efe:{dotted}",
    ):
        assert (why_denied(form) is None) == verdict, form


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_any_text_at_all_is_a_url_or_a_refusal(text: str) -> None:
    try:
        url = parse_url("http://" + text)
    except Refused:
        return
    assert url.host.isascii()
    assert url.target.isascii()
    assert not set(url.host + url.target) & set("\r\n \\#")


def test_a_target_keeps_what_is_encoded_already() -> None:
    assert encode_target("/%2e%2e/a%20b?x=1&y=[2]") == "/%2e%2e/a%20b?x=1&y=[2]"
    assert encode_target('/a\r\n"<>\\^`{|}#') == "/a%0D%0A%22%3C%3E%5C%5E%60%7B%7C%7D%23"
