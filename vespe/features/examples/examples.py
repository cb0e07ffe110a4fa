"""A tool's examples as tests: each is run through the call path, in a fresh directory of its own,
and compared.
"""

import os
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from vespe import defaults, errors
from vespe.calls.path import CallPath
from vespe.features.examples import expectations
from vespe.files.confined import Directory, PathRefused
from vespe.files.confined_rules import Rules
from vespe.files.project_copy import copied_project
from vespe.git import repository
from vespe.kits import store
from vespe.lazy import concurrent_futures, tempfile
from vespe.models import Call, JsonObject, JsonValue, Tool
from vespe.processes import process
from vespe.processes.signals import uninterruptible
from vespe.records import dataclass
from vespe.schemas import validator
from vespe.schemas.comparison import samples
from vespe.schemas.subschemas import References
from vespe.tool_types import find_type
from vespe.tools import authoring

_GIT = (
    *repository.GIT,
    "-c",
    "user.name=Example",
    "-c",
    "user.email=example@example.invalid",
    "-c",
    "commit.gpgsign=false",
)

_MOST_COPIED: Final = 1 << 30
"""A copy of the project is made for each permission that is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleResult:
    """What became of one example: `index` counts from 0 in the tool's `examples`, and is -1 where
    the tool itself is broken.

    `problem` is None where it passed. `place` is the pointer to what failed below the example
    (`/output/bytes`), `result` what the tool gave (None where it failed).
    """

    tool: str
    uid: str
    index: int
    problem: str | None
    duration_ms: float = 0.0
    scope: str = ""
    place: str = ""
    result: JsonValue = None
    ok: bool = True

    @property
    def passed(self) -> bool:
        """Whether the example did what it says."""
        return self.problem is None

    @property
    def pointer(self) -> str:
        """The place of the example in its config.json; the whole of it where the tool itself is
        broken.
        """
        return f"/examples/{self.index}" if self.index >= 0 else ""

    @property
    def why(self) -> str:
        """Where it failed, and by what."""
        return f"{self.pointer}{self.place}: {self.problem}"


def run_examples(
    path: CallPath, tool: Tool, *, cancel: threading.Event | None = None, in_copy: bool = False
) -> Iterator[ExampleResult]:
    """Run a tool's examples in order in one fresh directory, which holds the tool's
    `example_files`; with `in_copy` in a copy of the project, which gets them.

    Raises what a call raises where there is no call to make: NotTrusted, InvalidTool; a set
    `cancel` ends a call that runs.
    """
    with staged(path, tool, in_copy=in_copy) as directory:
        at = replace(path, directory=directory)
        for index, example in enumerate(tool.examples):
            if cancel is not None and cancel.is_set():
                return
            outcome = at.run_tool(
                tool, Call(tool=tool.uid, arguments=example.get("input", {})), cancel=cancel
            )
            place, problem = expectations.difference(example, outcome)
            yield ExampleResult(
                tool=tool.name,
                uid=tool.uid,
                scope=tool.scope,
                index=index,
                problem=problem,
                place=place,
                result=outcome.result,
                ok=outcome.ok,
                duration_ms=outcome.duration_ms,
            )


def run_all(
    path: CallPath, tools: Sequence[Tool], *, jobs: int
) -> Generator[list[ExampleResult], None, None]:
    """Run the examples of several tools, `jobs` tools at a time, and give each tool's results in
    the order of the tools.

    Raises as `run_examples` does; whatever runs then, and at Ctrl-C, is ended before this raises.
    """
    cancel = threading.Event()
    with concurrent_futures.ThreadPoolExecutor(
        max_workers=jobs, thread_name_prefix="examples"
    ) as pool:
        try:
            # a thread whose start is cut short is one that the pool would not wait for
            with uninterruptible():
                futures = [pool.submit(_results, path, tool, cancel) for tool in tools]
            for future in futures:
                yield future.result()
        finally:
            cancel.set()
            pool.shutdown(cancel_futures=True)


def _results(path: CallPath, tool: Tool, cancel: threading.Event) -> list[ExampleResult]:
    return list(run_examples(path, tool, cancel=cancel))


def record(tool: Tool, results: Sequence[ExampleResult]) -> int:
    """Write what the tool gave as `output` into its config.json, where an example failed by its
    `output` or expects nothing.

    What `output_schema`, `output_pattern` or `error` expect is never changed, and a call that
    failed records nothing. Return how many examples were changed. Raises as `_write_examples` does.
    """
    wanted = [one for one in results if recordable(tool.examples[one.index], one)]
    if not wanted or tool.directory is None:
        return 0
    outputs = {one.index: {"output": one.result} for one in wanted}
    _write_examples(
        tool, [{**example, **outputs.get(index, {})} for index, example in enumerate(tool.examples)]
    )
    return len(wanted)


def keep_example(tool: Tool, arguments: JsonObject, result: JsonValue) -> str:
    """Add a call that succeeded to the examples in the tool's config.json, in place of one with the
    same arguments, and return what that did to the examples.

    Raises as `_write_examples` does.
    """
    others = [
        example
        for example in tool.examples
        if expectations.first_difference(example.get("input"), arguments) is not None
    ]
    _write_examples(tool, [*others, {"input": arguments, "output": result}])
    return (
        f"added the call to the examples of {tool.name}"
        if len(others) == len(tool.examples)
        else f"replaced the example of {tool.name} that has the same arguments"
    )


def begun(tool: Tool) -> Tool:
    """Return a tool without examples with a first one, whose arguments are the simplest that its
    schema allows.

    It is the tool itself where it has examples, where no arguments are found, and where a call acts
    on other machines or destroys.
    """
    arguments = (
        None if tool.examples or acts_outside(tool) else _simplest_arguments(tool.input_schema)
    )
    return tool if arguments is None else replace(tool, examples=({"input": arguments},))


def acts_outside(tool: Tool) -> bool:
    """Whether calls that nobody wrote need a yes: the tool asks other machines, or says that it is
    destructive.
    """
    runs = tool.implementation
    kind = None if runs is None else find_type(runs.type)
    done = () if runs is None or kind is None else kind.effects(runs)
    return (
        any(effect == "sends_out" for effect, _ in done)
        or tool.annotations.get("destructiveHint") is True
    )


def _write_examples(tool: Tool, examples: list[JsonObject]) -> None:
    """Write the examples into a tool's config.json.

    Raises StorageError, Refused for an installed kit's tool, and InvalidDocument where the file is
    not as it was when the tool was loaded.
    """
    path = os.path.join(tool.directory or "", defaults.CONFIG_FILE)
    if store.owner_of(path) is not None:
        raise errors.Refused(
            f"{tool.name} belongs to an installed kit, which is pinned and cannot be changed",
            hint=f"`vespe tool copy {tool.name}` copies it into the project",
        )
    authoring.write_config(tool, {**tool.document, "examples": examples})


def _simplest_arguments(schema: Any) -> JsonObject | None:
    judge = validator.compile_schema(schema, closed=True)
    candidates = samples.samples([(schema, References(schema))], [], fits=lambda *_: True)
    return next(
        (
            value
            for value in (_described(schema), {}, *candidates)
            if isinstance(value, dict) and judge.is_valid(value)
        ),
        None,
    )


def _described(schema: Any) -> JsonObject:
    """Return the values that the schema itself offers: the examples, the defaults and the first
    choices of its properties.
    """
    properties = schema.get("properties", {}).items() if isinstance(schema, dict) else ()
    offers = (
        (
            name,
            [
                *one.get("examples", ())[:1],
                *([one["default"]] if "default" in one else []),
                *one.get("enum", ())[:1],
            ],
        )
        for name, one in properties
        if isinstance(one, dict)
    )
    return {name: values[0] for name, values in offers if values}


def recordable(example: JsonObject, result: ExampleResult) -> bool:
    """Whether `record` writes what the tool gave into this example."""
    if not result.ok:
        return False
    if "output" in example:
        return (
            result.problem is not None
            and result.place.startswith("/output")
            and not result.place.startswith("/output_")
        )
    return not any(key in example for key in ("error", "output_schema", "output_pattern"))


@contextmanager
def staged(path: CallPath, tool: Tool, *, in_copy: bool = False) -> Iterator[str]:
    """Return the directory that the examples share: with the tool's `example_files`, in a git
    repository where `example_git` asks; with `in_copy` a copy of the project.

    Raises as a call does where the tool may not run: git itself runs what these files say.
    """
    path.check_tool(tool)
    made = (
        copied_project(path.workspace.root, most=_MOST_COPIED)
        if in_copy
        else tempfile.TemporaryDirectory(prefix="vespe-examples-", ignore_cleanup_errors=True)
    )
    with made as place:
        directory = os.path.realpath(place)
        with Directory(directory, rules=Rules(may_write=("*",))) as inside:
            for name, text in _files(tool).items():
                try:
                    inside.write_text(name, text)
                except PathRefused as error:
                    raise errors.InvalidTool(
                        tool.uid, [f"example_files: {error}"], path=tool.directory or ""
                    ) from None
        # The repository of a copy can be the project's own, which `.git` names.
        if tool.document.get("example_git") and not in_copy:
            for arguments in (
                ("init", "-q"),
                ("add", "-A"),
                ("commit", "-q", "--allow-empty", "-m", "Example files"),
            ):
                _git(directory, arguments)
        yield directory


def _files(tool: Tool) -> dict[str, str]:
    """Return the files that the directory of the examples begins with; no tool is broken for
    these.
    """
    files = tool.document.get("example_files", {})
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        wrong = "`example_files` must be an object with the content of each file, a string"
        raise errors.InvalidTool(tool.uid, [wrong], path=tool.directory or "")
    return files


def _git(directory: str, arguments: tuple[str, ...]) -> None:
    environment = repository.environment() | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    done = process.run(
        process.Command(argv=(*_GIT, *arguments), cwd=directory, env=environment, timeout_s=30.0)
    )
    if done.returncode != 0:
        raise errors.ToolExecutionError(
            f"git {arguments[0]} failed: {done.stderr.decode('utf-8', 'replace').strip()}"
        )
