"""In-process implementations: sync and async, by name, and the errors that a model sees."""

import asyncio
import subprocess
import sys
import threading
from typing import Any

import pytest

from tests.processes.test_process import ROOT
from tests.support.ondisk import PATIENCE_S, interruptible
from vespe.calls.registry import ToolImplementation, ToolRegistry
from vespe.errors import TimedOut, ToolExecutionError, ToolImplementationNotFound, UsageError
from vespe.library.function_tools import FunctionTool
from vespe.models import Tool
from vespe.tool_types import Context

TOOL = Tool(uid="tool-add", name="add", description="Add.", input_schema={"type": "object"})
CONTEXT = Context(project_root="/", directory="/", timeout_s=5.0)


class Adder:
    name = "add"

    def execute(self, inputs: dict[str, Any]) -> int:
        return int(inputs["a"] + inputs["b"])


async def add_slowly(a: int, b: int) -> int:
    await asyncio.sleep(0)
    return a + b


def test_an_object_with_a_name_and_execute_is_an_implementation() -> None:
    registry = ToolRegistry()
    registry.register(Adder())
    assert isinstance(registry.get("add"), ToolImplementation)
    assert registry.execute(TOOL, {"a": 1, "b": 2}, CONTEXT).result == 3


def test_an_async_function_is_awaited() -> None:
    registry = ToolRegistry()
    registry.register(add_slowly, name="add")
    assert registry.execute(TOOL, {"a": 1, "b": 2}, CONTEXT).result == 3


def test_an_async_function_is_awaited_inside_a_running_loop_too() -> None:
    registry = ToolRegistry()
    registry.register(add_slowly, name="add")

    async def inside() -> Any:
        return registry.execute(TOOL, {"a": 1, "b": 2}, CONTEXT).result

    assert asyncio.run(inside()) == 3


def test_an_async_function_ends_at_its_deadline() -> None:
    registry = ToolRegistry()
    registry.register(lambda: asyncio.sleep(60), name="add")
    with pytest.raises(TimedOut):
        registry.execute(TOOL, {}, Context(project_root="/", directory="/", timeout_s=0.05))


IN_A_LOOP = """
import asyncio, dataclasses, os, signal
from tests.calls.test_registry import CONTEXT, TOOL
from vespe.calls.registry import ToolRegistry
async def waits():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        print("cancelled", flush=True)
        raise
async def inside():
    registry.execute(TOOL, {}, dataclasses.replace(CONTEXT, timeout_s=600.0))
registry = ToolRegistry()
registry.register(waits, name="add")
try:
    asyncio.new_event_loop().run_until_complete(inside())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_p31_ctrl_c_ends_async_code_that_is_called_inside_a_running_loop() -> None:
    arguments = [sys.executable, "-c", IN_A_LOOP]
    with subprocess.Popen(
        arguments, cwd=ROOT, env=interruptible(), stdout=subprocess.PIPE, encoding="utf-8"
    ) as program:
        try:
            assert program.communicate(timeout=PATIENCE_S)[0] == "cancelled\ninterrupted\n"
        finally:
            program.kill()


def test_an_exception_of_the_implementation_is_a_tool_error_that_names_it() -> None:
    registry = ToolRegistry()
    registry.register(lambda: 1 // 0, name="add")
    with pytest.raises(ToolExecutionError, match="ZeroDivisionError: "):
        registry.execute(TOOL, {}, CONTEXT)


def test_a_name_is_registered_once_until_it_is_taken_out() -> None:
    registry = ToolRegistry()
    registry.register(Adder())
    with pytest.raises(UsageError, match="registered already"):
        registry.register(Adder())
    registry.unregister("add")
    assert "add" not in registry
    with pytest.raises(ToolImplementationNotFound):
        registry.unregister("add")


def test_nothing_that_cannot_be_called_is_registered() -> None:
    with pytest.raises(UsageError):
        ToolRegistry().register("add")  # type: ignore[type-var]  # the wrong argument is the point


def test_a_tool_that_nothing_implements_says_so() -> None:
    with pytest.raises(ToolImplementationNotFound, match="nothing implements the tool 'add'"):
        ToolRegistry().execute(TOOL, {}, CONTEXT)


def test_of_many_threads_that_register_one_name_one_wins() -> None:
    registry, refused = ToolRegistry(), []

    def attempt() -> None:
        try:
            registry.register(Adder())
        except UsageError as error:
            refused.append(error)

    threads = [threading.Thread(target=attempt) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), "add" in registry) == (15, True)


class Weather:
    """An implementation whose name is a method."""

    def name(self) -> str:
        return "weather"

    async def execute(self, inputs: dict[str, Any]) -> str:
        return f"mild in {inputs['city']}"


def test_the_name_of_an_implementation_may_be_a_method() -> None:
    registry = ToolRegistry()
    given: Any = Weather()
    assert registry.register(given) is given
    assert "weather" in registry and registry.get("weather").name == "weather"
    tool = Tool(uid="t", name="weather", description="", input_schema={"type": "object"})
    assert registry.execute(tool, {"city": "Oslo"}, CONTEXT).result == "mild in Oslo"
    again: Any = Weather()
    with pytest.raises(UsageError, match="'weather' is registered already"):
        registry.register(again)


def test_an_implementation_is_registered_under_the_name_that_is_given() -> None:
    registry = ToolRegistry()
    registry.register(Adder(), name="plus")
    assert "plus" in registry and "add" not in registry
    tool = Tool(uid="t", name="plus", description="", input_schema={"type": "object"})
    assert registry.execute(tool, {"a": 1, "b": 2}, CONTEXT).result == 3


def test_a_name_that_is_none_a_class_and_a_tool_under_another_name_are_refused() -> None:
    class Nameless(Adder):
        name: Any = None

    registry = ToolRegistry()
    for given, name, why in (
        (Nameless(), None, "of Nameless is NoneType"),
        (Adder, None, "Adder is a class"),
        (FunctionTool(add_slowly), "plus", "the tool is called 'add_slowly', so it"),
    ):
        implementation: Any = given
        with pytest.raises(UsageError, match=why):
            registry.register(implementation, name=name)
