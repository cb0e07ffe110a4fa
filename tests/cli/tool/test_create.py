"""`vespe tool create`."""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.terminal import plain, vespe_on_a_terminal

Command = Callable[..., Any]
SOURCE = '''
def calc(a: float, b: float = 1.0) -> float:
    """Multiply.

    Args:
        a: the left operand
    """
    return a * b
'''


@pytest.mark.parametrize("kind", ["python_script", "shell_command"])
def test_a_template_runs_at_once_without_arguments(command: Command, kind: str) -> None:
    made = command("tool", "create", "made", "--type", kind, "--json").document
    assert made.keys() == {"uid", "name", "path"} and made["uid"].startswith("tool-")
    assert command("tool", "run", "made").code == 0


def test_an_http_template_asks_a_public_api_and_needs_no_argument(command: Command) -> None:
    command("tool", "create", "made", "--type", "http_request", "--description", "Fetch a rate.")
    document = command("tool", "show", "made", "--json").document
    assert (
        "example" not in document["implementation_details"]["path"]
        and document["description"] == "Fetch a rate."
    )
    assert command("tool", "run", "made", "--dry-run").code == 0


def test_an_http_tool_with_a_key_is_one_command(command: Command) -> None:
    url, args = (
        "https://shop.example.com/items/{id}",
        '{"headers": {"Authorization": "Bearer ${env:SHOP_KEY}"}}',
    )
    said = command(
        "tool", "create", "item", "--url", url, "--method", "DELETE", "--args", args, "--json"
    )
    assert said.code == 0 and "vespe: declared the secret SHOP_KEY" in said.err
    document = command("tool", "show", "item", "--json").document
    assert (
        document["secrets"] == ["SHOP_KEY"]
        and document["implementation_details"]["entrypoint"] == "DELETE"
    )


def test_a_command_line_in_place_of_a_program_is_refused_with_what_to_write(
    command: Command, project: Path
) -> None:
    create = ("tool", "create", "lines", "--type", "shell_command")
    said = command(*create, "--entrypoint", "wc -l {path}", "--args", '{"output": "lines"}')
    assert said.code == 2 and "only the name of a program" in said.err
    _, hint, _ = said.err.split("`")
    assert command(*create, *shlex.split(hint)).code == 0
    (project / "two.txt").write_text("1\n2\n", encoding="utf-8")
    counted = command("tool", "run", "lines", "path=two.txt", "--json").document
    assert counted["result"][0].split() == ["2", "two.txt"]


def test_a_program_that_is_not_here_can_be_named_and_is_told(command: Command) -> None:
    create = ("tool", "create", "later", "--type", "shell_command", "--entrypoint")
    said = command(*create, "a-program-to-come")
    assert said.code == 0 and "'a-program-to-come' on PATH here: install it first" in said.err


def test_a_program_whose_name_has_a_space_is_no_command_line(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "two words").write_text("#!/bin/sh\necho ran\n", encoding="utf-8")
    (tmp_path / "two words").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    create = ("tool", "create", "spaced", "--type", "shell_command", "--entrypoint")
    assert command(*create, "two words").code == 0
    assert command("tool", "run", "spaced").out == "ran\n"


def test_every_key_of_a_config_can_be_set(command: Command) -> None:
    given = [
        "--secret",
        "A",
        "--read-only",
        "--not-open-world",
        "--timeout",
        "5",
        "--tag",
        "x",
        "--tag",
        "y",
        "--example",
        '{"text": "a b"}',
    ]
    command(
        "tool",
        "create",
        "made",
        "--type",
        "python_script",
        *given,
        "--set",
        "limits.max_output_bytes=9",
        "--set",
        'version="1.2"',
    )
    document = command("tool", "show", "made", "--json").document
    assert document["annotations"] == {"readOnlyHint": True, "openWorldHint": False} and document[
        "tags"
    ] == ["x", "y"]
    assert (
        document["limits"] == {"timeout_s": 5, "max_output_bytes": 9}
        and document["version"] == "1.2"
    )
    assert document["secrets"] == ["A"] and document["examples"] == [{"input": {"text": "a b"}}]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--set", "limits"), "not KEY=JSON"),
        (("--set", "version=a"), "not JSON"),
        (("--set", "limit.a=1"), "did you mean limits?"),
        (("--url", "https://a.org", "--path", "x"), "mean the same"),
        (("--type", "python"), "did you mean python_script?"),
    ],
)
def test_what_cannot_be_set_is_said(command: Command, more: tuple[str, ...], says: str) -> None:
    kind = () if "--type" in more or "--url" in more else ("--type", "python_script")
    said = command("tool", "create", "made", *kind, *more)
    assert said.code == 2 and says in said.err


