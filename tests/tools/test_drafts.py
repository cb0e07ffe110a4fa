"""Tools before they are on disk: templates, functions, the user's own files and words."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.errors import InvalidDocument, StorageError, UsageError
from vespe.files.trees import TreeFile
from vespe.tools.drafts import Draft, check_name, describe, draft_from_function, draft_tool

CALC = (
    'def calc(a: float, b: float = 2) -> float:\n    """Add.\n\n    Args:\n        a: '
    'One.\n    """\n    return a + b\n'
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.fixture
def here(tmp_path: Path) -> str:
    (tmp_path / "calc.py").write_text(CALC, encoding="utf-8")
    (tmp_path / "run.sh").write_text("#!/bin/sh\necho hi\n", encoding="utf-8")
    return str(tmp_path)


def details(draft: Draft) -> Any:
    return draft.document["implementation_details"]


def test_a_python_draft_is_its_template() -> None:
    draft = draft_tool("count-it", "python_script")
    assert details(draft) == {
        "type": "python_script",
        "path": "count_it.py",
        "entrypoint": "count_it",
        "args": {},
    }
    assert draft.document["schema"]["input"]["properties"].keys() == {"text"}
    assert draft.document["schema"]["output"]["required"] == ["characters", "words", "lines"]
    assert b"def count_it(" in draft.files["count_it.py"].data


def test_the_users_words_replace_the_templates() -> None:
    fields = {
        "description": "Mine.",
        "path": "mine.py",
        "entrypoint": "go",
        "args": {"depth": 1},
        "schema": SCHEMA,
    }
    draft = draft_tool("x", "python_script", fields=fields)
    assert (draft.document["description"], draft.document["schema"]) == ("Mine.", {"input": SCHEMA})
    assert details(draft) == {
        "type": "python_script",
        "path": "mine.py",
        "entrypoint": "go",
        "args": {"depth": 1},
    }
    assert b"def go(**inputs" in draft.files["mine.py"].data


def test_fixed_arguments_alone_leave_no_inputs() -> None:
    assert (
        draft_tool("x", "python_script", fields={"args": {"a": 1}}).document["schema"]["input"][
            "properties"
        ]
        == {}
    )


def test_a_schema_may_be_given_with_its_output() -> None:
    pair = {"input": SCHEMA, "output": {"type": "integer"}}
    assert draft_tool("x", "shell_command", fields={"schema": pair}).document["schema"] == pair
    inputs = {"type": "object", "properties": {"input": {"type": "string"}}}
    assert draft_tool("x", "http_request", fields={"schema": inputs}).document["schema"] == {
        "input": inputs
    }


def test_a_function_gives_name_description_and_schemas(here: str) -> None:
    draft = draft_from_function("calc.py:calc", directory=here)
    assert (draft.name, draft.document["description"], draft.notes) == ("calc", "Add.", ())
    assert draft.document["schema"]["output"] == {"type": "number"}
    assert draft.document["schema"]["input"]["required"] == ["a"]
    assert draft.files == {"calc.py": TreeFile(data=CALC.encode())}


def test_a_function_may_get_another_name_and_description(here: str) -> None:
    draft = draft_from_function(
        f"{here}/calc.py:calc", name="sum-up", fields={"description": "Sum."}
    )
    assert (draft.name, draft.document["name"], draft.document["description"]) == (
        "sum-up",
        "sum-up",
        "Sum.",
    )
    assert details(draft)["entrypoint"] == "calc"


def test_what_is_fixed_is_no_input(here: str) -> None:
    schema = draft_from_function(
        "calc.py:calc", fields={"args": {"a": 1}}, directory=here
    ).document["schema"]["input"]
    assert schema == {
        "type": "object",
        "properties": {"b": {"type": "number", "default": 2}},
        "additionalProperties": False,
    }


def test_a_path_that_exists_is_copied_and_its_only_function_read(here: str) -> None:
    draft = draft_tool("add", "python_script", fields={"path": "calc.py"}, directory=here)
    assert (details(draft)["entrypoint"], details(draft)["path"]) == ("calc", "calc.py")
    Path(here, "two.py").write_text("def add(): ...\ndef other(): ...\n", encoding="utf-8")
    assert (
        details(draft_tool("add", "python_script", fields={"path": "two.py"}, directory=here))[
            "entrypoint"
        ]
        == "add"
    )
    with pytest.raises(InvalidDocument, match="there is no function called 'third'"):
        draft_tool("third", "python_script", fields={"path": "two.py"}, directory=here)


