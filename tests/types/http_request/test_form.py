"""What an http_request may be."""

from typing import Any

import pytest

from vespe.http.client import MAX_REDIRECTS
from vespe.tools.implementations import found_in_implementation
from vespe.types.http_request import form
from vespe.types.http_request.templates import ARGUMENTS


def found(details: Any, **document: Any) -> list[tuple[str, str]]:
    return [
        (one[0], one[1])
        for one in found_in_implementation({"implementation_details": details, **document})
    ]


def test_what_http_takes_is_what_its_executor_takes() -> None:
    assert form.MAX_REDIRECTS == MAX_REDIRECTS
    ((_, message),) = found({"type": "http_request", "path": "https://h", "args": {"x": 1}})
    assert message == f'`args` accepts {", ".join(sorted(ARGUMENTS))}, but not "x"'


@pytest.mark.parametrize(
    "url",
    [
        "https://h",
        "http://h:8080/a?b=c#d",
        "HTTPS://H/{a}?q={b}",
        "http://[::1]:1/",
        "http://127.0.0.1/x%20y",
    ],
)
def test_a_url_with_a_literal_host_is_taken(url: str) -> None:
    assert found({"type": "http_request", "path": url}) == []
