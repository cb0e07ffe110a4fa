"""JSON-RPC as MCP uses it."""

from typing import Any

import pytest

from vespe.features.mcp.server import messages


@pytest.mark.parametrize("value", ["a", "", 0, -1, 10**300])
def test_a_text_or_an_integer_is_an_id(value: Any) -> None:
    assert messages.is_request_id(value)


@pytest.mark.parametrize("value", [None, True, 1.0, [], {}])
def test_nothing_else_is(value: Any) -> None:
    assert not messages.is_request_id(value)


def test_what_is_no_request_is_said_in_words() -> None:
    assert "batches" in str(messages.why_no_request([]))
    assert messages.why_no_request({"jsonrpc": "2.0", "method": "ping"}) is None


def test_an_answer_is_told_from_a_request() -> None:
    assert messages.is_response({"jsonrpc": "2.0", "id": 1, "result": {}})
    assert not messages.is_response({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}})


def test_the_data_of_an_error_stands_only_where_there_is_some() -> None:
    assert messages.failed(1, -1, "no")["error"] == {"code": -1, "message": "no"}
    assert messages.failed(1, -1, "no", data=0)["error"]["data"] == 0
