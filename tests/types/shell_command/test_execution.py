"""shell_command: values stay one argument each, real programs run, and every failure is a sentence.
P14.
"""

import json
import os
import random
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.errors import (
    InvalidArguments,
    InvalidOutput,
    InvalidTool,
    OutputTooLarge,
    TimedOut,
    ToolExecutionError,
    VespeError,
)
from vespe.models import Execution, Implementation, JsonObject, Tool
from vespe.processes import process
from vespe.tool_types import Context
from vespe.types.shell_command.execution import ShellCommand

PYTHON = f"#!{sys.executable} -ISB\nimport json, os, sys\n"
ECHO = PYTHON + "json.dump([os.fsencode(a).hex() for a in sys.argv[1:]], sys.stdout)\n"
SHOW = (
    PYTHON + "print(json.dumps({'cwd': os.getcwd(), 'stdin': sys.stdin.read(), 'env': "
    "dict(os.environ)}))\n"
)


def shell_tool(
    directory: Path | None = None, *names: str, script: str | None = None, **implementation: Any
) -> Tool:
    """Give a tool over `args`, with inputs of any type called `names`; `script` becomes its own
    executable.
    """
    fields = {
        key: implementation.pop(key) for key in ("path", "entrypoint") if key in implementation
    }
    if script is not None and directory is not None:
        program = directory / "program"
        program.write_text(script, encoding="utf-8")
        program.chmod(0o755)
        fields["path"] = "program"
    return Tool(
        uid="tool-x",
        name="x",
        description="A tool.",
        input_schema={"type": "object", "properties": {name: {} for name in names}},
        implementation=Implementation(type="shell_command", args=implementation, **fields),
        directory=str(directory) if directory else None,
    )


def context(directory: Path | str = "/", *, project: Path | str = "/", **options: Any) -> Context:
    secrets = options.pop("secrets", {})
    environment = process.child_environment(os.environ, secrets)
    return Context(
        project_root=str(project),
        directory=str(directory),
        environment=environment,
        secrets=secrets,
        **{"timeout_s": 20.0, **options},
    )


def planned(argv: list[Any], inputs: JsonObject) -> list[str]:
    """Give the elements after the program, with every letter's input known."""
    tool = shell_tool(None, *"abcde", entrypoint="true", argv=argv)
    elements: list[str] = ShellCommand().plan(tool, inputs, context())["argv"]
    return elements[1:]


def run(tool: Tool, inputs: JsonObject | None = None, **options: Any) -> Execution:
    return ShellCommand().execute(tool, inputs or {}, context(tool.directory or "/", **options))


def sh(program: str, **args: Any) -> Tool:
    """Give a tool that runs a fixed text with sh."""
    return shell_tool(None, entrypoint="sh", argv=["-c", program], **args)


