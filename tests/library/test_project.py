"""The library's calls, on a Project and as functions."""

import itertools
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import vespe
from tests.support.ondisk import PATIENCE_S, interruptible, python_tool, write_kit
from tests.support.ondisk import vespe as command
from vespe import Project, ToolRegistry, execute_tool, list_available_tools, resolve_tool, tool
from vespe.errors import NotTrusted, ProjectNotFound, ToolNotFound, UsageError
from vespe.models import ProjectConfig
from vespe.projects.project import set_active


@pytest.fixture
def made(home: Path, tmp_path: Path) -> Project:
    return Project.init(tmp_path / "mine")


def test_a_project_is_made_once_and_trusted(made: Project, tmp_path: Path) -> None:
    made.create_tool("count", type="python_script")
    assert Project.init(tmp_path / "mine").execute_tool("count").result["words"] == 2
    assert repr(made) == f"Project({str(tmp_path / 'mine')!r})"


def test_the_five_verbs_work_on_a_project_and_as_functions(made: Project) -> None:
    tool = vespe.create_tool("count", type="python_script", project=made)
    assert vespe.load_tool(tool.uid, project=made).name == "count"
    assert vespe.resolve_tool(made.config, "count").entry.uid == tool.uid
    assert [t.name for t in vespe.list_available_tools(made.root)] == ["count"]
    assert vespe.execute_tool(tool.uid, '{"text": "a b c"}', project=made).result["words"] == 3


