"""Put the published schema of config.json together: what each type says of its details, and the
table of permissions, in the rest of it; `./dev docs` writes it.
"""

from pathlib import Path

import vespe
from vespe.documents import strict_json
from vespe.tool_types import TYPES, type_of
from vespe.tools import permissions

PUBLISHED = Path(vespe.__file__).parent / "data" / "tool.schema.json"


def put_together() -> str:
    """Return the published schema with the types and the permissions that there are."""
    document = strict_json.read_object(str(PUBLISHED))
    definitions = document["$defs"]
    implementation = definitions["implementation"]
    for gone in {*implementation["properties"]["type"]["enum"]} - {*TYPES}:
        del definitions[gone]
    implementation["properties"]["type"]["enum"] = [*TYPES]
    implementation["allOf"] = [
        {
            "if": {"properties": {"type": {"const": name}}},
            "then": {"$ref": f"#/$defs/{name}"},
        }
        for name in TYPES
    ]
    for name in TYPES:
        definitions[name] = type_of(name).form()
    document["properties"]["permissions"] = permissions.schema()
    return strict_json.dump_json(document)


def main() -> None:
    """Write it."""
    PUBLISHED.write_text(put_together(), encoding="utf-8")


if __name__ == "__main__":
    main()