@pytest.mark.parametrize(
    ("argv", "inputs", "elements"),
    [
        (["fixed", "{a}"], {"a": "x y"}, ["fixed", "x y"]),
        (["{a}"], {"a": ""}, [""]),
        (["--count={a}"], {"a": 3}, ["--count=3"]),
        (["--count={a}"], {"a": -3}, ["--count=-3"]),
        (["--name={a}"], {"a": "--rf"}, ["--name=--rf"]),
        (["-n{a}"], {"a": "-5"}, ["-n-5"]),
        (["{a}", "{b}"], {"a": 1}, ["1"]),
        (["{a}"], {"a": None}, ["null"]),
        (["{a}"], {"a": {"k": [True]}}, ['{"k":[true]}']),
        (["{a}"], {"a": ["x", "y z", 3, None, ["-deep"]]}, ["x", "y z", "3", "null", '["-deep"]']),
        (["{a}", "end"], {"a": []}, ["end"]),
        (["--list={a}"], {"a": ["x", "y"]}, ['--list=["x","y"]']),
        ([["--count", "{a}"], "x"], {}, ["x"]),
        ([["--count", "{a}"], "x"], {"a": 2}, ["--count", "2", "x"]),
        ([["{a}", "{b}"]], {"a": 1}, []),
        ([["--files", "{a}"], "x"], {"a": []}, ["x"]),
        ([["--files", "{a}"]], {"a": ["p", "q"]}, ["--files", "p", "q"]),
        ([["-a", ["-b", "{b}"], "{a}"]], {"a": 1}, ["-a", "1"]),
        ([["-a", ["-b", "{b}"], "{a}"]], {"b": 1}, []),
        ([["-a", ["-b", "{b}"], "{a}"]], {"a": 1, "b": 2}, ["-a", "-b", "2", "1"]),
        (["--", "{a}"], {"a": "-rf"}, ["--", "-rf"]),
        (["--", "x", "{a}", "{b}"], {"a": ["-1", "--2"], "b": "-"}, ["--", "x", "-1", "--2", "-"]),
        ([["--", "{a}"]], {"a": "-rf"}, ["--", "-rf"]),
        (["{unknown}", "{print $1}", "{}"], {}, ["{unknown}", "{print $1}", "{}"]),
        (["-{a}"], {"a": "5"}, ["-5"]),
        (["-{a}"], {"a": ""}, ["-"]),
        (["--{a}"], {"a": "-x"}, ["---x"]),
        (["{a}"], {"a": "{b}", "b": "no"}, ["{b}"]),
        (["${env:TOKEN}", "--key=${env:TOKEN}"], {}, ["${env:TOKEN}", "--key=${env:TOKEN}"]),
        (
            ["{a}"],
            {"a": "−5 with a minus sign that is not a dash"},
            ["−5 with a minus sign that is not a dash"],
        ),
    ],
)
def test_p14_each_template_is_one_argument_lists_are_several_and_groups_are_optional(
    argv: list[Any], inputs: JsonObject, elements: list[str]
) -> None:
    assert planned(argv, inputs) == elements


@pytest.mark.parametrize(
    ("argv", "inputs", "pointer"),
    [
        (["{a}"], {"a": "-rf"}, "/a"),
        (["{a}"], {"a": "-"}, "/a"),
        (["{a}"], {"a": "--"}, "/a"),
        (["{a}"], {"a": "--checkpoint-action=exec=sh -c id"}, "/a"),
        (["-n", "{a}"], {"a": -5}, "/a"),
        ([["-n", "{a}"]], {"a": "-5"}, "/a"),
        (["{a}"], {"a": ["ok", "-x"]}, "/a/1"),
        (["{a}"], {"a": [1, -1]}, "/a/1"),
        (["{a}{b}"], {"a": "-x", "b": "y"}, "/a"),
        (["{a}{b}"], {"a": "", "b": "-y"}, "/b"),
        (["{a}-old"], {"a": ""}, "/a"),
        (["-{a}"], {"a": "-output=x"}, "/a"),
        (["{a}", "--", "{b}"], {"a": "-x", "b": "-y"}, "/a"),
        ([["--", "{a}"], "{b}"], {"b": "-x"}, "/b"),
        (["x", "--{a}", "{b}"], {"a": "", "b": "-y"}, "/b"),
        (["{a}"], {"a": "a\0b"}, "/a"),
        (["--x={a}{b}"], {"a": "a", "b": ["\0"][0]}, "/b"),
        (["--", "{a}"], {"a": "\ud800"}, "/a"),
        (["{a}"], {"a": ["x", "\udcff"]}, "/a/1"),
        (["{a}"], {"a": {"k": "\udfff"}}, "/a"),
        (["--x={a}{b}"], {"a": "a" * 10, "b": "é" * 65_536}, "/b"),
        (["{a}"], {"a": "a" * (128 * 1024)}, "/a"),
    ],
)
def test_p14_a_value_that_fits_no_argument_is_refused_by_name_before_anything_starts(
    argv: list[Any], inputs: JsonObject, pointer: str
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        planned(argv, inputs)
    assert [violation["pointer"] for violation in caught.value.violations] == [pointer]
    assert f"the input {pointer[1]!r}" in str(caught.value) and len(str(caught.value)) < 250


def test_a_refused_dash_says_how_the_author_can_let_it_through() -> None:
    with pytest.raises(InvalidArguments) as caught:
        planned(["-n", "{c}"], {"c": -5})
    assert "'-5'" in str(caught.value)
    assert '"--c={c}"' in caught.value.hint and 'after "--"' in caught.value.hint


NASTY = [
    "",
    " ",
    "a b",
    "'",
    '"',
    "`id`",
    "$(id)",
    "${HOME}",
    "$HOME",
    "; rm -rf /",
    "| cat",
    "&& id",
    "a\nb",
    "\n",
    "\t",
    "\r\n",
    "*",
    "?",
    "~",
    "[a-z]",
    "{a}",
    "{{a}}",
    "${env:TOKEN}",
    "\\",
    "\\n",
    "%s%n",
    "!!",
    "#",
    "é",
    "日本語",
    "🙂",
    "e\u0301",
    "\u202e",
    "\x1b[2J",
    "\x7f",
    "\ufeff",
    "-rf",
    "--",
    "-",
    "--checkpoint-action=exec=sh",
    "a=b",
    "=",
    "@file",
    "/etc/passwd",
    "../..",
    "\uffff",
    "\U0010ffff",
    "a" * 100_000,
]


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """A tool that gives its argv back, in hex so that no output encoding stands between."""
    return shell_tool(
        tmp_path_factory.mktemp("echo"), "a", script=ECHO, argv=["--", "{a}"], output="json"
    )


def echoed(echo: Tool, values: list[str]) -> list[str]:
    return [bytes.fromhex(element).decode("utf-8") for element in run(echo, {"a": values}).result]


def test_p14_nasty_values_arrive_as_they_were_sent(echo: Tool) -> None:
    assert echoed(echo, NASTY) == ["--", *NASTY]


ARGUMENT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=50)


