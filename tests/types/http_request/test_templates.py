"""One request from a tool's texts and a call's values: each value in one encoded slot."""

import json
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.errors import InvalidArguments, InvalidTool, Refused
from vespe.http.client import Request
from vespe.models import Implementation, JsonObject, Tool
from vespe.types.http_request.templates import build

NAMES = ("id", "q", "tags")


def request(
    url: str = "https://api.example/",
    *,
    method: str | None = "GET",
    secrets: Any = None,
    args: Any = None,
    **inputs: Any,
) -> Request:
    schema = {"type": "object", "properties": {name: {} for name in NAMES}}
    details = Implementation(type="http_request", path=url, entrypoint=method, args=args or {})
    made = Tool(
        uid="tool-http", name="http", description="", input_schema=schema, implementation=details
    )
    return build(made, inputs, secrets={} if secrets is None else secrets)


# The URL


@pytest.mark.parametrize(
    ("url", "inputs", "sent"),
    [
        ("https://a.example", {}, "https://a.example"),
        (
            "https://a.example/x/{id}/y",
            {"id": "a/b c?d#e%2e"},
            "https://a.example/x/a%2Fb%20c%3Fd%23e%252e/y",
        ),
        ("https://a.example/{id}", {"id": "../../admin"}, "https://a.example/..%2F..%2Fadmin"),
        ("https://a.example/{id}", {"id": "%2e%2e"}, "https://a.example/%252e%252e"),
        ("https://a.example/{id}", {"id": "\r\nX: y\x00"}, "https://a.example/%0D%0AX%3A%20y%00"),
        ("https://a.example/{id}", {"id": 3}, "https://a.example/3"),
        ("https://a.example/{id}", {"id": True}, "https://a.example/true"),
        ("https://a.example/{id}", {"id": [1, "a"]}, "https://a.example/%5B1%2C%22a%22%5D"),
        ("https://a.example/{id}.json", {"id": ".."}, "https://a.example/...json"),
        ("https://a.example/v{id};{q}", {"id": 1, "q": "ü"}, "https://a.example/v1;%C3%BC"),
        ("https://a.example/{nope}/{id}", {"id": "x"}, "https://a.example/{nope}/x"),
        ("https://a.example//x/", {}, "https://a.example//x/"),
        ("https://a.example/?a=1&b#part", {}, "https://a.example/?a=1&b"),
        ("https://a.example/?q={q}&r=1", {"q": "a&b=c"}, "https://a.example/?q=a%26b%3Dc&r=1"),
        ("https://a.example/?q={q}&r=1", {}, "https://a.example/?r=1"),
        ("https://a.example/?q={q}", {}, "https://a.example/"),
        ("https://a.example/?t={tags}", {"tags": ["a b", 1]}, "https://a.example/?t=a%20b&t=1"),
        ("https://a.example/?t=x{tags}", {"tags": ["a"]}, "https://a.example/?t=x%5B%22a%22%5D"),
    ],
)
def test_p39_a_value_stays_in_its_slot_of_the_url(url: str, inputs: JsonObject, sent: str) -> None:
    assert request(url, **inputs).url == sent


@pytest.mark.parametrize(
    ("url", "value"),
    [
        ("https://a.example/{id}/x", ""),
        ("https://a.example/{id}/x", "."),
        ("https://a.example/{id}/x", ".."),
        ("https://a.example/.{id}", "."),
        ("https://a.example/%2e{id}", "."),
        ("https://a.example/{id}{q}", "."),
    ],
)
def test_p39_a_segment_that_leads_elsewhere_is_refused(url: str, value: str) -> None:
    with pytest.raises(InvalidArguments, match="which changes the path") as caught:
        request(url, id=value, q=value)
    assert caught.value.violations[0]["pointer"] == "/id"
    assert caught.value.retryable


def test_a_path_needs_its_inputs() -> None:
    with pytest.raises(InvalidArguments, match="the URL's path needs 'q'"):
        request("https://a.example/{id}-{q}", id="x")


