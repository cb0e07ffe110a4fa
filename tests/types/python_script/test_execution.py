"""Functions of real scripts in real interpreters: results, errors as sentences, isolation,
dependencies.
"""

import json
import os
import sys
import zipfile
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.errors import (
    InvalidArguments,
    InvalidDocument,
    InvalidOutput,
    InvalidTool,
    OutputTooLarge,
    Refused,
    TimedOut,
    ToolExecutionError,
)
from vespe.models import Execution, Implementation, Tool
from vespe.processes import process
from vespe.tool_types import Context
from vespe.types.python_script.execution import PythonScript

TEXTS = st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
COVERAGE = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
"""What lets the child be measured too."""


class Workshop:
    """A directory in which to write scripts and run them."""

    def __init__(self, directory: Path) -> None:
        self.project, self.directory = directory / "project", directory / "tool"
        self.project.mkdir()
        self.directory.mkdir()

    def tool(
        self,
        *,
        path: str | None = "main.py",
        args: dict[str, Any] | None = None,
        entrypoint: str | None = "f",
    ) -> Tool:
        implementation = Implementation(
            type="python_script", path=path, entrypoint=entrypoint, args=args or {}
        )
        return Tool(
            uid="tool-x",
            name="x",
            description="",
            input_schema={},
            directory=str(self.directory),
            implementation=implementation,
        )

    def context(self, **fields: Any) -> Context:
        environment = process.child_environment(os.environ, COVERAGE)
        whole: dict[str, Any] = {
            "project_root": str(self.project),
            "directory": str(self.directory),
            "environment": environment,
            "timeout_s": 20.0,
        }
        return Context(**(whole | fields))

    def run(
        self,
        source: str,
        inputs: dict[str, Any] | None = None,
        *,
        args: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Execution:
        (self.directory / "main.py").write_text(dedent(source), encoding="utf-8")
        return PythonScript().execute(self.tool(args=args), inputs or {}, self.context(**fields))

    def failure(
        self, source: str, inputs: dict[str, Any] | None = None, **fields: Any
    ) -> ToolExecutionError:
        with pytest.raises(ToolExecutionError) as caught:
            self.run(source, inputs, **fields)
        return caught.value


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def test_a_function_takes_inputs_and_fixed_arguments_as_keywords(workshop: Workshop) -> None:
    assert workshop.run("def f(a, b): return [a, b]", {"a": 1}, args={"b": {"c": None}}).result == [
        1,
        {"c": None},
    ]


def test_an_async_function_is_awaited(workshop: Workshop) -> None:
    assert (
        workshop.run("import asyncio\nasync def f(): await asyncio.sleep(0); return 3").result == 3
    )


def test_generators_of_both_kinds_are_arrays(workshop: Workshop) -> None:
    assert workshop.run("def f():\n    yield 1\n    yield 2").result == [1, 2]
    assert workshop.run("async def f():\n    yield 1\n    yield 2").result == [1, 2]


def test_secrets_are_filled_into_the_fixed_arguments(workshop: Workshop) -> None:
    assert (
        workshop.run(
            "def f(key): return key", args={"key": "Bearer ${env:K}"}, secrets={"K": "s"}
        ).result
        == "Bearer s"
    )
    with pytest.raises(Refused):
        workshop.run("def f(key): return key", args={"key": "${env:K}"})


@settings(max_examples=25, deadline=None)
@given(value=JSON)
def test_p15_any_json_value_comes_back_as_it_went(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    workshop = Workshop(tmp_path_factory.mktemp("json"))
    result = workshop.run("def f(value): return value", {"value": value}).result
    assert json.dumps(result, sort_keys=True) == json.dumps(value, sort_keys=True)


def test_p15_arguments_are_data_never_code(workshop: Workshop) -> None:
    hostile = "__import__('os').system('touch ran')"
    assert workshop.run("def f(x): return x", {"x": hostile}).result == hostile
    assert list(workshop.project.iterdir()) == []


def test_p15_what_a_tool_prints_cannot_corrupt_its_result(workshop: Workshop) -> None:
    source = """
        import os, sys
        print('{"result": 1}')
        def f():
            os.write(1, b'\\xff{"result": 2}\\n'); print("to stderr", file=sys.stderr); sys.stdout.write("no newline")
            return "real"
    """
    done = workshop.run(source)
    assert done.result == "real"
    assert (
        done.logs == '{"result": 1}\n\N{REPLACEMENT CHARACTER}{"result": 2}\nto stderr\nno newline'
    )


def test_p16_nothing_is_imported_from_the_working_directory(workshop: Workshop) -> None:
    for name in ("json", "vespe", "sitecustomize", "usercustomize", "asyncio", "extra"):
        (workshop.project / f"{name}.py").write_text(
            "open('imported', 'w')\nraise SystemExit(9)\n", encoding="utf-8"
        )
    source = """
        import json, asyncio
        def f():
            try:
                import extra
            except ModuleNotFoundError:
                return "absent"
    """
    assert workshop.run(source).result == "absent"
    assert not (workshop.project / "imported").exists()


def test_p16_siblings_import_and_never_shadow_the_standard_library(workshop: Workshop) -> None:
    (workshop.directory / "json.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
    (workshop.directory / "beside.py").write_text("VALUE = 7\n", encoding="utf-8")
    source = "import json, beside, sys\ndef f(): return [beside.VALUE, json.dumps(1), sys.path[-1]]"
    assert workshop.run(source).result == [7, "1", str(workshop.directory)]


def test_running_writes_no_bytecode(workshop: Workshop) -> None:
    (workshop.directory / "beside.py").write_text("VALUE = 7\n", encoding="utf-8")
    workshop.run("import beside\ndef f(): return 1")
    assert sorted(path.name for path in workshop.directory.iterdir()) == ["beside.py", "main.py"]


def test_p33_a_script_sees_the_given_environment_alone(workshop: Workshop) -> None:
    environment = {"PATH": "/usr/bin:/bin", "TOKEN": "t"}
    result = workshop.run(
        "import os\ndef f(): return dict(os.environ)", environment=environment
    ).result
    assert {name: value for name, value in result.items() if name != "LC_CTYPE"} == environment


def test_p30_a_script_starts_in_the_project_with_nothing_to_read(workshop: Workshop) -> None:
    assert workshop.run(
        "import os, sys\ndef f(): return [os.getcwd(), sys.stdin.read()]"
    ).result == [str(workshop.project), ""]


def test_p24_what_json_cannot_say_is_named_with_its_place(workshop: Workshop) -> None:
    for source, pointer, said in (
        ("def f(): return float('nan')", "", "the result is NaN"),
        ("def f(): return {'a': [1, float('-inf')]}", "/a/1", "the result at /a/1 is -Infinity"),
        ("def f(): return {'a/b': object()}", "/a~1b", "is an object, which JSON cannot represent"),
        (
            "def f():\n    a = []\n    a.append(a)\n    return a",
            "",
            "nested deeper than 63 levels, or contains itself",
        ),
        ("def f(): return [10 ** 5000]", "/0", "too many digits"),
        ("def f(): return {1: 2, '1': 3}", "", "twice in one object"),
        ("def f():\n    a = 1\n    for _ in range(64): a = [a]\n    return a", "", "deeper than"),
    ):
        failure = workshop.failure(source)
        assert isinstance(failure, InvalidOutput)
        assert (failure.details["pointer"], said in str(failure)) == (pointer, True), str(failure)


def test_p24_lone_surrogates_become_replacement_characters_with_a_note(workshop: Workshop) -> None:
    done = workshop.run("def f(): return {'k\\udc80': 'a\\ud800b\\U0001f600'}")
    assert done.result == {"k\N{REPLACEMENT CHARACTER}": "a\N{REPLACEMENT CHARACTER}b\U0001f600"}
    assert "lone surrogates" in done.notes[0]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f():\n    raise ValueError('bad')", "ValueError: bad (main.py, line 2)"),
        ("def f():\n    raise KeyError", "KeyError (main.py, line 2)"),
        ("x = 1 / 0", "ZeroDivisionError: division by zero (main.py, line 1)"),
        ("def f(:", "SyntaxError: invalid syntax (main.py, line 1)"),
        ("def g(): pass", "main.py has no function 'f'; it has g"),
        ("f = 3", "'f' in main.py is not a function but of type int"),
        ("class f: pass", "'f' in main.py is not a function but of type type"),
        (
            "def f(a): pass",
            "'f' does not accept the arguments of its schema and `args`: f() missing 1 "
            "required positional argument: 'a'",
        ),
        (
            "import sys\ndef f(): sys.exit(3)",
            "the tool called sys.exit(3) and gave no result (main.py, line 2)",
        ),
        (
            "import sys\ndef f(): sys.exit('why')",
            "the tool called sys.exit('why') and gave no result (main.py, line 2)",
        ),
        (
            "import sys\ndef f(): sys.exit()",
            "the tool called sys.exit(None) and gave no result (main.py, line 2)",
        ),
        (
            "import os\ndef f(): os._exit(4)",
            "'f' returned no result: its process ended with status 4",
        ),
        (
            "import os\ndef f(): os._exit(0)",
            "'f' returned no result: it ended its own process, or closed the file",
        ),
        (
            "import os\ndef f(): os.closerange(3, 99)",
            "'f' returned no result: it ended its own process, or closed the file",
        ),
        ("import os\ndef f(): os.kill(os.getpid(), 11)", "'f' was killed by SIGSEGV"),
        ("import os\ndef f(): os.kill(os.getpid(), 40)", "'f' was killed by signal 40"),
        (
            "def f(): return f()",
            "RecursionError: maximum recursion depth exceeded (main.py, line 1)",
        ),
        ("def f(): return [0] * 10**13", "MemoryError (main.py, line 1)"),
        (
            "async def f(): raise OSError(2, 'gone')",
            "FileNotFoundError: [Errno 2] gone (main.py, line 1)",
        ),
        ("def f(): raise BaseException('base')", "BaseException: base (main.py, line 1)"),
        ("def f(): raise ValueError('\\ud800')", "ValueError: ? (main.py, line 1)"),
        (
            "class E(Exception):\n    __str__ = None\ndef f(): raise E",
            "E: (its text cannot be had) (main.py, line 3)",
        ),
        (
            "class P:\n    def __iter__(self): raise ValueError('no')\ndef f(): return P()",
            "ValueError: no (main.py, line 2)",
        ),
    ],
)
def test_what_goes_wrong_in_a_tool_is_a_sentence(
    workshop: Workshop, source: str, said: str
) -> None:
    assert str(workshop.failure(source)).removesuffix(" descriptor for the result") == said


def test_the_traceback_shows_the_tools_own_frames_with_relative_paths(workshop: Workshop) -> None:
    (workshop.directory / "beside.py").write_text(
        "import json\ndef load(text):\n    return json.loads(text)\n", encoding="utf-8"
    )
    failure = workshop.failure("import beside\ndef f(): print('before'); beside.load('{')")
    assert failure.details["traceback"] == ["main.py, line 2, in f", "beside.py, line 3, in load"]
    assert str(failure).endswith("(beside.py, line 3)")
    assert (failure.details["exception"], failure.details["logs"]) == (
        "JSONDecodeError",
        "before\n",
    )


def test_a_missing_module_gets_a_hint_on_how_to_name_it(workshop: Workshop) -> None:
    assert "# /// script" in workshop.failure("import no_such_module_anywhere").hint


def test_an_input_that_its_annotation_refuses_is_for_the_model_to_mend(workshop: Workshop) -> None:
    with pytest.raises(
        InvalidArguments, match="`day` must be a date such as 2026-01-31, not"
    ) as caught:
        workshop.run("import datetime\ndef f(day: datetime.date): return day", {"day": "soon"})
    assert caught.value.violations[0]["pointer"] == "/day"
    assert caught.value.retryable


def test_p27_a_script_that_hangs_ends_at_its_deadline_under_the_tools_name(
    workshop: Workshop,
) -> None:
    with pytest.raises(TimedOut, match=r"^x did not finish") as caught:
        workshop.run("import time\ndef f(): print('so far'); time.sleep(60)", timeout_s=0.5)
    assert caught.value.details["stderr"] == "so far\n"


def test_threads_and_processes_that_a_function_leaves_do_not_hold_its_result(
    workshop: Workshop,
) -> None:
    source = """
        import os, subprocess, threading, time
        def f():
            threading.Thread(target=time.sleep, args=(60,)).start()
            subprocess.Popen(["sleep", "60"])
            if os.fork() == 0:
                return "from the child"
            time.sleep(0.2)
            return "from the parent"
    """
    assert workshop.run(source).result == "from the parent"


def test_what_a_script_registered_for_its_end_still_runs(workshop: Workshop) -> None:
    assert (
        workshop.run("import atexit\natexit.register(print, 'goodbye')\ndef f(): return 1").logs
        == "goodbye\n"
    )


def test_functions_of_a_script_travel_to_other_processes(workshop: Workshop) -> None:
    source = """
        import multiprocessing
        def double(x): return 2 * x
        def f():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                return pool.map(double, [1, 2])
    """
    assert workshop.run(source).result == [2, 4]


def test_p29_a_result_past_the_larger_cap_is_refused(workshop: Workshop) -> None:
    with pytest.raises(OutputTooLarge, match=r"^x wrote more than 8388608 bytes as its result"):
        workshop.run("def f(): return 'x' * 9_000_000")


def test_p29_a_long_log_is_cut_with_a_note(workshop: Workshop) -> None:
    done = workshop.run("def f():\n    for _ in range(2000): print('x' * 99)\n    return 1")
    assert len(done.logs) == 65536
    assert done.notes == ("the log was cut by vespe: the last 65536 of 200000 bytes",)


def test_a_tool_without_a_script_is_invalid(workshop: Workshop) -> None:
    for path, entrypoint, said in (
        (None, "f", "needs `path` and `entrypoint`"),
        ("main.py", None, "needs `path` and `entrypoint`"),
        ("absent.py", "f", "no such file"),
        ("../other.py", "f", "leads out of"),
        ("/etc/passwd", "f", "leads out of"),
    ):
        with pytest.raises(InvalidTool, match=said):
            PythonScript().execute(
                workshop.tool(path=path, entrypoint=entrypoint), {}, workshop.context()
            )


def test_a_script_that_is_a_link_is_not_followed(workshop: Workshop) -> None:
    (workshop.directory / "main.py").symlink_to("/etc/passwd")
    with pytest.raises(InvalidDocument, match="symbolic link"):
        PythonScript().execute(workshop.tool(), {}, workshop.context())


def test_a_script_in_a_directory_of_the_tool_imports_from_beside_it(workshop: Workshop) -> None:
    (workshop.directory / "src").mkdir()
    (workshop.directory / "src" / "main.py").write_text(
        "import beside, top\ndef f(): return [beside.V, top.V]", encoding="utf-8"
    )
    (workshop.directory / "src" / "beside.py").write_text("V = 1", encoding="utf-8")
    (workshop.directory / "top.py").write_text("V = 2", encoding="utf-8")
    assert PythonScript().execute(
        workshop.tool(path="src/main.py"), {}, workshop.context()
    ).result == [1, 2]


def test_the_plan_shows_what_would_run_and_runs_nothing(workshop: Workshop) -> None:
    header = "# /// script\n# requires-python = '>=3.11'\n# dependencies = ['b', 'a']\n# ///\n"
    (workshop.directory / "main.py").write_text(header + "raise SystemExit", encoding="utf-8")
    assert PythonScript().plan(
        workshop.tool(args={"key": "${env:K}"}), {"a": 1}, workshop.context()
    ) == {
        "script": str(workshop.directory / "main.py"),
        "function": "f",
        "inputs": {"a": 1},
        "args": {"key": "${env:K}"},
        "cwd": str(workshop.project),
        "dependencies": ["a", "b"],
        "requires_python": ">=3.11",
    }


def test_a_script_for_another_python_is_refused(workshop: Workshop) -> None:
    failure = workshop.failure("# /// script\n# requires-python = '>=4'\n# ///\ndef f(): return 1")
    assert (
        f"main.py needs Python >=4, but this is {sys.version_info[0]}.{sys.version_info[1]}"
        in str(failure)
    )


def test_a_scripts_dependencies_are_installed_once_into_their_own_environment(
    workshop: Workshop, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "greeting-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greeting.py", "WORD = 'hello'\n")
        wheel.writestr(
            "greeting-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n",
        )
        wheel.writestr(
            "greeting-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr("greeting-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    source = (
        "# /// script\n# dependencies = ['greeting==1.0']\n# ///\nimport greeting\ndef f(): "
        "return greeting.WORD"
    )
    (workshop.directory / "main.py").write_text(source, encoding="utf-8")
    reports: list[str] = []
    results = [
        PythonScript()
        .execute(workshop.tool(), {}, workshop.context(progress=reports.append))
        .result
        for _ in range(2)
    ]
    assert results == ["hello", "hello"]
    assert reports == ["installing greeting==1.0 into a separate environment (only once)"]


def test_p17_a_tool_that_raises_invalid_arguments_tells_the_model_what_to_mend(
    workshop: Workshop,
) -> None:
    body = (
        "from vespe.errors import InvalidArguments\n\ndef f(path):\n    raise "
        "InvalidArguments(f'the path {path!r} leads out')\n"
    )
    with pytest.raises(InvalidArguments, match=r"^the path '\.\.' leads out$"):
        workshop.run(body, {"path": ".."})


def test_a_module_that_is_missing_is_not_taken_for_a_package_alone(workshop: Workshop) -> None:
    assert (
        "Copy your own modules next to the script"
        in workshop.failure("import sibling\ndef f(): return 1").hint
    )
    assert workshop.failure("def f(): raise ImportError('mine')").hint == ""


def test_an_error_of_vespes_own_is_told_as_its_sentence(workshop: Workshop) -> None:
    body = "from vespe.errors import KitNotFound\n\ndef f():\n    raise KitNotFound('k')\n"
    with pytest.raises(ToolExecutionError, match=r"^no kit is called 'k'$"):
        workshop.run(body)