@settings(max_examples=20, deadline=None)
@given(st.lists(ARGUMENT, min_size=1, max_size=1000))
def test_p14_any_text_arrives_element_for_element(echo: Tool, values: list[str]) -> None:
    assert echoed(echo, values) == ["--", *values]


def test_p14_many_texts_of_what_shells_read_arrive_element_for_element(echo: Tool) -> None:
    chosen = random.Random(14)
    values = [
        "".join(chosen.choices("-'\"`$(){};&|<>*?\\ \n\t=é🙂\x01", k=chosen.randrange(20)))
        for _ in range(20_000)
    ]
    assert echoed(echo, values) == ["--", *values]


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_p14_a_value_is_planned_whole_or_refused(value: str) -> None:
    try:
        assert planned(["--x={a}", "{a}", "end"], {"a": value}) == [f"--x={value}", value, "end"]
    except InvalidArguments:
        assert (
            value.startswith("-") or "\0" in value or any("\ud800" <= c <= "\udfff" for c in value)
        )


def test_p14_a_tar_tool_cannot_be_made_to_run_a_program(tmp_path: Path) -> None:
    tool = shell_tool(None, "a", entrypoint="tar", argv=["-cf", "out.tar", "{a}"])
    (tmp_path / "file").write_text("x", encoding="utf-8")
    attack = ["--checkpoint=1", "--checkpoint-action=exec=touch owned", "file"]
    with pytest.raises(InvalidArguments, match="--checkpoint=1"):
        ShellCommand().execute(tool, {"a": attack}, context(project=tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


def test_p14_more_arguments_than_the_system_takes_are_refused_with_a_sentence(echo: Tool) -> None:
    with pytest.raises(InvalidArguments, match="longer than the operating system takes"):
        run(echo, {"a": ["a" * 130_000] * 60})
    with pytest.raises(InvalidArguments, match="longer than the operating system takes"):
        run(shell_tool(None, entrypoint="true", argv=["fixed" * 500_000]))


def test_the_longest_argument_that_the_system_takes_passes(echo: Tool) -> None:
    assert len(echoed(echo, ["é" * 65_535])[1]) == 65_535


def test_a_tool_starts_in_the_project_unless_it_says_tool(tmp_path: Path) -> None:
    own, project = tmp_path / "own", tmp_path / "project"
    own.mkdir()
    project.mkdir()
    for cwd, expected in (({}, project), ({"cwd": "project"}, project), ({"cwd": "tool"}, own)):
        tool = shell_tool(own, script=SHOW, output="json", **cwd)
        assert run(tool, project=project).result["cwd"] == str(expected)
        assert ShellCommand().plan(tool, {}, context(own, project=project))["cwd"] == str(expected)


@pytest.mark.parametrize(
    ("stdin", "inputs", "fed"),
    [
        (None, {"a": "x"}, ""),
        ("json", {"a": "é\n", "b": [1]}, '{"a":"é\\n","b":[1]}\n'),
        ("<{a}>", {"a": "x\0\n-"}, "<x\0\n->"),
        ("{a}", {"b": 1}, ""),
        ("fixed", {}, "fixed"),
        ("{a}", {"a": ["x", 1]}, '["x",1]'),
        ("key=${env:TOKEN}", {}, "key=t0ken"),
    ],
)
def test_stdin_is_the_inputs_as_json_or_a_template_or_empty(
    tmp_path: Path, stdin: str | None, inputs: JsonObject, fed: str
) -> None:
    tool = shell_tool(
        tmp_path,
        "a",
        "b",
        script=SHOW,
        output="json",
        **({} if stdin is None else {"stdin": stdin}),
    )
    assert run(tool, inputs, secrets={"TOKEN": "t0ken"}).result["stdin"] == fed


def test_a_lone_surrogate_for_stdin_is_refused_by_name() -> None:
    tool = shell_tool(None, "a", entrypoint="cat", stdin="{a}")
    with pytest.raises(InvalidArguments, match="the input 'a' contains a lone surrogate"):
        run(tool, {"a": "\ud800"})


def test_a_secret_of_odd_bytes_reaches_stdin_as_it_is() -> None:
    tool = shell_tool(None, entrypoint="od", argv=["-An", "-tx1"], stdin="${env:TOKEN}")
    assert run(tool, secrets={"TOKEN": "a\udcff"}).result.split() == ["61", "ff"]


def test_secrets_reach_argv_and_a_plan_names_them_only(tmp_path: Path) -> None:
    tool = shell_tool(
        tmp_path,
        "a",
        script=ECHO,
        argv=["--key=${env:TOKEN}", "{a}"],
        stdin="${env:TOKEN}",
        output="json",
    )
    plan = ShellCommand().plan(
        tool, {"a": "${env:TOKEN}"}, context(tmp_path, secrets={"TOKEN": "t0ken"})
    )
    assert plan["argv"][1:] == ["--key=${env:TOKEN}", "${env:TOKEN}"] and "t0ken" not in json.dumps(
        plan
    )
    made = run(tool, {"a": "${env:TOKEN}"}, secrets={"TOKEN": "t0ken"}).result
    assert [bytes.fromhex(e).decode() for e in made] == ["--key=t0ken", "${env:TOKEN}"]


def test_a_secret_first_does_not_let_a_value_become_an_option() -> None:
    tool = shell_tool(None, "a", entrypoint="echo", argv=["${env:S}{a}"])
    assert run(tool, {"a": "-x"}, secrets={"S": "s"}).result == "s-x\n"
    assert run(tool, {"a": "x"}, secrets={"S": "-s"}).result == "-sx\n"
    with pytest.raises(InvalidArguments):
        run(tool, {"a": "-x"}, secrets={"S": "-"})


def test_a_plan_says_all_that_would_run(tmp_path: Path) -> None:
    tool = shell_tool(
        tmp_path, "a", script=ECHO, argv=["{a}"], stdin="json", output="lines", success_codes=[0, 1]
    )
    assert ShellCommand().plan(tool, {"a": "x"}, context(tmp_path, project="/p")) == {
        "argv": [str(tmp_path / "program"), "x"],
        "cwd": "/p",
        "stdin": '{"a":"x"}\n',
        "output": "lines",
        "success_codes": [0, 1],
    }
    bare = ShellCommand().plan(shell_tool(None, entrypoint="true"), {}, context())
    assert bare == {
        "argv": ["true"],
        "cwd": "/",
        "stdin": None,
        "output": "text",
        "success_codes": [0],
    }


@pytest.mark.parametrize(
    ("printed", "output", "result"),
    [
        ("a\\n\\n", "text", "a\n\n"),
        ("", "text", ""),
        ("a\\nb\\r\\n\\nc", "lines", ["a", "b", "", "c"]),
        ("a\\n", "lines", ["a"]),
        ("", "lines", []),
        ("\\n", "lines", [""]),
        ("a\\342\\200\\250b\\fc", "lines", ["a\u2028b\x0cc"]),
        (' {\\"a\\": [1, null]} \\n', "json", {"a": [1, None]}),
    ],
)
def test_output_is_text_as_it_is_or_lines_or_json(printed: str, output: str, result: Any) -> None:
    made = run(sh(f'printf "{printed}"', output=output))
    assert (made.result, made.notes, made.logs) == (result, (), "")


def test_output_that_is_no_utf8_is_repaired_with_a_note() -> None:
    for output, result in (("text", "a\ufffdb"), ("lines", ["a\ufffdb"])):
        made = run(sh("printf 'a\\377b'", output=output))
        assert made.result == result
        assert "not UTF-8 (byte 0xff at 1)" in made.notes[0]


@pytest.mark.parametrize(
    ("printed", "says", "line"),
    [
        ("{", "is not JSON", 1),
        ("[1,\\n2,]", "(line 2", 2),
        ("NaN", "NaN", 1),
        ("1 2", "Extra data", 1),
        ('{"a":1,"a":2}', "twice", 1),
        ("", "printed nothing", 1),
        ("  \\n", "printed nothing", 2),
        ("\\377", "not UTF-8", 1),
        ('["\\\\ud800"]', "at /0", 0),
        ("[" * 100 + "]" * 100, "deeper than 64", 1),
    ],
)
def test_p23_output_that_is_not_strict_json_is_invalid_with_its_place(
    printed: str, says: str, line: int
) -> None:
    with pytest.raises(InvalidOutput) as caught:
        run(sh(f"printf '{printed}'", output="json"))
    assert says in str(caught.value)
    assert caught.value.details["line"] == line and "stdout" in caught.value.details
    assert not caught.value.retryable and "stderr" in caught.value.hint


def test_what_a_success_writes_to_stderr_is_its_log() -> None:
    made = run(sh("echo result; echo careful >&2; printf '\\377' >&2"))
    assert (made.result, made.logs) == ("result\n", "careful\n\ufffd")


def test_a_long_log_begins_at_a_whole_line_and_says_what_is_missing() -> None:
    made = run(sh("i=0; while [ $i -lt 9000 ]; do echo line-$i-0123456789 >&2; i=$((i+1)); done"))
    first, second, *_ = made.logs.splitlines()
    assert first.startswith("[… cut by vespe: the first ") and second.startswith("line-")
    assert made.logs.endswith("line-8999-0123456789\n")


def test_a_long_log_of_one_line_keeps_its_tail() -> None:
    made = run(sh("head -c 200000 /dev/zero | tr '\\0' x >&2"))
    assert "cut by vespe" in made.logs and made.logs.endswith("xxx")


def test_an_exit_status_that_is_no_success_is_an_error_with_the_last_lines() -> None:
    with pytest.raises(ToolExecutionError) as caught:
        run(sh("echo partial; i=0; while [ $i -lt 30 ]; do echo e$i >&2; i=$((i+1)); done; exit 3"))
    error = caught.value
    assert str(error).startswith("sh failed with exit status 3: e20\n") and str(error).endswith(
        "\ne29"
    )
    assert (error.details["exit_code"], error.details["stdout"], error.code) == (
        3,
        "partial\n",
        "tool_error",
    )
    assert error.details["stderr"].startswith("e0\n") and "signal" not in error.details


def test_a_failure_without_stderr_quotes_stdout_and_a_silent_one_only_its_status() -> None:
    with pytest.raises(ToolExecutionError, match=r"^sh failed with exit status 1: bad input$"):
        run(sh("echo bad input; exit 1"))
    with pytest.raises(ToolExecutionError, match=r"^sh failed with exit status 9$"):
        run(sh("exit 9"))


def test_declared_success_codes_succeed_and_others_fail_zero_too() -> None:
    assert run(sh("echo none; exit 1", success_codes=[0, 1])).result == "none\n"
    with pytest.raises(ToolExecutionError, match="exit status 0"):
        run(sh("exit 0", success_codes=[1]))


def test_a_program_that_a_signal_ended_is_an_error_with_the_signal() -> None:
    with pytest.raises(ToolExecutionError, match="sh was ended by signal 9") as caught:
        run(sh("kill -9 $$"))
    assert (caught.value.details["exit_code"], caught.value.details["signal"]) == (None, 9)


def test_p36_a_failure_is_redacted_before_it_is_cut() -> None:
    secret = "s3cret-" + "x" * 5000
    with pytest.raises(ToolExecutionError) as caught:
        run(
            sh('printf "%s" "$TOKEN$(head -c 7000 /dev/zero | tr "\\0" y)"; exit 1'),
            secrets={"TOKEN": secret},
        )
    assert caught.value.details["stdout"] == "***" + "y" * 7000
    with pytest.raises(InvalidOutput) as invalid:
        run(
            sh('printf "%s" "$TOKEN$(head -c 7000 /dev/zero | tr "\\0" y)"', output="json"),
            secrets={"TOKEN": secret},
        )
    assert "xxx" not in json.dumps(invalid.value.details)


def test_the_streams_of_a_failure_are_bounded_and_say_so() -> None:
    with pytest.raises(ToolExecutionError) as caught:
        run(sh("head -c 100000 /dev/zero | tr '\\0' x; echo end; exit 1"))
    shown = caught.value.details["stdout"]
    assert (
        shown.startswith("[… cut by vespe: ")
        and shown.endswith("xend\n")
        and len(shown) < 9000
        and len(str(caught.value)) < 1100
    )


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (
            {"entrypoint": "no-such-program-anywhere"},
            "there is no program called 'no-such-program-anywhere' on PATH",
        ),
        ({"entrypoint": "/bin/sh"}, "without slashes, not '/bin/sh'"),
        ({"entrypoint": "./x"}, "without slashes"),
        ({"entrypoint": ".."}, "without slashes"),
        ({"entrypoint": ""}, "needs `path`"),
        ({}, "needs `path`"),
        ({"path": "absent"}, "is not a file in the tool's directory"),
        ({"path": "folder"}, "is not a file in the tool's directory"),
        ({"path": "../outside"}, "leaves the tool's directory"),
        ({"path": "/bin/sh"}, "leaves the tool's directory"),
        ({"path": "link"}, "leaves the tool's directory"),
        ({"path": "a\0b"}, "leaves the tool's directory"),
        ({"path": "plain"}, "plain is not executable; `chmod +x plain` makes it so"),
        ({"path": "lost"}, "interpreter"),
        ({"path": "words"}, "neither a machine's format nor a #! line"),
    ],
)
def test_a_program_that_cannot_run_is_a_sentence(
    tmp_path: Path, fields: dict[str, str], says: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text(ECHO, encoding="utf-8")
    (tmp_path / "link").symlink_to("/bin/sh")
    for name, text in (("lost", "#!/nowhere/sh\n"), ("words", "just words\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(VespeError) as caught:
        run(shell_tool(tmp_path, **fields))
    assert says in str(caught.value)
    assert (
        isinstance(caught.value, (InvalidTool, ToolExecutionError)) and not caught.value.retryable
    )


def test_p16_a_relative_directory_of_path_is_not_searched(tmp_path: Path) -> None:
    program = tmp_path / "planted"
    program.write_text("#!/bin/sh\necho planted\n", encoding="utf-8")
    program.chmod(0o755)
    tool = shell_tool(None, entrypoint="planted")
    where = Context(
        project_root=str(tmp_path),
        directory="/",
        environment={"PATH": ".::/usr/bin"},
        timeout_s=20.0,
    )
    with pytest.raises(ToolExecutionError, match="no program called 'planted'"):
        ShellCommand().execute(tool, {}, where)


@pytest.mark.parametrize(
    ("args", "key"),
    [
        ({"argv": "text"}, "argv"),
        ({"argv": [1]}, "argv"),
        ({"argv": [["a", {}]]}, "argv"),
        ({"argv": ["a\0b"]}, "argv"),
        ({"stdin": 3}, "stdin"),
        ({"cwd": "home"}, "cwd"),
        ({"output": "xml"}, "output"),
        ({"success_codes": 0}, "success_codes"),
        ({"success_codes": [True]}, "success_codes"),
        ({"success_codes": ["0"]}, "success_codes"),
    ],
)
def test_arguments_of_a_wrong_type_make_the_tool_invalid_by_key(args: JsonObject, key: str) -> None:
    with pytest.raises(InvalidTool, match=rf"`args\.{key}` must be"):
        run(shell_tool(None, entrypoint="true", **args))


def test_every_wrong_key_is_named_at_once() -> None:
    with pytest.raises(InvalidTool) as caught:
        run(shell_tool(None, entrypoint="true", argv=1, cwd=2, output=3))
    assert len(caught.value.problems) == 3


def test_a_tool_without_an_implementation_is_invalid() -> None:
    bare = Tool(uid="tool-x", name="x", description="", input_schema={})
    with pytest.raises(InvalidTool, match="implementation_details"):
        run(bare)


def test_p33_the_child_sees_the_environment_of_the_call_and_nothing_else(tmp_path: Path) -> None:
    tool = shell_tool(tmp_path, script=SHOW, output="json")
    where = Context(
        project_root="/",
        directory=str(tmp_path),
        environment={"PATH": "/usr/bin:/bin", "ONLY": "this"},
        timeout_s=20.0,
    )
    seen = ShellCommand().execute(tool, {}, where).result["env"]
    assert {
        key: value
        for key, value in seen.items()
        if key not in ("LC_CTYPE", "__CF_USER_TEXT_ENCODING")
    } == {
        "PATH": "/usr/bin:/bin",
        "ONLY": "this",
        "VESPE_ASK_FD": "4,4",  # the one descriptor that it is given
    }


def test_p27_a_program_past_its_deadline_is_ended() -> None:
    with pytest.raises(TimedOut, match=r"sleep did not finish within 0\.3 s"):
        run(shell_tool(None, entrypoint="sleep", argv=["60"]), timeout_s=0.3)


def test_a_cancelled_call_is_ended() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(VespeError, match="cancelled"):
        run(shell_tool(None, entrypoint="sleep", argv=["60"]), cancel=stop)


def test_p29_a_program_that_floods_is_ended() -> None:
    with pytest.raises(OutputTooLarge, match="yes wrote more than"):
        run(shell_tool(None, entrypoint="yes"))


def test_inputs_of_combined_schemas_are_slots(tmp_path: Path) -> None:
    implementation = Implementation(type="shell_command", entrypoint="echo", args={"argv": ["{q}"]})
    schema = {
        "type": "object",
        "$ref": "#/$defs/args",
        "$defs": {"args": {"properties": {"q": {"type": "string"}}}},
    }
    tool = Tool(
        uid="tool-x", name="x", description="", input_schema=schema, implementation=implementation
    )
    assert run(tool, {"q": "found"}).result == "found\n"


def test_no_shell_reads_a_value_even_where_the_program_is_one() -> None:
    assert shutil.which("sh")
    tool = shell_tool(None, "a", entrypoint="sh", argv=["-c", 'printf %s "$1"', "sh", "{a}"])
    assert run(tool, {"a": '"; echo owned; "$(id)'}).result == '"; echo owned; "$(id)'
