"""AgentDojo's ground truths as programs: are the verdicts those of direct calls?

    python -m tests.acceptance.program_verdicts [--json] [--only PART] [--every N]

`suites`: the 97 user tasks and 35 injection tasks of v1.2.1 in the environments of their suites
(`agentdojo` from PyPI, installed into a directory of this run, or at DOJO_SITE), each by direct
calls and by one program; the suite's own checks judge both. `flows`: the 97 tasks and 609 injected
pairs by names and arguments alone, with `approvals.flow` set to `ask`; each by direct calls and by
a program, which are to lead to the same questions and the same effects.
"""

import argparse
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import subprocess
import sys
import tempfile
import threading
import types
import typing
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

from tests.acceptance.flows import STRANGER, TASKS, suite_tools
from vespe import Agent, AgentOptions, Answer, CallPolicy, Question, SimulatedProvider, Toolset
from vespe import tool as as_tool
from vespe.calls.taint import Taint
from vespe.features.agents.limits import Limits
from vespe.models import Call, JsonObject, Outcome, Tool

_NEEDS: Final = [
    "deepdiff",
    "docstring-parser",
    "python-dotenv",
    "pyyaml",
    "email-validator",
    "tenacity",
]
_MODELS: Final = ("anthropic", "cohere", "google", "openai", "langchain", "langchain_core")
Made = list[tuple[str, JsonObject]]


class _Nothing(type):
    """The type of classes that do nothing, and have such a class for each name."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name, (), {"__class_getitem__": classmethod(lambda own, _: own)})


class _Absent(types.ModuleType):
    """A module of such classes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_Nothing("absent", (), {}), name)