def test_a_program_of_ones_own_is_copied_and_made_executable(here: str) -> None:
    draft = draft_tool(
        "hi",
        "shell_command",
        fields={"path": "run.sh", "args": {"argv": ["{name}"]}},
        directory=here,
    )
    assert details(draft) == {
        "type": "shell_command",
        "path": "run.sh",
        "args": {"argv": ["{name}"]},
    }
    assert draft.files["run.sh"].executable and draft.document["schema"]["input"]["required"] == [
        "name"
    ]


def test_a_program_found_on_path_is_named_and_not_copied() -> None:
    draft = draft_tool("now", "shell_command", fields={"entrypoint": "date"})
    assert (details(draft), dict(draft.files)) == (
        {"type": "shell_command", "entrypoint": "date", "args": {"argv": []}},
        {},
    )


def test_a_url_of_ones_own_gives_the_inputs() -> None:
    draft = draft_tool(
        "get", "http_request", fields={"path": "https://example.org/{id}", "entrypoint": "DELETE"}
    )
    assert details(draft)["entrypoint"] == "DELETE"
    assert draft.document["schema"]["input"]["required"] == ["id"]


def test_what_stays_behind_is_named(here: str) -> None:
    Path(here, "beside.py").write_text("", encoding="utf-8")
    Path(here, "uses.py").write_text(
        "import beside, json\nfrom . import x\ndef uses(): ...\n", encoding="utf-8"
    )
    notes = draft_from_function("uses.py:uses", directory=here).notes
    assert [note.split(" from ")[0] for note in notes] == ["it imports beside", "it imports .x"]


@pytest.fixture
def package(here: str) -> Path:
    """A directory whose package `app` has a function that imports its package, and one that does so
    when it runs.
    """
    for name, text in {
        "__init__.py": "",
        "rates.py": "VAT = 3\n",
        "top.py": "import json\nfrom app.rates import VAT\ndef tax(n: "
        "int) -> int:\n    return n * VAT\n",
        "inner.py": "def tax(n: int) -> int:\n    import json\n    from app.rates import VAT\n    "
        "return n * VAT\n",
    }.items():
        Path(here, "app").mkdir(exist_ok=True)
        Path(here, "app", name).write_text(text, encoding="utf-8")
    return Path(here)


@pytest.mark.parametrize("module", ["top", "inner"])
def test_a_function_that_imports_its_own_package_is_told_that_this_is_not_copied(
    module: str, package: Path
) -> None:
    (note,) = draft_from_function(f"app/{module}.py:tax", directory=str(package)).notes
    assert "imports app.rates" in note and "in-process" in note


def test_a_module_s_name_is_refused_with_the_file_to_name_and_the_hint_works(package: Path) -> None:
    with pytest.raises(UsageError, match="the name of a module") as refused:
        draft_from_function("app.inner:tax", directory=str(package))
    assert "`--from app/inner.py:tax`" in refused.value.hint
    assert draft_from_function("app/inner.py:tax", directory=str(package)).name == "tax"


def test_a_link_to_the_users_own_file_is_followed(here: str) -> None:
    os.symlink("calc.py", os.path.join(here, "link.py"))
    assert (
        draft_from_function("link.py:calc", directory=here).files["link.py"].data == CALC.encode()
    )


