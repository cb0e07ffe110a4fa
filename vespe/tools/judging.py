"""What is wrong with a config.json by its bytes alone."""

from typing import Final

from vespe.models import JsonObject, JsonValue
from vespe.schemas import validator
from vespe.schemas.bounds import is_plain
from vespe.schemas.forms import Found
from vespe.tools.fields import found_in_fields
from vespe.tools.implementations import found_in_implementation

_NOT_OF_A_KIT: Final = (
    "/implementation_details/environment",
    "`environment` is only for a project's own tools, because the author of a kit does not know "
    "the project. Declare dependencies in a `# /// script` block",
    "implementation",
)


def found_in(document: JsonObject, *, uid: str, kit_id: str | None, source: bytes) -> list[Found]:
    """Return all that is wrong with the config.json of the tool directory `uid`, but for what goes
    beyond the limits of its kit; `source` are its bytes.
    """
    found = found_in_fields(document, uid=uid, kit_id=kit_id)
    if isinstance(schema := document.get("schema"), dict):
        plain = is_plain(schema, source, beside="$schema" in document)
        for key in ("input", "output"):
            if key in schema:
                found += _found_in_schema(key, schema[key], plain=plain)
    details = document.get("implementation_details")
    if kit_id is not None and isinstance(details, dict) and "environment" in details:
        found.append(_NOT_OF_A_KIT)
    return found + found_in_implementation(document, source=source)


def _found_in_schema(key: str, schema: JsonValue, *, plain: bool) -> list[Found]:
    problems = validator.check_schema(schema, root_object=key == "input", plain=plain)
    return [
        (f"/schema/{key}{one.pointer}", _named(one.message, f"`schema.{key}`")) for one in problems
    ]


def _named(message: str, name: str) -> str:
    """Return a sentence with its subject: what is said of a part names it already."""
    return message if message.startswith("`") else f"{name} {message}"