class NoModels(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands for the SDKs of models that the suites import and ground truths do not use."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.partition(".")[0] in (*_MODELS, "torch", "transformers", "vertexai"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        made = _Absent(spec.name)
        made.__path__ = []
        return made

    def exec_module(self, module: Any) -> None:
        pass


def suites() -> JsonObject:
    """Run each task of the suites both ways, and count the verdicts of their own checks."""
    place = os.environ.get("DOJO_SITE") or tempfile.mkdtemp(prefix="dojo-")
    if not (Path(place) / "agentdojo").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", place]
        subprocess.run([*pip, "--no-deps", "agentdojo==0.1.35"], check=True, stdout=sys.stderr)
        subprocess.run([*pip, *_NEEDS], check=True, stdout=sys.stderr)
    sys.path.append(place)
    sys.meta_path.insert(0, NoModels())
    import agentdojo.task_suite as suite_module  # type: ignore[import-not-found]  # installed above
    from agentdojo.agent_pipeline.ground_truth_pipeline import (  # type: ignore[import-not-found]  # as above
        GroundTruthPipeline,
    )

    found: Counter[str] = Counter()
    others = []
    for name, suite in suite_module.get_suites("v1.2.1").items():
        for task in (*suite.user_tasks.values(), *suite.injection_tasks.values()):
            direct = _verdict(suite, GroundTruthPipeline(task), task)
            program = _verdict(suite, _by_program(GroundTruthPipeline, task), task)
            found["tasks"] += 1
            found["direct_calls_succeed"] += direct == "True"
            found["programs_succeed"] += program == "True"
            found["same_verdict"] += direct == program
            if direct != program:
                others.append([name, task.ID, direct[:200], program[:200]])
    return dict(found) | {"others": others}


def _verdict(suite: Any, pipeline: Any, task: Any) -> str:
    try:
        return str(suite.run_task_with_pipeline(pipeline, task, None, {})[0])
    except Exception as error:  # a ground truth that its own tools refuse is a verdict, too
        return f"{type(error).__name__}: {error}"


def _by_program(pipeline: Any, task: Any) -> Any:
    """Return a pipeline that makes a task's calls by one program, and says what the other says."""

    class Programs(pipeline):  # type: ignore[misc]  # its class has no types
        def query(self, query: str, runtime: Any, env: Any = None, *more: Any, **named: Any) -> Any:
            made: list[Any] = []
            bound = [as_tool(_bound(one, env, made)) for one in runtime.functions.values()]
            code = "\n".join(_text(one) for one in task.ground_truth(env))
            Toolset(*bound, tools_mode="code").run_code(code or "None").outcome.unwrap()
            said = [{"type": "text", "content": task.GROUND_TRUTH_OUTPUT}]
            messages = [
                {"role": "assistant", "tool_calls": made, "content": said[:0]},
                {"role": "assistant", "tool_calls": None, "content": said},
            ]
            return query, runtime, env, messages, {}

    return Programs(task)


def _text(call: Any) -> str:
    """Return a call of a ground truth as a line of a program."""
    given = ", ".join(
        f"{key}={_text(value) if hasattr(value, 'function') else repr(value)}"
        for key, value in call.args.items()
    )
    return f"{call.function}({given})"


def _bound(function: Any, env: Any, made: list[Any]) -> Callable[..., Any]:
    """Return a function of a suite without the parameters that its environment gives, which writes
    down its calls.
    """
    from agentdojo.functions_runtime import (  # type: ignore[import-not-found]  # installed by then
        FunctionCall,
    )

    own = {name: one.extract_dep_from_env(env) for name, one in function.dependencies.items()}
    hints = typing.get_type_hints(function.run)

    def run(**given: Any) -> Any:
        made.append(FunctionCall(function=function.name, args=given))
        return function.run(**own, **given)

    shown = inspect.signature(function.run)
    run.__name__, run.__doc__ = function.name, function.full_docstring
    run.__annotations__ = {name: hint for name, hint in hints.items() if name not in own}
    run.__signature__ = shown.replace(  # type: ignore[attr-defined]  # functions take attributes
        parameters=[
            one.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            for name, one in shown.parameters.items()
            if name not in own
        ],
        return_annotation=hints.get("return", shown.return_annotation),
    )
    return run


class Conversation:
    """A set of tools, whose effects and whose questions are kept, for an agent. Behind the word of
    a stranger the person says no.
    """

    def __init__(self, tools: dict[str, Tool], prompt: str) -> None:
        self.tools = {**tools, STRANGER.name: STRANGER}
        self.made: Made = []
        self.asked: list[tuple[str, JsonObject, str]] = []
        self.prompt, self._says_yes = prompt, True
        self.policy = CallPolicy(policy="all", flow="ask", ask=self._ask, taint=Taint())

    def why_not(self, tool: Tool, inputs: JsonObject) -> str:
        return self.policy.why_not(tool, inputs)

    def saw(self, tool: Tool) -> None:
        self.policy.saw(tool)

    def heard(self, said: Any, *, tool: str = "") -> None:
        self.policy.heard(said, tool=tool)

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        assert isinstance(call.arguments, dict)
        if tool.name == STRANGER.name:
            self._says_yes = False
        else:
            self.made.append((tool.name, dict(call.arguments)))
        return Outcome(tool=tool.name, uid=tool.uid, result="done")

    def run(self, calls: list[Any], *, as_program: bool) -> None:
        """Have an agent make calls, as a model's own or in one program."""
        turns: list[Any] = [
            {"tool_calls": [{"name": name, "arguments": given}]} for name, given in calls
        ]
        if as_program:
            tried = [
                f"try:\n    {name}(**{given!r})\nexcept PermissionError:\n    pass"
                for name, given in calls
            ]
            code = {"code": "\n".join(tried)}
            turns = [{"tool_calls": [{"name": "run_code", "arguments": code}]}]
        mode: Literal["code", "all"] = "code" if as_program else "all"
        options = AgentOptions(tools_mode=mode, limits=Limits(max_iterations=len(turns) + 1))
        model = SimulatedProvider({"turns": [*turns, {"text": "Done."}]})
        done = Agent(model, tools=self, options=options).run(self.prompt)
        failed = [one.outcome.error for one in done.calls if one.outcome.error is not None]
        refused = [one for one in failed if one.code not in ("denied", "refused")]
        assert not refused, refused

    def _ask(self, question: Question) -> Answer:
        self.asked.append((question.tool.name, dict(question.inputs), question.why))
        return Answer(allowed=self._says_yes)


def flows(*, every: int = 1) -> JsonObject:
    """Play each task and each pair both ways, and compare the questions and the effects."""
    found: Counter[str] = Counter()
    others: list[Any] = []
    number = 0
    for name, suite in json.loads(TASKS.read_text(encoding="utf-8")).items():
        tools = suite_tools(suite)
        for task in suite["tasks"]:
            for injection in (None, *suite["injections"]):
                number += 1
                if number % every:
                    continue
                calls = [*task["calls"]]
                if injection is not None:
                    calls += [[STRANGER.name, {}], *injection["calls"]]
                direct, program = (Conversation(tools, task["prompt"]) for _ in range(2))
                direct.run(calls, as_program=False)
                program.run(calls, as_program=True)
                same = (direct.asked, direct.made) == (program.asked, program.made)
                found["pairs" if injection else "tasks"] += 1
                found["questions"] += len(direct.asked)
                found["same_verdict"] += same
                if not same:
                    others.append([name, task["id"], injection and injection["id"]])
    return dict(found) | {"others": others}


def main() -> int:
    """Print what was counted; return 1 where a verdict is another one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print data")
    parser.add_argument("--only", choices=("suites", "flows"))
    parser.add_argument("--every", type=int, default=1, help="play each so many-th of the flows")
    asked = parser.parse_args()
    found: JsonObject = {}
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        if asked.only != "suites":  # first: for the suites the SDKs of models are not there
            found["flows"] = flows(every=asked.every)
        if asked.only != "flows":
            found["suites"] = suites()
    sys.stdout.write(json.dumps(found, indent=None if asked.json else 1) + "\n")
    return int(any(part["others"] for part in found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
