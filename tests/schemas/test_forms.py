"""A key of config.json is one row: by it Vespe checks the key, and the published schema has it.

The test adds rows to a copy of the package, and asks the check and the schema.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.installs import CHECKOUT, copy_package
from vespe.schemas import forms, validator

ADDED = {
    "tools/fields.py": (
        '    "version": forms.text(',
        '    "colour": forms.choice("red", "blue", description="Its colour."),\n',
    ),
    "types/shell_command/form.py": (
        '        "cwd": forms.choice(',
        '        "nice": forms.integer(0, 19, "How far it stands back."),\n',
    ),
}
ASKED = f"""
import json, sys
sys.path.append({str(CHECKOUT)!r})
from tests.support import render_schema
from vespe.schemas import published, validator
from vespe.tools.directory import check
render_schema.main()
schema = published.read_published("tool")
whole = validator.Validator(schema)
said = []
for colour, nice in (("red", 3), ("green", 20)):
    args = {{"argv": [], "nice": nice}}
    document = {{
        "uid": "tool-a", "name": "a", "schema": {{"input": {{"type": "object"}}}}, "colour": colour,
        "implementation_details": {{"type": "shell_command", "entrypoint": "true", "args": args}},
    }}
    _, problems = check(sys.argv[1], config=json.dumps(document).encode())
    said.append([[str(one) for one in problems], whole.is_valid(document)])
args = schema["$defs"]["shell_command"]["properties"]["args"]["properties"]
print(json.dumps([said, schema["properties"]["colour"], args["nice"]]))
"""


def test_a_row_is_all_that_a_new_key_takes(tmp_path: Path) -> None:
    install = copy_package(tmp_path / "copy")
    for name, (before, row) in ADDED.items():
        module = tmp_path / "copy/vespe" / name
        code = module.read_text(encoding="utf-8")
        assert code.count(before) == 1
        module.write_text(code.replace(before, row + before), encoding="utf-8")
    (tmp_path / "tool-a").mkdir()
    said, colour, nice = json.loads(install.printed(ASKED, str(tmp_path / "tool-a")))
    assert said == [
        [[], True],
        [
            [
                'config.json at /colour: `colour` must be one of red, blue, not the string "green"',
                "config.json at /implementation_details/args/nice: `args.nice` must be an integer "
                "from 0 to 19, not 20",
            ],
            False,
        ],
    ]
    assert colour == {"description": "Its colour.", "enum": ["red", "blue"]}
    assert nice == {
        "description": "How far it stands back.",
        "type": "integer",
        "minimum": 0,
        "maximum": 19,
    }


@pytest.mark.parametrize(
    ("form", "value", "said"),
    [
        (forms.text(), 1, "`x` must be a string, not the number 1"),
        (forms.text_or_null(), [], "`x` must be a string, not an empty array"),
        (forms.flag(), 0, "`x` must be true or false, not the number 0"),
        (forms.integer(1, 3), True, "`x` must be an integer from 1 to 3, not true"),
        (forms.number("above 0", 3), 4, "`x` must be above 0, not 4"),
        (forms.choice("a", "b"), ["a"], "`x` must be one of a, b, not an array of 1 item"),
        (forms.only("a"), "b", '`x` must be "a" or be left out, not the string "b"'),
        (forms.texts(), ["a", ""], '`x[1]` must be a string that is not empty, not the string ""'),
        (forms.texts(each=forms.choice("a")), ["b"], '`x[0]` must be one of a, not the string "b"'),
        (forms.integers(range(3)), [3], "`x` must be a list of integers from 0 to 2, not [3]"),
        (
            forms.fields({"y": forms.flag()}),
            {"y": 1},
            "`x.y` must be true or false, not the number 1",
        ),
        (forms.own_file("a file"), "../a", "`x` must be a file, written relative to it"),
    ],
)
def test_each_form_says_what_is_wrong_and_its_schema_refuses_it(
    form: forms.Form, value: Any, said: str
) -> None:
    ((_, message, *_),) = form.found(value, "/x", "x")
    assert message.startswith(said)
    schema = {"$defs": forms.DEFINITIONS, **form.schema}
    assert not validator.Validator(schema).is_valid(value)
