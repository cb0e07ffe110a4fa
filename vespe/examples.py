"""A tool's examples as tests: each is run through the call path, in a fresh directory of its own, and compared."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vespe import documents, errors, process
from vespe.calls import CallPath
from vespe.deferred import deferred
from vespe.models import JsonObject, JsonValue, Tool
from vespe.outcomes import Call, Outcome

if TYPE_CHECKING:
    import tempfile
else:
    tempfile = deferred("tempfile")

_GIT = ("git", "-c", "user.name=Example", "-c", "user.email=example@example.invalid", "-c", "commit.gpgsign=false")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleResult:
    """What became of one example: `index` counts from 0 in the tool's `examples`, and is -1 where the tool itself is broken.

    `problem` is None where it passed.
    """

    tool: str
    uid: str
    index: int
    problem: str | None
    duration_ms: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether the example did what it says."""
        return self.problem is None


def run_examples(path: CallPath, tool: Tool) -> Iterator[ExampleResult]:
    """Run a tool's examples in order in one fresh directory, which holds the tool's `example_files`.

    Raises what a call raises where there is no call to make: NotTrusted, InvalidTool.
    """
    with _stage(tool) as directory:
        staged = replace(path, directory=directory)
        for index, example in enumerate(tool.examples):
            outcome = staged.run_tool(tool, Call(tool=tool.uid, arguments=example.get("input", {})))
            problem = mismatch(example, outcome)
            yield ExampleResult(tool=tool.name, uid=tool.uid, index=index, problem=problem, duration_ms=outcome.duration_ms)


def mismatch(example: JsonObject, outcome: Outcome) -> str | None:
    """Say how an outcome differs from what its example expects; None where it does not."""
    if "error" in example:
        return _error_mismatch(str(example["error"]), outcome)
    if outcome.error is not None:
        return f"failed with {outcome.error.code}: {outcome.error.message}"
    if "output" in example and not same(outcome.result, example["output"]):
        return f"gave {_short(outcome.result)}, expected {_short(example['output'])}"
    return None


def _error_mismatch(code: str, outcome: Outcome) -> str | None:
    if outcome.error is None:
        return f"succeeded with {_short(outcome.result)}, expected the error {code}"
    if outcome.error.code != code:
        return f"failed with {outcome.error.code} ({outcome.error.message}), expected {code}"
    return None


def same(left: JsonValue, right: JsonValue) -> bool:
    """Compare as JSON does: 1 and 1.0 are the same number, true and 1 are not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _short(value: JsonValue) -> str:
    text = documents.compact_json(value)
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"


@contextmanager
def _stage(tool: Tool) -> Iterator[str]:
    """Give the directory that the examples share: with the tool's `example_files`, in a git repository where `example_git` asks."""
    with tempfile.TemporaryDirectory(prefix="vespe-examples-", ignore_cleanup_errors=True) as made:
        directory = os.path.realpath(made)
        for name, text in tool.document.get("example_files", {}).items():
            _write(tool, directory, name, text)
        if tool.document.get("example_git"):
            for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "--allow-empty", "-m", "Example files")):
                _git(directory, arguments)
        yield directory


def _write(tool: Tool, directory: str, name: str, text: str) -> None:
    path = os.path.normpath(os.path.join(directory, name))
    if not path.startswith(directory + os.sep):
        raise errors.InvalidTool(tool.uid, [f"example_files names {name!r}, which is outside the directory"], path=tool.directory or "")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    documents.write_atomic(path, text, durable=False)


def _git(directory: str, arguments: tuple[str, ...]) -> None:
    environment = process.child_environment(os.environ, {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull})
    done = process.run(process.Command(argv=(*_GIT, *arguments), cwd=directory, env=environment, timeout_s=30.0))
    if done.returncode != 0:
        raise errors.ToolExecutionError(f"git {arguments[0]} failed: {done.stderr.decode('utf-8', 'replace').strip()}")