def test_a_function_of_a_file_becomes_a_tool(made: Project, tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(
        "def double(n: int) -> int:\n    return 2 * n\n", encoding="utf-8"
    )
    made.create_tool("double", source=f"{tmp_path}/calc.py:double")
    assert made.execute_tool("double", {"n": 21}).result == 42


def test_a_tool_is_made_from_its_schema_and_its_implementation(made: Project) -> None:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    details = {
        "type": "shell_command",
        "entrypoint": "printf",
        "args": {"argv": ["--", "%s", "{word}"]},
    }
    made.create_tool("say", schema, details, fields={"tags": ["words"]})
    assert made.execute_tool("say", {"word": "hello"}).result == "hello" and made.load_tool(
        "say"
    ).tags == ("words",)


def test_a_tool_without_an_implementation_is_made_and_then_registered(made: Project) -> None:
    tool = vespe.create_tool(
        "shout", {"type": "object", "properties": {"word": {"type": "string"}}}, project=made
    )
    assert tool.implementation is None
    made.registry.register(lambda word="": word.upper(), name="shout")
    assert made.execute_tool("shout", {"word": "a"}).result == "A"


def test_a_type_or_a_source_is_needed(made: Project) -> None:
    with pytest.raises(UsageError):
        made.create_tool("nothing")


def test_an_implementation_in_this_process_comes_first(made: Project) -> None:
    registry = ToolRegistry()
    registry.register(
        lambda text="": {"characters": len(text), "words": 0, "lines": 0}, name="count"
    )
    made.create_tool("count", type="python_script")
    assert (
        Project(made.root, registry=registry)
        .execute_tool("count", {"text": "four"})
        .result["words"]
        == 0
    )


def test_a_failed_call_is_an_outcome_and_no_call_is_an_exception(made: Project) -> None:
    made.create_tool("count", type="python_script")
    outcome = made.execute_tool("count", {"text": 1})
    assert not outcome.ok and outcome.error is not None and outcome.error.retryable
    with pytest.raises(ToolNotFound):
        made.execute_tool("cuont")


def test_a_call_can_be_cancelled_from_another_thread(made: Project) -> None:
    python_tool(Path(made.root) / ".vespe/tools/tool-slow", "slow", "import time\ntime.sleep(60)")
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    outcome = made.execute_tool("slow", cancel=cancel)
    assert outcome.error is not None and outcome.error.code == "interrupted"


def test_a_copy_of_a_project_is_trusted_only_by_the_callers_word(
    made: Project, tmp_path: Path
) -> None:
    made.create_tool("count", type="python_script")
    shutil.copytree(made.root, tmp_path / "copy")
    with pytest.raises(NotTrusted):
        Project(tmp_path / "copy").execute_tool("count")
    assert Project(tmp_path / "copy", trusted=True).execute_tool("count").ok


def test_where_there_is_no_project_it_is_said(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ProjectNotFound, match="no project here"):
        Project(tmp_path)


def test_a_living_project_sees_what_changes_in_its_configuration_and_its_kits(
    made: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    kit = write_kit(tmp_path / "kits", "alpha")
    python_tool(kit / "tool-a", "a", "return 1")
    with pytest.raises(ToolNotFound):
        made.execute_tool("a")
    set_active(made.root, ["alpha"])
    assert made.execute_tool("a").result == 1
    (kit / "kit_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ToolNotFound):
        made.execute_tool("a")
    python_tool(Path(made.root) / ".vespe/tools/tool-b", "b", "return 2")
    assert made.execute_tool("b").result == 2


STEPS = """
import dis, itertools, os, signal, sys
sys.path.insert(0, sys.argv[2])
import vespe
from vespe import Project
class Stop(Exception):
    pass
def own(*_):
    global raised
    raised = True
    raise Stop
signal.signal(signal.SIGINT, own)
project, ours, raised = Project(sys.argv[1]), os.path.dirname(vespe.__file__), False
def run(line):
    sys.settrace(lambda frame, event, _: line if frame.f_code.co_filename.startswith(ours) else None)
    try:
        project.execute_tool("one")
    finally:
        sys.settrace(None)
def places():
    passed, first = 0, {}
    def line(frame, event, _):
        nonlocal passed
        passed += event == "line"
        first.setdefault((frame.f_code.co_filename, frame.f_lineno), passed)
        return line
    run(line)
    return sorted(first.values())
def is_leaving(frame):  # a `with` block: Python looks for no signal before it is left, only a tracer can raise there
    following = (one for one in dis.get_instructions(frame.f_code) if one.offset >= frame.f_lasti and one.opname != "NOP")
    return [(one.opname, one.argval) for one in itertools.islice(following, 3)] == [("LOAD_CONST", None)] * 3
def stopped_at(step):
    global raised
    left, raised, sent = step, False, False
    def line(frame, event, _):
        nonlocal left, sent
        left -= event == "line"
        if left <= 0 and not sent and event == "line" and not is_leaving(frame):
            sent = True
            os.kill(os.getpid(), signal.SIGINT)
        return line
    try:
        run(line)
        while sent and not raised:  # another thread may take the signal; a pause might begin after it, and never end
            pass
    except Stop:
        return True
    return False
run(None)  # what is imported late is there then
steps = places()
tried = [steps[len(steps) * number // 64] for number in range(64)]  # one of each 18 lines or so that a call runs through
stopped = sum(map(stopped_at, tried))
signal.signal(signal.SIGINT, signal.SIG_IGN)
print(stopped, project.execute_tool("one").result)
"""


def test_p31_a_handler_that_raises_at_any_step_of_a_call_leaves_no_litter(
    home: Path, tmp_path: Path
) -> None:
    project = tmp_path / "clone"
    (project / ".vespe/tools").mkdir(parents=True)
    (project / ".vespe/config.json").write_text('{"active_kits": []}', encoding="utf-8")
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    # by its bytes: a call runs from a private copy
    assert command("trust", "--yes", "--project", str(project)).returncode == 0
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", STEPS, str(project), str(Path(vespe.__file__).parents[1])],
        env=interruptible(TMPDIR=str(scratch)),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    stopped, result = done.stdout.split()
    assert done.stderr == "" and int(stopped) > 48 and result == "1"
    for left in scratch.iterdir():
        os.utime(left, (0, 0))
    code = f"from vespe import Project; print(Project({str(project)!r}).execute_tool('one').result)"
    swept = subprocess.run(
        [sys.executable, "-c", code],
        env=interruptible(TMPDIR=str(scratch)),
        capture_output=True,
        check=False,
    )
    assert swept.stdout == b"1\n" and list(scratch.iterdir()) == []


def test_the_configuration_that_is_given_decides_whatever_stands_on_disk(
    made: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    for kit in ("alpha", "beta"):
        python_tool(write_kit(tmp_path / "kits", kit) / f"tool-{kit}", "shared", "return 1")
    made.create_tool("own", type="python_script")
    given = replace(made.config, active_kits=("beta", "alpha"))
    assert resolve_tool(given, "shared").entry.scope == "beta"
    assert (
        resolve_tool(
            replace(given, tool_resolution_order=("alpha", "active_kits")), "shared"
        ).entry.scope
        == "alpha"
    )
    assert [one.name for one in list_available_tools(given)] == ["own", "shared"]
    assert (
        [one.name for one in list_available_tools(made)]
        == [one.name for one in list_available_tools(made.config)]
        == ["own"]
    )


def test_a_configuration_without_a_root_has_kits_alone_and_runs_nothing(
    made: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    python_tool(write_kit(tmp_path / "kits", "alpha") / "tool-a", "a", "return 1")
    made.create_tool("own", type="python_script")
    monkeypatch.chdir(made.root)
    given = ProjectConfig(active_kits=("alpha",))
    assert [one.name for one in list_available_tools(given)] == ["a"] and resolve_tool(
        given, "a"
    ).entry.scope == "alpha"
    with pytest.raises(ToolNotFound):
        resolve_tool(given, "own")
    with pytest.raises(UsageError, match="has no root"):
        execute_tool("a", project=given)


def test_a_registered_function_is_a_tool_of_the_project(made: Project) -> None:
    @made.register
    @tool(read_only=True)
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    made.create_tool("count", type="python_script")
    assert double(2) == 4 and made.call("double", n=21).unwrap() == 42
    assert [found.name for found in made.list_tools()] == ["count", "double"]
    assert made.get_tool("double").description == "Double a number."
    assert made.resolve_tool("double").entry.scope == "program"
    assert made.execute_tool("double", '{"n": "x"}').error is not None


def test_a_decorated_function_comes_before_the_projects_own_and_a_plain_one_runs_its_tool(
    made: Project,
) -> None:
    made.create_tool("count", type="python_script")
    plain = Project(made.root)

    @plain.register
    def count(text: str = "") -> dict[str, int]:
        return {"characters": 7, "words": 7, "lines": 7}

    assert (
        plain.call("count").unwrap()["words"] == 7 and plain.get_tool("count").directory is not None
    )
    assert [found.name for found in plain.list_tools()] == ["count"]
    own = Project(made.root)
    own.register(tool(count))
    assert own.get_tool("count").directory is None and own.call("count").unwrap()["words"] == 7


def test_a_function_under_another_name_is_known_by_that_name_alone(made: Project) -> None:
    @tool(read_only=True)
    def shout(text: str) -> str:
        return text.upper()

    made.register(shout, name="loud")
    made.register(lambda n: n + 1, name="next")
    assert made.get_tool("loud").name == "loud" and made.get_tool("loud").annotations == {
        "readOnlyHint": True
    }
    assert made.call("loud", text="x").unwrap() == "X" and made.call("next", n=1).unwrap() == 2
    assert [found.name for found in made.list_tools()] == ["loud", "next"]
    with pytest.raises(ToolNotFound):
        made.get_tool("shout")


def test_an_object_that_executes_runs_the_tool_of_its_name_and_nothing_else_is_registered(
    made: Project,
) -> None:
    class Count:
        name = "count"

        def execute(self, inputs: dict[str, str]) -> dict[str, int]:
            return {"characters": 0, "words": len(inputs), "lines": 0}

    made.create_tool("count", type="python_script")
    counted = Count()
    assert (
        made.register(counted) is counted and made.call("count", text="a b").unwrap()["words"] == 1
    )
    with pytest.raises(UsageError):
        made.register(3)
    with pytest.raises(ToolNotFound):
        made.call("cuont")


def test_an_open_project_sees_what_changes_on_disk(made: Project) -> None:
    with made as project:
        assert project.list_tools() == []
        Project(made.root).create_tool("count", type="python_script")
        assert project.call("count", text="a b").unwrap()["words"] == 2
        set_active(made.root, ["git_and_programs"], active=True)
        assert "git_log" in [found.name for found in project.list_tools()]
    assert project.call("count", text="a").ok


def test_an_open_project_asks_for_trust_at_each_call(made: Project, tmp_path: Path) -> None:
    made.create_tool("count", type="python_script")
    shutil.copytree(made.root, tmp_path / "copy")
    with Project(tmp_path / "copy") as project, pytest.raises(NotTrusted):
        project.call("count")
    with Project(tmp_path / "copy", trusted=True) as project:
        assert project.call("count").ok


def doubled(made: Project) -> None:
    @made.register
    @tool
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n


def test_a_batch_yields_an_outcome_for_each_input_in_their_order(made: Project) -> None:
    doubled(made)
    assert [
        outcome.unwrap() for outcome in made.batch("double", ({"n": n} for n in range(1000)))
    ] == [2 * n for n in range(1000)]


def test_a_batch_reads_its_inputs_as_it_goes_and_may_be_left(made: Project) -> None:
    doubled(made)
    read = []
    inputs = (read.append(n) or {"n": n} for n in itertools.count())  # type: ignore[func-returns-value]  # append gives None
    assert next(iter(made.batch("double", inputs))).result == 0 and len(read) < 10


def test_a_broken_input_of_a_batch_is_an_outcome_and_never_the_end_of_it(made: Project) -> None:
    made.create_tool("count", type="python_script")
    outcomes = list(made.batch("count", [{"text": "a b"}, {"text": 3}, {"text": "c"}], jobs=2))
    assert [outcome.ok for outcome in outcomes] == [True, False, True]


def test_a_function_of_this_process_cannot_travel_and_an_engine_has_a_name(made: Project) -> None:
    doubled(made)
    with pytest.raises(UsageError, match="there is no engine"):
        made.batch("double", [], on="spark")
    with pytest.raises(ToolNotFound):
        made.batch("duoble", [])
