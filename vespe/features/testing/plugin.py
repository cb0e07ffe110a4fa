"""The pytest plugin: with `--vespe-examples`, or `vespe_examples = true` in the configuration,
tools' examples are test items.

Those are the examples of every `config.json` of a tool beneath what is collected
(`pytest --vespe-examples .vespe/tools`), and of every `@tool` function that a test module has.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError, VespeError

if TYPE_CHECKING:
    from vespe.features.examples.examples import ExampleResult


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and its setting."""
    parser.getgroup("vespe").addoption(
        "--vespe-examples", action="store_true", help="Run the examples of tools as tests."
    )
    parser.addini(
        "vespe_examples", "Run the examples of tools as tests.", type="bool", default=False
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ToolFile | None":
    """Collect a tool's config.json."""
    if (
        not _is_asked(parent.config)
        or file_path.name != "config.json"
        or not file_path.parent.name.startswith("tool-")
    ):
        return None
    return ToolFile.from_parent(parent, path=file_path)


def pytest_pycollect_makeitem(
    collector: pytest.Collector, name: str, obj: object
) -> "list[Example] | None":
    """Collect the examples of a function that is a tool."""
    tool = getattr(obj, "tool", None)
    examples = (
        getattr(getattr(tool, "definition", None), "examples", ())
        if type(tool).__name__ == "FunctionTool"
        else ()
    )
    if not examples or not _is_asked(collector.config):
        return None
    ran = _Ran(tool)
    return [
        Example.from_parent(collector, name=f"{name}[example {index}]", ran=ran, index=index)
        for index in range(len(examples))
    ]


def _is_asked(config: pytest.Config) -> bool:
    return bool(config.getoption("--vespe-examples") or config.getini("vespe_examples"))


class ToolFile(pytest.File):
    """A tool's config.json."""

    def collect(self) -> Iterator["Example"]:
        """Return an item for each of its examples."""
        try:
            document = strict_json.read_object(str(self.path))
        except (InvalidDocument, StorageError) as error:
            raise self.CollectError(str(error)) from None
        ran = _Ran(self.path.parent)
        for index, _ in enumerate(document.get("examples") or ()):
            yield Example.from_parent(
                self, name=f"{document.get('name')}[example {index}]", ran=ran, index=index
            )


class _Ran:
    """The examples of one tool, run once, in order, when the first of them is asked for."""

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    @cached_property
    def results(self) -> "list[ExampleResult]":
        from vespe.features.testing import example_results

        return example_results(self.tool)


class Example(pytest.Item):
    """One example of a tool."""

    def __init__(self, *, ran: _Ran, index: int, **more: Any) -> None:
        super().__init__(**more)
        self._ran, self._index = ran, index

    def runtest(self) -> None:
        """Fail where the example did not do what it says."""
        result = self._ran.results[self._index]
        if result.problem is not None:
            raise ExampleFailed(
                f"{result.place}: {result.problem}" if result.place else result.problem
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the sentence alone: a traceback would show the plugin."""
        if isinstance(excinfo.value, (ExampleFailed, VespeError)):
            hint = getattr(excinfo.value, "hint", "")
            return f"{excinfo.value}\nhint: {hint}" if hint else str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where it stands."""
        return self.path, None, self.name


class ExampleFailed(AssertionError):
    """An example did not do what it says."""