@pytest.mark.parametrize(
    "act", [{"url": "https://a.example/{q}"}, {"args": {"query": {"q": "{q}"}}}], ids=repr
)
def test_a_lone_surrogate_is_refused_in_a_url(act: Any) -> None:
    with pytest.raises(InvalidArguments, match="lone surrogate"):
        request(**act, q="\ud800")


@settings(max_examples=200)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.text(st.characters(exclude_categories=["Cs"])),
)
def test_p39_any_text_comes_back_from_the_url_as_it_was(segment: str, value: str) -> None:
    if segment in (".", ".."):
        return
    parts = urlsplit(
        request(
            "https://a.example/x/{id}/y?a=1", args={"query": {"q": "{q}"}}, id=segment, q=value
        ).url
    )
    assert (parts.netloc, parts.fragment) == ("a.example", "")
    assert [unquote(piece) for piece in parts.path.split("/")] == ["", "x", segment, "y"]
    assert parse_qsl(parts.query, keep_blank_values=True) == [("a", "1"), ("q", value)]


@pytest.mark.parametrize(
    ("query", "inputs", "sent"),
    [
        ({"q": "{q}"}, {}, ""),
        ({"q": "{q}"}, {"q": None}, "?q=null"),
        ({"q": "{q}"}, {"q": {"a": 1}}, "?q=%7B%22a%22%3A1%7D"),
        ({"q": "{q}"}, {"q": ""}, "?q="),
        (
            {"a b": "x&y", "n": 1.5, "t": True, "m": ["1", "{q}"]},
            {},
            "?a%20b=x%26y&n=1.5&t=true&m=1",
        ),
        ({"t": "{tags}"}, {"tags": []}, ""),
        ({"q": "$env:X {x} %"}, {}, "?q=%24env%3AX%20%7Bx%7D%20%25"),
    ],
    ids=repr,
)
def test_query_values_are_encoded_repeated_or_left_out(
    query: JsonObject, inputs: JsonObject, sent: str
) -> None:
    assert request(args={"query": query}, **inputs).url == "https://api.example/" + sent


# Headers and credentials


def test_headers_are_filled_or_left_out() -> None:
    headers = {"X-Q": " {q} ", "X-None": "{id}", "X-N": 3, "X-T": "{tags}"}
    assert request(args={"headers": headers}, q="a b", tags=[1]).headers == (
        ("X-Q", "a b"),
        ("X-N", "3"),
        ("X-T", "[1]"),
    )


@pytest.mark.parametrize(
    "value", ["a\r\nHost: evil", "a\n", "\x00", "\x7f", "ü", "\t", "\u2028"], ids=ascii
)
def test_p39_a_header_takes_printable_ascii_alone(value: str) -> None:
    with pytest.raises(InvalidArguments, match="only printable ASCII") as caught:
        request(args={"headers": {"X-Q": "{q}"}}, q=value)
    assert caught.value.violations[0]["pointer"] == "/q"


@pytest.mark.parametrize(
    "args",
    [
        {"headers": {"X": "${env:KEY}"}},
        {"auth": {"type": "bearer", "token": "${env:KEY}"}},
        {"auth": {"type": "header", "name": "X", "value": "${env:KEY}"}},
    ],
)
def test_a_secret_that_no_header_can_carry_is_refused_and_not_shown(args: JsonObject) -> None:
    with pytest.raises(Refused, match="cannot carry the value of its secret") as caught:
        request(args=args, secrets={"KEY": "s3cret\n"})
    assert "s3cret" not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize(
    ("auth", "sent", "shown"),
    [
        (
            {"type": "bearer", "token": "${env:K}"},
            ("Authorization", "Bearer s:"),
            ("Authorization", "Bearer ${env:K}"),
        ),
        (
            {"type": "basic", "username": "ü", "password": "${env:K}"},
            ("Authorization", "Basic w7w6czo="),
            ("Authorization", "Basic ü:${env:K}"),
        ),
        (
            {"type": "header", "name": "X-Key", "value": "Basic ${env:K}"},
            ("X-Key", "Basic s:"),
            ("X-Key", "Basic ${env:K}"),
        ),
    ],
)
def test_credentials_are_a_private_header(
    auth: JsonObject, sent: tuple[str, str], shown: tuple[str, str]
) -> None:
    real = request(
        args={"auth": auth, "headers": {"authorization": "old", "x-key": "old", "X": "y"}},
        secrets={"K": "s:"},
    )
    assert sent in real.headers
    assert real.private == {sent[0].lower()}
    assert [name.lower() for name, _ in real.headers].count(sent[0].lower()) == 1
    assert shown in build(_tool({"auth": auth}), {}, secrets=None).headers


