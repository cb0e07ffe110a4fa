"""What is shown of a tool before it is approved: on stderr, inert and untruncated, since it is what the question is about."""

from typing import TYPE_CHECKING

from vespe.cli import report
from vespe.models import JsonObject

if TYPE_CHECKING:
    from vespe.trust.review import ToolReview


def document_of(tool: "ToolReview") -> JsonObject:
    """Return one reviewed tool as `trust --json` prints it."""
    return {
        "uid": tool.uid,
        "name": tool.name,
        "type": tool.type,
        "runs": list(tool.runs),
        "implementation": tool.implementation,
        "secrets": list(tool.secrets),
        "hosts": list(tool.hosts),
        "files": list(tool.files),
        "problems": list(tool.problems),
    }


def show(tool: "ToolReview", *, place: str | None = None) -> None:
    """Print one reviewed tool; `place` is where it can be read, by default where it was read."""
    report.say(text_of(tool, place=place or tool.directory))


def text_of(tool: "ToolReview", *, place: str) -> str:
    """Return what `show` prints of one tool; many of them printed as one text cost less. `place` "" is not told."""
    kind = report.one_line(tool.type or "no implementation of its own")
    lines = [
        f"\n{report.one_line(tool.name or tool.uid)}  ({kind})",
        f"  runs     {report.json_line(list(tool.runs)) if tool.runs else '-'}",
    ]
    for key, value in sorted(tool.implementation.items()):
        if key not in ("type", "path", "entrypoint"):
            lines.append(f"  {report.one_line(key):<8} {report.json_line(value)}")
    for label, values in (("secrets", tool.secrets), ("hosts", tool.hosts), ("problems", tool.problems)):
        if values:
            lines.append(f"  {label:<8} {report.one_line(', '.join(values))}")
    lines.append(f"  files    {report.one_line(', '.join(tool.files))}")
    if place:
        lines.append(f"  read it  {report.one_line(place)}")
    return "\n".join(lines)
