"""The table of executors knows the types that the design names."""

from vespe.calls.executors import EXECUTORS


def test_the_types_of_implementation_are_in_the_table() -> None:
    assert set(EXECUTORS) == {
        "python_script",
        "shell_command",
        "http_request",
        "mcp_tool",
        "wasm",
        "rust_function",
    }