def test_credentials_in_a_query_are_encoded_and_shown_by_name() -> None:
    auth = {"type": "query", "name": "api key", "value": "${env:K}"}
    assert (
        request(args={"auth": auth}, secrets={"K": "a&b"}).url
        == "https://api.example/?api%20key=a%26b"
    )
    assert (
        build(_tool({"auth": auth}), {}, secrets=None).url
        == "https://api.example/?api%20key=${env:K}"
    )


def test_a_credential_takes_no_input() -> None:
    assert request(
        args={"auth": {"type": "bearer", "token": "{q}"}}, q="from the model"
    ).headers == (("Authorization", "Bearer {q}"),)


def _tool(args: JsonObject) -> Tool:
    details = Implementation(
        type="http_request", path="https://api.example/", entrypoint="GET", args=args
    )
    return Tool(
        uid="tool-http",
        name="http",
        description="",
        input_schema={"type": "object"},
        implementation=details,
    )


# The body


@pytest.mark.parametrize(
    ("body", "inputs", "sent", "kind"),
    [
        (
            {"json": {"a": "{q}", "b": "{id}"}},
            {"q": [1, None]},
            '{"a":[1,null]}',
            "application/json",
        ),
        ({"json": "{q}"}, {"q": "x"}, '"x"', "application/json"),
        ({"json": "{q}"}, {"q": None}, "null", "application/json"),
        (
            {"json": {"a": '{q}","b":"'}},
            {"q": '"'},
            '{"a":"\\"\\",\\"b\\":\\""}',
            "application/json",
        ),
        ({"json": ["{q}"]}, {"q": "\ud800"}, '["\ufffd"]', "application/json"),
        (
            {"form": {"a": "{q}", "t": "{tags}", "n": 1}},
            {"q": "x&y=z ü", "tags": ["1", 2]},
            "a=x%26y%3Dz+%C3%BC&t=1&t=2&n=1",
            "application/x-www-form-urlencoded",
        ),
        (
            {"form": {"a": "{q}"}},
            {"q": "\ud800"},
            "a=%EF%BF%BD",
            "application/x-www-form-urlencoded",
        ),
        ({"text": "{q}"}, {"q": "\ud800"}, "\ufffd", "text/plain; charset=utf-8"),
        ({"text": "q: {q}"}, {"q": "ü\n"}, "q: ü\n", "text/plain; charset=utf-8"),
    ],
    ids=ascii,
)
def test_p39_a_body_is_written_by_its_own_encoder(
    body: JsonObject, inputs: JsonObject, sent: str, kind: str
) -> None:
    made = request(method="POST", args={"body": body}, **inputs)
    assert ((made.body or b"").decode(), made.headers) == (sent, (("Content-Type", kind),))


@pytest.mark.parametrize("body", [{"json": "{q}"}, {"text": "{q}"}, None], ids=repr)
def test_a_body_that_names_an_absent_input_alone_is_no_body(body: Any) -> None:
    made = request(method="POST", args={"body": body} if body else {})
    assert (made.body, made.headers) == (None, ())


