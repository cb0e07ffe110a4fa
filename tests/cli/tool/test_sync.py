"""`vespe tool sync`."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
BEFORE = 'def greet(who: str) -> str:\n    """Greet somebody."""\n    return "hello " + who\n'
AFTER = (
    'def greet(who: str, lang: str = "en") -> str:\n    """Greet somebody."""\n'
    "    return lang + who\n"
)


@pytest.fixture
def tool(command: Command, project: Path) -> Path:
    (project / "greet.py").write_text(BEFORE, encoding="utf-8")
    return Path(
        command("tool", "create", "greet", "--from", "greet.py:greet", "--json").document["path"]
    )


def test_a_changed_function_changes_the_schema_and_the_call_works(
    command: Command, tool: Path
) -> None:
    (tool / "greet.py").write_text(AFTER, encoding="utf-8")
    said = command("tool", "sync", "greet")
    assert said.code == 0 and any(
        line.startswith("+") and "lang" in line for line in said.out.splitlines()
    )
    assert command("tool", "run", "greet", "who=x", "lang=de").out == "dex"


def test_a_changed_docstring_changes_the_description_and_the_generated_documentation(
    command: Command, project: Path, tool: Path
) -> None:
    page = tool / "description.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nMy own words.\n", encoding="utf-8")
    changed = AFTER.replace("Greet somebody.", "Greet in a language.")
    (project / "greet.py").write_text(changed, encoding="utf-8")
    said = command("tool", "sync")
    assert said.code == 0 and '+  "description": "Greet in a language."' in said.out
    assert said.err.splitlines()[-1] == "updated greet" and "stays" not in said.err
    document = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    assert document["description"] == "Greet in a language."
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# greet\n\nGreet in a language.\n") and "Greet somebody" not in text
    assert '| `lang` | string | no | `"en"` |' in text and text.endswith("\nMy own words.\n")
    assert command("tool", "sync", "--check").code == 0


def test_a_docstring_that_is_new_takes_the_place_of_the_functions_name(
    command: Command, project: Path
) -> None:
    code = "def greet(who: str) -> str:\n    return who\n"
    (project / "greet.py").write_text(code, encoding="utf-8")
    command("tool", "create", "greet", "--from", "greet.py:greet")
    (project / "greet.py").write_text(BEFORE, encoding="utf-8")
    command("tool", "sync")
    assert command("tool", "show", "greet", "--json").document["description"] == "Greet somebody."


def test_a_description_of_ones_own_stays_and_the_other_docstring_is_told(
    command: Command, project: Path, tool: Path
) -> None:
    assert "updated greet" in command("tool", "set", "greet", "description=Say hello.").err
    assert "docstring" not in command("tool", "sync", "greet").err
    changed = BEFORE.replace("Greet somebody.", "Greet in a language.")
    (project / "greet.py").write_text(changed, encoding="utf-8")
    said = " ".join(command("tool", "sync").err.split())
    assert "for models stays 'Say hello.'; the docstring now says 'Greet in a language.'" in said
    assert "(`vespe tool set greet 'description=Greet in a language.'` changes it)" in said
    assert command("tool", "show", "greet", "--json").document["description"] == "Say hello."
    assert "docstring" not in command("tool", "sync", "greet").err


def test_a_tool_without_a_description_is_brought_up_to_date_too(
    command: Command, project: Path, tool: Path
) -> None:
    config = tool / "config.json"
    document = json.loads(config.read_text(encoding="utf-8"))
    del document["description"]
    config.write_text(json.dumps(document), encoding="utf-8")
    (project / "greet.py").write_text(AFTER, encoding="utf-8")
    done = command("tool", "sync", "greet", "--json")
    assert done.code == 0 and "description" not in done.document["tools"][0]
    assert (
        "lang"
        in command("tool", "show", "greet", "--json").document["schema"]["input"]["properties"]
    )
    changed = AFTER.replace("Greet somebody.", "Greet in a language.")
    (project / "greet.py").write_text(changed, encoding="utf-8")
    said = command("tool", "sync", "greet")
    assert said.code == 0 and "greet has no description for models; `vespe" in said.err
    given = said.err.partition("`vespe ")[2].partition("`")[0]
    assert "stays" not in said.err and command(*shlex.split(given)).code == 0
    shown = command("tool", "show", "greet", "--json").document
    assert shown["description"] == "Greet in a language."


def test_the_docstring_of_a_function_in_place_is_told_if_the_description_is_another(
    command: Command, project: Path
) -> None:
    (project / "pkg").mkdir()
    (project / "pkg/__init__.py").write_text("", encoding="utf-8")
    (project / "pkg/greet.py").write_text(BEFORE, encoding="utf-8")
    command("tool", "create", "greet", "--from", "pkg.greet:greet", "--in-place")
    assert "docstring" not in command("tool", "sync", "greet").err
    changed = AFTER.replace("Greet somebody.", "Greet in a language.")
    (project / "pkg/greet.py").write_text(changed, encoding="utf-8")
    said = " ".join(command("tool", "sync").err.split())
    assert "stays 'Greet somebody.'; the docstring now says 'Greet in a language.'" in said


def test_check_changes_nothing_and_is_exit_1(command: Command, tool: Path) -> None:
    before = (tool / "config.json").read_text(encoding="utf-8")
    assert command("tool", "sync", "--check").code == 0
    (tool / "greet.py").write_text(AFTER, encoding="utf-8")
    assert (
        command("tool", "sync", "--check").code == 1
        and (tool / "config.json").read_text(encoding="utf-8") == before
    )


def test_what_was_added_by_hand_stays_while_its_type_does(command: Command, tool: Path) -> None:
    config = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    config["schema"]["input"]["properties"]["who"] |= {"maxLength": 9, "description": "Whom."}
    (tool / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (tool / "greet.py").write_text(AFTER, encoding="utf-8")
    command("tool", "sync", "greet")
    properties = json.loads((tool / "config.json").read_text(encoding="utf-8"))["schema"]["input"][
        "properties"
    ]
    assert (
        properties["who"] == {"description": "Whom.", "maxLength": 9, "type": "string"}
        and properties["lang"]["default"] == "en"
    )


def test_what_has_no_function_is_refused_by_name_and_left_out_without(command: Command) -> None:
    command("tool", "create", "say", "--type", "shell_command")
    assert command("tool", "sync", "say").code == 2 and command("tool", "sync").code == 0


def test_lint_notices_an_argument_that_the_schema_lacks(command: Command, tool: Path) -> None:
    assert "lang" not in command("lint").out
    (tool / "greet.py").write_text(AFTER, encoding="utf-8")
    assert "lang" in command("lint").out


def test_a_change_of_the_file_that_was_copied_is_taken_over(
    command: Command, project: Path
) -> None:
    (project / "greet.py").write_text(BEFORE, encoding="utf-8")
    made = command("tool", "create", "greet", "--from", "greet.py:greet")
    assert "has a copy of greet.py" in made.err and "`vespe tool sync greet`" in made.err
    said = command("tool", "sync")
    assert (said.code, said.out) == (0, "") and "every schema matches" in said.err
    (project / "greet.py").write_text(AFTER, encoding="utf-8")
    lint = command("lint", "--select", "signature-origin")
    assert "has changed" in lint.out
    checked = command("tool", "sync", "--check")
    assert "updated" not in checked.err
    assert checked.code == 1 and '+def greet(who: str, lang: str = "en")' in checked.out
    assert command("tool", "run", "greet", "who=x", "lang=de").code == 5
    assert command("tool", "sync").code == 0
    assert command("tool", "run", "greet", "who=x", "lang=de").out == "dex"
    assert command("tool", "sync", "--check").code == 0
    assert "has changed" not in command("lint", "--select", "signature-origin").out


def test_a_call_that_the_changed_file_would_take_says_how_to_have_the_change(
    command: Command, project: Path, tool: Path
) -> None:
    refused = command("tool", "run", "greet", "who=x", "lang=de")
    assert refused.code == 5 and "has changed" not in refused.err
    (project / "greet.py").write_text(AFTER, encoding="utf-8")
    refused = command("tool", "run", "greet", "who=x", "lang=de")
    assert refused.code == 5
    assert (
        "greet.py, which greet was made from, has changed: `vespe tool sync greet`" in refused.err
    )
    assert command("tool", "sync", "greet").code == 0
    assert command("tool", "run", "greet", "who=x", "lang=de").out == "dex"


def test_a_file_that_was_moved_or_renamed_is_named_anew(command: Command, project: Path) -> None:
    (project / "greet.py").write_text(BEFORE, encoding="utf-8")
    path = command("tool", "create", "greet", "--from", "greet.py:greet", "--json").document["path"]
    (project / "lib").mkdir()
    (project / "greet.py").rename(project / "lib/hello.py")
    assert "`vespe tool sync greet --from " in command("lint", "--select", "signature-origin").out
    said = command("tool", "sync")
    assert "greet.py, which greet was made from, no longer exists" in said.err
    assert "every schema matches" not in said.err
    (project / "lib/hello.py").write_text(AFTER.replace("greet", "hello"), encoding="utf-8")
    said = command("tool", "sync", "greet", "--from", "lib/hello.py:hello")
    assert said.code == 0 and "updated greet, which is now made from lib/hello.py" in said.err
    config = json.loads(Path(path, "config.json").read_text(encoding="utf-8"))
    assert (config["created_from"]["path"], config["created_from"]["function"]) == (
        "lib/hello.py",
        "hello",
    )
    assert command("tool", "run", "greet", "who=x", "lang=de").out == "dex"
    assert "every schema matches" in command("tool", "sync").err


def test_where_both_have_changed_nothing_is_lost_unasked(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "greet.py").write_text(BEFORE, encoding="utf-8")
    path = command("tool", "create", "greet", "--from", "greet.py:greet", "--json").document["path"]
    (project / "greet.py").write_text(AFTER, encoding="utf-8")
    copy = Path(path, "greet.py")
    copy.write_text(BEFORE + "# mine\n", encoding="utf-8")
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    said = command("tool", "sync")
    assert said.code == 1 and copy.read_text(encoding="utf-8").endswith("# mine\n")
    offered = said.err.split("`vespe ")[1].split("`")[0]
    assert offered == "tool sync greet --from ../greet.py"
    called = command("tool", "run", "greet", "who=x")
    assert called.code == 0 and "and so has the tool's copy" in called.err
    assert f"`vespe {offered}` overwrites the copy, and its changes are lost" in called.err
    assert command(*offered.split()).code == 0 and copy.read_text(encoding="utf-8") == AFTER
    assert command("tool", "run", "greet", "who=x").err == ""


def test_an_edited_copy_is_said_to_differ_from_its_source(
    command: Command, project: Path, tool: Path
) -> None:
    assert "was edited" not in command("tool", "sync", "greet").err
    (tool / "greet.py").write_text(BEFORE + "# mine\n", encoding="utf-8")
    for checked in ((), ("--check",)):
        said = command("tool", "sync", "greet", *checked)
        assert said.code == 0 and "every schema matches its function" in said.err
        assert f"the copy in {tool} was edited" in said.err
        assert "does not run the code in greet.py" in said.err
    offered = said.err.split("`vespe ")[1].split("`")[0]
    assert command(*offered.split()).code == 0
    assert (tool / "greet.py").read_text(encoding="utf-8") == BEFORE
    assert "was edited" not in command("tool", "sync", "greet").err


def test_a_link_that_came_with_a_project_brings_no_other_file_into_a_tool(
    command: Command, project: Path, home: Path
) -> None:
    (project / "greet.py").write_text(BEFORE, encoding="utf-8")
    path = command("tool", "create", "greet", "--from", "greet.py:greet", "--json").document["path"]
    (project / "greet.py").unlink()
    (home / "key").write_text("KEY = 1\n", encoding="utf-8")
    (project / "greet.py").symlink_to(home / "key")
    said = command("tool", "sync")
    assert "no longer exists" in said.err and "KEY" not in said.out
    assert Path(path, "greet.py").read_text(encoding="utf-8") == BEFORE


@pytest.mark.parametrize("value", [1, {"path": "../x", "sha256": 64 * "0"}, {"path": "x"}])
def test_an_origin_that_is_none_is_told_where_it_stands(
    value: Any, command: Command, tool: Path
) -> None:
    config = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    (tool / "config.json").write_text(json.dumps(config | {"created_from": value}), "utf-8")
    assert "created_from" in command("lint").out


def test_a_program_that_was_copied_is_taken_over_too(command: Command, project: Path) -> None:
    script = project / "say"
    script.write_text("#!/bin/sh\necho one\n", encoding="utf-8")
    script.chmod(0o755)
    command("tool", "create", "say", "--type", "shell_command", "--path", "say")
    script.write_text("#!/bin/sh\necho two\n", encoding="utf-8")
    assert command("tool", "sync").code == 0 and command("tool", "run", "say").out == "two\n"


def test_a_tool_of_a_kit_that_its_author_edits_is_changed_by_its_id_or_its_directory(
    command: Command, project: Path
) -> None:
    command("kit", "create", "text_kit", "--in", str(project))
    command("kit", "link", "text_kit")
    command("kit", "activate", "text_kit")
    (project / "greet.py").write_text(BEFORE, encoding="utf-8")
    made = command("tool", "create", "greet", "--kit", "text_kit", "--from", "greet.py:greet")
    offered = made.err.split("`vespe ")[1].split("`")[0]
    kit = project / "text_kit"
    config = json.loads((kit / "tool-greet/config.json").read_text(encoding="utf-8"))
    assert "created_from" not in config, "it would lead nowhere for whoever has the kit"
    (project / "greet.py").write_text(AFTER, encoding="utf-8")
    assert command(*offered.split()).code == 0
    assert command("tool", "run", "greet", "who=x", "lang=de").out == "dex"
    refused = command("tool", "sync", "greet")
    assert refused.code == 3 and "`--kit text_kit`" in refused.err
    (kit / "tool-greet/greet.py").write_text(BEFORE, encoding="utf-8")
    fix = command("lint", "text_kit", "--select", "signature").out
    assert command("tool", "sync", "--kit", "text_kit").code == 0 and "lang" in fix
    assert command("tool", "rename", "greet", "hello", "--kit", str(kit)).code == 0
    assert command("tool", "run", "hello", "who=x").out == "hello x"
    assert command("tool", "remove", "hello", "--kit", "text_kit", "--yes").code == 0
    assert not (kit / "tool-greet").exists()


def test_an_installed_kits_tools_are_nobodys_to_change(command: Command, project: Path) -> None:
    for verb in (("sync", "x"), ("rename", "x", "y"), ("remove", "x", "--yes"), ("edit", "x")):
        assert command("tool", *verb, "--kit", "no_such_kit").code == 2


def test_a_call_that_went_well_says_too_that_the_file_that_was_copied_has_changed(
    command: Command, project: Path, tool: Path
) -> None:
    assert command("tool", "run", "greet", "who=x").err == ""
    (project / "greet.py").write_text(BEFORE.replace("hello", "hi"), encoding="utf-8")
    said = command("tool", "run", "greet", "who=x")
    assert said.out == "hello x"
    assert "greet.py, which greet was made from, has changed: `vespe tool sync greet`" in said.err
    assert command("tool", "run", "greet", "who=x", "--json").err == ""


def test_a_template_that_was_replaced_is_described_anew_and_calls_name_sync(
    command: Command, project: Path
) -> None:
    path = command("tool", "create", "hello", "--type", "python_script", "--json").document["path"]
    Path(path, "hello.py").write_text(BEFORE.replace("greet", "hello"), encoding="utf-8")
    refused = command("tool", "run", "hello", "who=x")
    assert refused.code == 5 and "`vespe tool sync hello` derives the schema again" in refused.err
    said = command("tool", "sync", "hello")
    assert "stays" not in said.err
    shown = command("tool", "show", "hello", "--json").document
    assert shown["description"] == "Greet somebody."
    assert "Greet somebody." in Path(path, "description.md").read_text(encoding="utf-8")


def test_a_function_that_was_renamed_is_named_in_its_file_with_the_command_that_takes_the_other(
    command: Command, project: Path, tool: Path
) -> None:
    (project / "greet.py").write_text(BEFORE.replace("greet", "welcome"), encoding="utf-8")
    said = command("tool", "sync", "greet")
    assert said.code == 4 and f"{project}/greet.py: there is no function called 'greet'" in said.err
    hint = said.err.partition("`vespe ")[2].partition("`")[0]
    assert command(*shlex.split(hint)).code == 0
    assert command("tool", "run", "greet", "who=x").out == "hello x"


def test_check_fails_for_a_function_in_place_that_is_gone(command: Command, project: Path) -> None:
    (project / "shop.py").write_text(BEFORE, encoding="utf-8")
    assert command("tool", "create", "greet", "--from", "shop:greet", "--in-place").code == 0
    assert command("tool", "sync", "--check").code == 0
    (project / "shop.py").rename(project / "store.py")
    said = command("tool", "sync", "--check")
    assert said.code == 1 and "`vespe tool sync greet --from FILE.py:greet`" in said.err


def test_what_came_from_elsewhere_is_said_to_have_been_compared_with_its_copy(
    command: Command, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "greet.py").write_text(BEFORE, encoding="utf-8")
    made = command("tool", "create", "greet", "--from", f"{tmp_path}/greet.py:greet")
    assert made.code == 0
    said = command("tool", "sync", "greet", "--check")
    assert said.code == 0 and "vespe: greet: compared with its own file\n" in said.err


def test_a_copy_whose_source_is_gone_can_become_the_source(
    command: Command, project: Path, tool: Path
) -> None:
    (project / "greet.py").unlink()
    linted = " ".join(command("lint", "--select", "signature-origin").out.split())
    said = command("tool", "sync", "greet")
    hint = said.err.rpartition("`vespe ")[2].partition("`")[0]
    assert f"or else `vespe {hint}`" in linted
    assert command(*shlex.split(hint)).code == 0
    said = command("tool", "sync", "greet")
    assert "no longer exists" not in said.err and "every schema matches" in said.err


def test_a_default_that_does_not_fit_its_type_is_named(command: Command, project: Path) -> None:
    source = project / "k.py"
    source.write_text("def k(deep: bool = True) -> int:\n    return 1\n", encoding="utf-8")
    command("tool", "create", "k", "--from", "k.py:k")
    source.write_text("def k(deep: bool = 'hello') -> int:\n    return 1\n", encoding="utf-8")
    wanted = "deep: its default, 'hello', is not of its type, so the schema has no default"
    for words in (("--check",), ()):
        assert wanted in " ".join(command("tool", "sync", "k", *words).err.split())
    assert wanted in " ".join(command("tool", "create", "k2", "--from", "k.py:k").err.split())