def test_a_tool_without_an_implementation_is_made_from_its_schema(command: Command) -> None:
    for name, kind in (("one", ()), ("two", ("--type", "in_process"))):
        said = command(
            "tool",
            "create",
            name,
            *kind,
            "--schema",
            '{"type": "object", "properties": {"n": {"type": "integer"}}}',
        )
        assert said.code == 0
        assert "implementation_details" not in command("tool", "show", name, "--json").document


def test_directories_are_readable_and_no_two_tools_share_one(
    command: Command, project: Path
) -> None:
    uids = [
        command("tool", "create", name, "--type", "shell_command", "--json").document["uid"]
        for name in ("greet", "Greet", "_")
    ]
    assert uids == ["tool-greet", "tool-greet-2", "tool-unnamed"]
    assert (project / ".vespe/tools/tool-greet/config.json").is_file()


def test_what_comes_next_in_a_kit_that_no_project_finds_are_two_commands_that_work(
    command: Command, project: Path
) -> None:
    command("kit", "create", "text_tools", "--in", str(project))
    made = ("tool", "create", "upper", "--type", "python_script", "--kit", "./text_tools")
    said = " ".join(plain(vespe_on_a_terminal(*made, cwd=project)).split())
    assert "`vespe kit link ./text_tools`, then `vespe kit activate text_tools`" in said
    refused = command("kit", "activate", "kit_of_nobody")
    assert refused.code == 3 and "found after `vespe kit link DIR`" in refused.err
    assert command("kit", "link", str(project / "text_tools")).code == 0
    assert command("kit", "activate", "text_tools").code == 0
    assert command("tool", "run", "upper", "--help").code == 0


def test_what_comes_next_in_a_kit_that_is_not_active_is_its_activation(
    command: Command, project: Path
) -> None:
    command("kit", "create", "mine")
    made = ("tool", "create", "--type", "python_script", "--kit", "mine")
    said = plain(vespe_on_a_terminal(*made, "first", cwd=project))
    assert "`vespe kit activate mine`" in said and "kit link" not in said
    assert command("kit", "activate", "mine").code == 0
    assert "`vespe tool run second --help`" in plain(
        vespe_on_a_terminal(*made, "second", cwd=project)
    )
    assert command("tool", "run", "second", "--help").code == 0


def test_a_second_tool_comes_into_a_kit(command: Command, project: Path) -> None:
    command("kit", "create", "mine", "--in", ".")
    said = command("tool", "create", "second", "--type", "python_script", "--kit", "mine", "--json")
    assert (
        said.code == 0
        and Path(said.document["path"]) == (project / "mine" / "tool-second").resolve()
    )
    assert command("tool", "create", "second", "--type", "python_script", "--kit", "mine").code == 2
    beyond = command("tool", "create", "third", "--type", "shell_command", "--kit", "mine")
    assert beyond.code == 4 and "allow_types" in beyond.err
    assert command("tool", "create", "third", "--type", "python_script", "--kit", ".").code == 2


def test_a_function_becomes_a_tool_with_its_types_and_words(
    command: Command, project: Path
) -> None:
    (project / "calc.py").write_text(SOURCE, encoding="utf-8")
    assert command("tool", "create", "calc", "--from", "calc.py:calc").code == 0
    shown = command("tool", "show", "calc", "--json").document
    assert shown["description"] == "Multiply."
    assert shown["schema"]["input"]["properties"]["a"]["description"] == "the left operand"
    assert command("tool", "run", "calc", "a=6", "b=7").out == "42\n"


def test_a_name_that_is_taken_is_a_usage_error(command: Command) -> None:
    command("tool", "create", "made", "--type", "python_script")
    said = command("tool", "create", "made", "--type", "shell_command", "--json")
    assert said.code == 2 and "already" in said.document["error"]["message"]


@pytest.mark.parametrize(
    "arguments",
    [(), ("--type", "python_script", "--from", "a.py:a"), ("--from", "a.py:a", "--path", "b.py")],
)
def test_type_and_from_exclude_each_other(command: Command, arguments: tuple[str, ...]) -> None:
    assert command("tool", "create", "made", *arguments).code == 2


@pytest.mark.parametrize("args", ["[1]", "{", '{"a": NaN}'])
def test_fixed_arguments_must_be_one_json_object(command: Command, args: str) -> None:
    assert command("tool", "create", "made", "--type", "shell_command", "--args", args).code == 2


