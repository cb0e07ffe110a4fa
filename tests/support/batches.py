"""Projects with tools that batches call: what each call did stands in a file, one byte a call."""

from pathlib import Path

from tests.support.ondisk import python_tool

NUMBER = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "s": {"type": "number"}},
    "required": ["n"],
}
COUNTING = """import os, time
descriptor = os.open(NOTES, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
os.write(descriptor, f"{inputs['n']}\\n".encode())
os.close(descriptor)
time.sleep(inputs.get("s", 0))
return inputs["n"] * 2"""


def counting_tool(project: Path, name: str, *, read_only: bool) -> Path:
    """Write a tool that notes each call, and return the file of its notes."""
    notes = project / f"{name}.notes"
    body = COUNTING.replace("NOTES", repr(str(notes)))
    python_tool(
        project / f".vespe/tools/tool-{name}",
        name,
        body,
        schema=NUMBER,
        annotations={"readOnlyHint": read_only},
        permissions={"write": [str(project)]},
    )
    return notes


def calls_in(notes: Path) -> list[int]:
    """Return the numbers that were called, sorted."""
    return (
        sorted(int(line) for line in notes.read_text(encoding="utf-8").split())
        if notes.exists()
        else []
    )
