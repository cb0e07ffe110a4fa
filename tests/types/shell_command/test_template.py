"""What a new shell_command begins with runs at once, and follows what the user already said."""

import shutil

from vespe.models import JsonObject
from vespe.schemas.validator import check_schema
from vespe.types.shell_command.template import shell_template


def test_the_shell_template_names_a_program_that_every_system_has() -> None:
    for template in (
        shell_template(None, None, None),
        shell_template({"type": "object"}, None, None),
    ):
        assert shutil.which(template.entrypoint, path="/usr/bin:/bin")


def test_no_input_of_the_template_is_required() -> None:
    schema = shell_template(None, None, None).input_schema
    assert schema.get("required", []) == [] and check_schema(schema) == []


def test_the_users_own_arguments_give_the_inputs() -> None:
    args: JsonObject = {
        "argv": ["-n", ["--max", "{count}"], "{pattern}", "{env_file}", "${env:KEY}", "{ not }"],
        "stdin": "{text}",
    }
    template = shell_template(None, args, "grep")
    assert (template.entrypoint, template.args) == ("grep", args)
    assert template.input_schema["properties"].keys() == {"count", "pattern", "env_file", "text"}
    assert template.input_schema["required"] == ["pattern", "env_file", "text"]


def test_a_program_alone_runs_without_arguments() -> None:
    template = shell_template(None, None, "date")
    assert (template.args, template.input_schema["properties"]) == ({"argv": []}, {})


def test_with_a_schema_alone_the_shell_template_gives_the_inputs_back() -> None:
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "integer"}}}
    template = shell_template(schema, None, None)
    assert (template.entrypoint, template.args["stdin"], template.input_schema) == (
        "cat",
        "json",
        schema,
    )
