"""Write the form of `permissions` to data/tool.schema.json;
`python -m tests.support.render_permissions`.
"""

import json
from pathlib import Path
from typing import Final

import vespe
from vespe.tools import permissions

SCHEMA: Final = Path(vespe.__file__).parent / "data" / "tool.schema.json"


def render() -> str:
    """Return the schema of config.json with the form of `permissions` as it is now."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    schema["properties"]["permissions"] = permissions.schema()
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write it."""
    SCHEMA.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
