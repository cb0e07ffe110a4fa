"""For the tests of those who write tools: call a tool as a model would, and run its examples. The
pytest plugin is `plugin.py`.
"""

import os
from collections.abc import Callable
from typing import Any

from vespe.features.agents.toolsets.toolset import Toolset
from vespe.features.examples import examples
from vespe.features.examples.examples import ExampleResult
from vespe.library.function_tools import FunctionTool
from vespe.library.project import Project
from vespe.models import Outcome, Tool

__all__ = ["acall", "call", "example_results"]


def call(tool: Callable[..., Any] | FunctionTool, /, **arguments: Any) -> Outcome:
    """Run a function as a tool, with checks of arguments and result, without a project.

    ```python
    from vespe.testing import call

    def double(n: int) -> int:
        return 2 * n

    assert call(double, n=21).unwrap() == 42
    assert call(double, n="x").error.code == "invalid_arguments"
    ```
    """
    tools = Toolset(tool)
    return tools.call(next(iter(tools.tools)), **arguments)


async def acall(tool: Callable[..., Any] | FunctionTool, /, **arguments: Any) -> Outcome:
    """Run a function as a tool, in the caller's event loop; see `call`.

    ```python
    import asyncio
    from vespe.testing import acall

    async def double(n: int) -> int:
        return 2 * n

    assert asyncio.run(acall(double, n=21)).unwrap() == 42
    ```
    """
    tools = Toolset(tool)
    return await tools.acall(next(iter(tools.tools)), **arguments)


def example_results(
    tool: Callable[..., Any] | FunctionTool | str | os.PathLike[str], /
) -> list[ExampleResult]:
    """Run the examples of a function, or of the tool in a directory (of a project or a kit), and
    return the result of each.

    Raises NotTrusted or InvalidTool if the examples cannot run.

    ```python
    from vespe import tool
    from vespe.testing import example_results

    @tool(examples=[{"input": {"n": 21}, "output": 42}])
    def double(n: int) -> int:
        return 2 * n

    assert all(result.passed for result in example_results(double))
    ```
    """
    tools, found = (
        _placed(os.path.abspath(tool))
        if isinstance(tool, (str, os.PathLike))
        else _of_function(tool)
    )
    return list(examples.run_examples(tools.path_of(found.name), found))


def _of_function(tool: Callable[..., Any] | FunctionTool) -> tuple[Toolset, Tool]:
    tools = Toolset(tool)
    return tools, next(iter(tools))


def _placed(directory: str) -> tuple[Toolset, Tool]:
    """Return the tool of a directory, in the project or the kit that it belongs to."""
    above = os.path.dirname(directory)
    in_project = (
        os.path.basename(above) == "tools" and os.path.basename(os.path.dirname(above)) == ".vespe"
    )
    if not in_project:
        tools = Toolset(above)
        return tools, next(
            tool for tool in tools if tool.directory and os.path.samefile(tool.directory, directory)
        )
    project = Project(os.path.dirname(os.path.dirname(above)))
    found = project.load_tool(os.path.basename(directory))
    tools = Toolset(project)
    return (tools if found.name in tools else Toolset(above)), found
