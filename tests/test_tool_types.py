"""The table knows the types that the design names, and the protocol holds for each."""

from vespe.tool_types import EXECUTORS, Executor


def test_the_types_of_implementation_are_in_the_table() -> None:
    assert set(EXECUTORS) == {
        "python_script",
        "shell_command",
        "http_request",
        "mcp_tool",
        "wasm",
        "rust_function",
    }


def test_every_executor_answers_to_the_protocol_and_its_own_type() -> None:
    executor: Executor
    for name, executor in EXECUTORS.items():
        assert executor.type == name
        assert callable(executor.plan) and callable(executor.execute)
