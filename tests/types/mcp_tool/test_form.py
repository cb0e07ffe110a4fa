"""What an mcp_tool may be."""

from typing import Any

import pytest

from vespe.tools.implementations import found_in_implementation


def found(details: Any, **document: Any) -> list[tuple[str, str]]:
    return [
        (one[0], one[1])
        for one in found_in_implementation({"implementation_details": details, **document})
    ]


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"entrypoint": None}, ""),
        ({"path": "x"}, "/path"),
        ({"args": {}}, "/args"),
        ({"args": {"command": ["x"], "url": "https://h"}}, "/args"),
        ({"args": {"command": "x"}}, "/args/command"),
        ({"args": {"command": []}}, "/args/command"),
        ({"args": {"url": "ftp://h"}}, "/args/url"),
        ({"args": {"url": 1}}, "/args/url"),
        ({"args": {"url": "https://h", "headers": {"a b": "c"}}}, "/args/headers/a b"),
        ({"args": {"url": "https://h", "headers": [1]}}, "/args/headers"),
        ({"args": {"url": "https://h", "digest": "sha256:0"}}, "/args/digest"),
        ({"args": {"url": "https://h", "shell": "x"}}, "/args/shell"),
    ],
)
def test_a_tool_of_an_mcp_server_says_its_server_and_its_pin(
    changed: dict[str, Any], pointer: str
) -> None:
    whole = {
        "type": "mcp_tool",
        "entrypoint": "t",
        "args": {"command": ["x"], "digest": f"sha256:{'0' * 64}"},
    }
    assert found(whole) == []
    if "args" in changed and "digest" not in changed["args"] and "shell" not in changed["args"]:
        changed["args"]["digest"] = whole["args"]["digest"]  # type: ignore[index]  # the literal above
    assert f"/implementation_details{pointer}" in [at for at, _ in found({**whole, **changed})]
