"""An MCP server of one's own functions, which report how far they are and ask."""

import sys

import vespe
from vespe import Declined, PersonReply, ToolQuestion


async def load(rows: int) -> int:
    """Load rows."""
    vespe.report_message("info", {"rows": rows})
    for row in range(rows):
        vespe.report_progress(row + 1, rows, message="loading")
    try:
        answer = await vespe.aask("How many more?", {"type": "integer"})
    except Declined:
        return rows
    return rows + int(answer["answer"])


def reply(question: ToolQuestion) -> PersonReply:
    print(question.text, question.schema, file=sys.stderr)
    return PersonReply(action="accept", content={"answer": 2})


registry = vespe.ToolRegistry()
registered = registry.register(load)
if __name__ == "__main__":
    with vespe.answered_by(reply):
        vespe.serve_stdio(registry=registry)
