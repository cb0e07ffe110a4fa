"""Tools as Gemini's Interactions takes them."""

import pytest

from tests.adapters.google_judges import complaint
from vespe.adapters.gemini_interactions import InteractionsShape
from vespe.errors import InvalidDocument
from vespe.models import Tool

TOOL = Tool(
    uid="",
    name="add",
    description="Add.",
    input_schema={"type": "object", "properties": {"a": {"type": "integer"}}},
)


def test_a_definition_is_one_that_googles_types_take_and_reads_back() -> None:
    made = InteractionsShape().definition(TOOL)
    assert complaint("tool", made) == "" and complaint("tool", made | {"icons": []})
    assert made["parameters"]["additionalProperties"] is False
    read = InteractionsShape().read(made | {"defer_loading": True})
    assert (read.name, read.description) == ("add", "Add.")
    assert InteractionsShape().definition(read) == made | {"defer_loading": True}


def test_a_tool_that_gemini_runs_itself_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="of type 'google_search'"):
        InteractionsShape().read({"type": "google_search"})