def test_a_schema_may_be_json_or_a_file(command: Command, project: Path) -> None:
    (project / "schema.json").write_text(
        '{"type": "object", "properties": {"n": {"type": "integer"}}}', encoding="utf-8"
    )
    for number, schema in enumerate(
        ("schema.json", '{"type": "object", "properties": {"n": {"type": "integer"}}}')
    ):
        command("tool", "create", f"made{number}", "--type", "python_script", "--schema", schema)
        assert command("tool", "run", f"made{number}", "n=x").code == 5
        assert command("tool", "run", f"made{number}", "n=1").code == 0


def test_p47_without_room_for_trust_no_tool_is_made_and_a_retry_makes_one_that_runs(
    command: Command, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "clone/.vespe").mkdir(parents=True)
    (home / "state").rename(home / "aside")
    (home / "state").write_text("", encoding="utf-8")
    create = (
        "tool",
        "create",
        "mine",
        "--type",
        "python_script",
        "--project",
        str(tmp_path / "clone"),
    )
    said = command(*create)
    assert (
        said.code == 1
        and "cannot make" in said.err
        and list((tmp_path / "clone/.vespe/tools").iterdir()) == []
    )
    (home / "state").unlink()
    assert command(*create).code == 0
    assert command("tool", "run", "mine", "--project", str(tmp_path / "clone")).code == 0


def test_a_kit_of_ones_own_takes_a_tool_by_its_id_and_a_shipped_one_does_not(
    command: Command, project: Path
) -> None:
    made = command("kit", "create", "mine", "--json").document
    assert command("tool", "create", "second", "--type", "python_script", "--kit", "mine").code == 0
    assert Path(made["path"], "tool-second").is_dir()
    assert (
        command(
            "tool", "create", "second", "--type", "python_script", "--kit", "file_io_without_git"
        ).code
        == 2
    )


def test_where_a_python_tool_runs_can_be_set(command: Command, project: Path) -> None:
    for name, said in (("a", "environment"), ("b", "implementation_details.environment")):
        made = command(
            "tool",
            "create",
            name,
            "--type",
            "python_script",
            "--set",
            f'{said}="project"',
            "--json",
        )
        config = json.loads((Path(made.document["path"]) / "config.json").read_text("utf-8"))
        assert config["implementation_details"]["environment"] == "project"
        assert "environment" not in config
    for words in (
        ("--type", "shell_command", "--set", 'environment="project"'),
        ("--type", "python_script", "--set", 'implementation_details.path="x.py"'),
        ("--type", "python_script", "--set", "implementation_details=1"),
    ):
        assert command("tool", "create", "c", *words).code == 2


def test_what_could_not_be_made_is_not_looked_for_among_the_tools(command: Command) -> None:
    said = command("tool", "create", "x", "--url", "ftp://x")
    assert said.code == 4 and "nothing was made" in said.err and "tool list" not in said.err
    assert "--from calc.py:calc" in command("tool", "create", "x").err


@pytest.mark.parametrize(("name", "such"), [("my tool", "my_tool"), ("gr\xfcn-2", "gr_n-2")])
def test_a_name_that_no_tool_can_have_is_answered_with_one_that_it_can(
    command: Command, name: str, such: str
) -> None:
    said = command("tool", "create", name, "--type", "python_script")
    assert said.code == 2 and said.err.rstrip().endswith(f"all ASCII, such as {such}")
    assert "such as" not in command("tool", "create", "1", "--type", "python_script").err


def test_a_key_of_args_that_a_shell_command_would_ignore_makes_no_tool(command: Command) -> None:
    new = ("tool", "create", "ls", "--type", "shell_command", "--entrypoint", "ls", "--args")
    said = command(*new, '{"args": ["-l"]}')
    assert said.code == 2 and "a shell_command has no key 'args'" in said.err
    assert "its keys are argv, stdin, cwd, output, success_codes, such as --args" in said.err
    assert command(*new, '{"argv": ["-l"], "output": "lines"}').code == 0


def test_braces_that_name_no_input_are_told_as_lint_does(command: Command) -> None:
    schema = '{"type": "object", "properties": {"paht": {"type": "string"}}, "required": ["paht"]}'
    new = ("tool", "create", "listing", "--type", "shell_command", "--entrypoint", "ls")
    said = command(*new, "--args", '{"argv": ["-l", "{path}"]}', "--schema", schema)
    assert said.code == 0
    told = "{path} is not the name of an input, so it is not replaced"
    assert f"warning: {told}; did you mean {{paht}}?" in " ".join(said.err.split())
    assert told in command("lint", "--select", "layout-unknown-slot").out
    good = command("tool", "create", "ok", *new[3:], "--args", '{"argv": ["{path}"]}')
    assert good.code == 0 and "not the name of an input" not in good.err