BAD_NAMES = ["", "1a", "a b", "a/b", "../a", "a\n", "é", "a" * 65, "-a", "a.b", "\u202ea"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_p13_a_name_that_no_api_takes_is_refused_with_the_rule(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        draft_tool(name, "python_script")
    assert "64 characters at most" in caught.value.hint


def test_names_at_the_edge_of_the_rule_are_fine() -> None:
    for name in ("a", "_", "A-1_b", "a" * 64):
        check_name(name)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("no_type", {}, "no type of tool called 'no_type'"),
    ("python_script", {"colour": 1}, "no 'colour' to set"),
    ("python_script", {"description": 1}, "`description` must be a string"),
    ("shell_command", {"args": [1]}, "`args` must be an object, not [1]"),
    ("http_request", {"schema": True}, "`schema` must be an object, not True"),
    ("shell_command", {"path": "a\0b"}, "`path` must be a string without NUL"),
    ("python_script", {"path": "src/gone.py"}, "no file src/gone.py"),
    ("python_script", {"path": "/nowhere/gone.py"}, "no file /nowhere/gone.py"),
    ("python_script", {"path": ".."}, "is not a Python file"),
    ("shell_command", {"path": "/"}, "no file /"),
    ("python_script", {"path": "tool.txt"}, "is not a Python file"),
    ("python_script", {"entrypoint": "a-b"}, "is not a valid function name"),
    ("shell_command", {"path": "gone.sh"}, "no file gone.sh"),
    ("shell_command", {"path": "config.json"}, "cannot be called config.json"),
]


@pytest.mark.parametrize(("type", "fields", "reason"), REFUSED, ids=str)
def test_what_cannot_be_is_refused_in_a_sentence(
    type: str, fields: dict[str, Any], reason: str, here: str
) -> None:
    Path(here, "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        draft_tool("x", type, fields=fields, directory=here)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "source",
    ["calc", "calc.py", "calc.py:", ":calc", "calc.py:a b", "gone.py:calc", "dir/gone.py:calc"],
)
def test_a_source_that_names_no_function_is_refused(source: str, here: str) -> None:
    with pytest.raises(UsageError):
        draft_from_function(source, directory=here)


def test_a_file_that_is_no_utf8_or_no_python_names_its_line(here: str) -> None:
    Path(here, "latin.py").write_bytes(b"x = 1\ns = '\xe9'\n")
    Path(here, "broken.py").write_bytes(b"x = 1\n\ndef f(:\n")
    for file, line in (("latin", 2), ("broken", 3)):
        with pytest.raises(InvalidDocument) as caught:
            draft_tool(file, "python_script", fields={"path": f"{file}.py"}, directory=here)
        assert caught.value.line == line


def test_a_file_that_cannot_be_read_is_a_sentence(here: str) -> None:
    Path(here, "big.py").write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises((InvalidDocument, StorageError), match="is larger than"):
        draft_from_function("big.py:f", directory=here)


def test_the_page_for_people_has_a_row_for_each_input() -> None:
    properties = {
        "a": {"type": "string", "description": "One | two\nthree", "default": "x"},
        "b": {"enum": ["p", 1]},
        "c": {"type": ["integer", "null"]},
        "d": True,
    }
    document = {
        "description": "Do it.",
        "schema": {"input": {"type": "object", "properties": properties, "required": ["b"]}},
    }
    assert describe("do", document).splitlines() == [
        "# do",
        "",
        "Do it.",
        "",
        "## Inputs",
        "",
        "| Input | Type | Required | Default | Description |",
        "|---|---|---|---|---|",
        '| `a` | string | no | `"x"` | One \\| two three |',
        '| `b` | one of `"p"`, `1` | yes |  |  |',
        "| `c` | integer or null | no |  |  |",
        "| `d` | any | no |  |  |",
    ]


def test_the_page_of_a_tool_without_inputs_has_no_table() -> None:
    assert (
        describe("do", {"description": "Do it.", "schema": {"input": {"type": "object"}}})
        == "# do\n\nDo it.\n"
    )
    assert (
        describe("do", {"description": "Do it.", "schema": {"input": True}}) == "# do\n\nDo it.\n"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="ab{}$:|\udc00\n", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "input", "properties", "required", "argv"]), inner)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(
    st.sampled_from(["argv", "stdin", "query", "input", "properties", "required", "type"]), JSON
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["python_script", "shell_command", "http_request"]),
    OBJECTS,
    OBJECTS,
    st.text(max_size=5),
)
def test_p19_any_schema_and_arguments_make_a_draft_to_judge(
    type: str, schema: Any, args: Any, text: str
) -> None:
    draft = draft_tool(
        "x",
        type,
        fields={"schema": schema, "args": args, "description": "\udc00" + text.replace("\0", "")},
    )
    assert draft.document["implementation_details"]["args"] == args
    assert describe("x", draft.document).encode()


def test_a_draft_is_plain_data() -> None:
    assert json.loads(json.dumps(draft_tool("x", "http_request").document))["name"] == "x"