def test_the_tool_s_own_content_type_stands() -> None:
    made = request(
        method="POST",
        args={"body": {"json": {}}, "headers": {"content-type": "application/vnd.api+json"}},
    )
    assert made.headers == (("content-type", "application/vnd.api+json"),)


@settings(max_examples=100)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda v: st.lists(v) | st.dictionaries(st.just("k"), v),
    )
)
def test_p39_any_value_comes_back_from_a_json_body_as_it_was(value: Any) -> None:
    made = request(method="POST", args={"body": {"json": {"a": "{q}"}}}, q=value)
    assert json.loads(made.body or b"") == {"a": value}


# What makes a tool invalid


@pytest.mark.parametrize(
    ("url", "method", "args", "says"),
    [
        ("https://{id}.example/", "GET", {}, "must state its scheme, host and port literally"),
        ("https://a.example:{id}/", "GET", {}, "must state its scheme, host and port literally"),
        ("https://${env:HOST}/", "GET", {}, "must state its scheme, host and port literally"),
        ("{id}", "GET", {}, "path must be an http:// or https:// URL"),
        ("{id}://a.example/", "GET", {}, "path must be an http:// or https:// URL"),
        ("file:///etc/passwd", "GET", {}, "path must be an http:// or https:// URL"),
        ("", "GET", {}, "path must be an http:// or https:// URL"),
        ("https://a.example/${env:KEY}", "GET", {}, r"path contains \$\{env"),
        ("https://a.example/?k=${env:KEY}", "GET", {}, r"path contains \$\{env"),
        ("https://a.example/", "CONNECT", {}, "entrypoint must be a method"),
        ("https://a.example/", "GET / HTTP/1.1\r\nX: y", {}, "entrypoint must be a method"),
        ("https://a.example/", "GET", {"header": {}}, "args.header is not an argument"),
        ("https://a.example/", "GET", {"query": []}, "args.query must be an object"),
        ("https://a.example/", "GET", {"headers": {"a b": "x"}}, "which is not a header name"),
        ("https://a.example/", "GET", {"headers": {"": "x"}}, "which is not a header name"),
        ("https://a.example/", "GET", {"headers": {"HOST": "x"}}, "belongs to the connection"),
        (
            "https://a.example/",
            "GET",
            {"headers": {"Transfer-Encoding": "chunked"}},
            "belongs to the connection",
        ),
        (
            "https://a.example/",
            "GET",
            {"headers": {"X": "a\nb"}},
            "args.headers.X contains a character",
        ),
        ("https://a.example/", "GET", {"auth": "Bearer"}, "args.auth must have a type"),
        ("https://a.example/", "GET", {"auth": {"type": "digest"}}, "args.auth must have a type"),
        (
            "https://a.example/",
            "GET",
            {"auth": {"type": "basic", "username": "u"}},
            "args.auth must have a type",
        ),
        (
            "https://a.example/",
            "GET",
            {"auth": {"type": "header", "name": "Host", "value": "x"}},
            "belongs to the connection",
        ),
        ("https://a.example/", "POST", {"body": "x"}, "args.body must be"),
        ("https://a.example/", "POST", {"body": {"json": 1, "text": ""}}, "args.body must be"),
        ("https://a.example/", "POST", {"body": {"xml": ""}}, "args.body must be"),
        ("https://a.example/", "POST", {"body": {"text": 1}}, "args.body.text must be a string"),
        ("https://a.example/", "POST", {"body": {"form": []}}, "args.body.form must be an object"),
    ],
)
def test_what_no_call_could_mend_makes_the_tool_invalid(
    url: str, method: str, args: JsonObject, says: str
) -> None:
    with pytest.raises(InvalidTool, match=says):
        request(url, method=method, args=args, id="x")


def test_a_tool_without_an_implementation_is_no_http_tool() -> None:
    with pytest.raises(InvalidTool):
        build(Tool(uid="tool-none", name="none", description="", input_schema={}), {}, secrets={})


def test_the_method_is_get_where_none_is_named() -> None:
    assert request(method=None).method == "GET"
