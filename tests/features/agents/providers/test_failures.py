"""Errors of many vendors as sentences: their message and code, bounded, and without the key."""

import json
from typing import Any

import pytest

from vespe.features.agents.providers import failures


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "bad", "type": "t", "code": "c"}}, "bad", "c"),
        ({"error": {"message": "bad", "type": "t", "code": None}}, "bad", "t"),
        (
            {
                "type": "error",
                "error": {"type": "overloaded_error", "message": "busy"},
                "request_id": "r",
            },
            "busy",
            "overloaded_error",
        ),
        ({"error": "model not found"}, "model not found", ""),
        ({"message": "no", "code": 7}, "no", "7"),
        ({"detail": "nope"}, "nope", ""),
        ({"detail": [{"loc": ["body"], "msg": "x"}]}, '[{"loc":["body"],"msg":"x"}]', ""),
        ([{"error": {"message": "in a list", "code": 429}}], "in a list", "429"),
        ({"error": {}}, '{"error":{}}', ""),
        ({"error": None}, "None", ""),
        ([], "[]", ""),
        ("text", '"text"', ""),
    ],
)
def test_a_vendors_message_and_code_are_found(body: Any, message: str, code: str) -> None:
    error = failures.of_status(400, {}, json.dumps(body, separators=(",", ":")).encode(), who="x")
    assert (str(error), error.vendor_code) == (f"x answered with status 400: {message}", code)


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\xfe\x00", b"<html>\n <b>502</b>\n</html>", b"[" * 100_000, b'{"error": 1e999}'],
)
def test_a_body_that_is_no_json_is_told_in_one_line(body: bytes) -> None:
    told = str(failures.of_status(502, {"content-type": "text/html"}, body, who="x"))
    assert told.startswith("x answered with status 502") and "\n" not in told and len(told) < 800


def test_a_key_is_taken_out_before_a_message_is_cut() -> None:
    body = json.dumps({"error": {"message": "x" * 590 + "sk-secret-key-1" * 3}}).encode()
    assert "sk-secr" not in str(
        failures.of_status(401, {}, body, who="x", secrets=("sk-secret-key-1",))
    )


def test_the_request_id_of_each_vendor_is_found() -> None:
    for name in ("request-id", "x-request-id", "x-amzn-requestid", "apim-request-id", "cf-ray"):
        assert failures.request_id({name: "r1", "date": "d"}) == "r1"
    assert failures.request_id({}) == ""


def test_a_hint_says_what_may_be_wrong() -> None:
    hints = {
        status: failures.of_status(status, {}, b"", who="x").hint for status in (401, 404, 302, 500)
    }
    assert (
        "key" in hints[401]
        and "model" in hints[404]
        and "redirect" in hints[302]
        and hints[500] == ""
    )
