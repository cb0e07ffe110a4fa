"""The protocol of the shapes holds for every member of the table."""

from vespe.adapters import SHAPES
from vespe.adapters.base import ToolShape
from vespe.models import Tool


def test_every_shape_answers_to_the_protocol_and_its_own_name() -> None:
    tool = Tool(uid="tool-x", name="x", description="X.", input_schema={"type": "object"})
    shape: ToolShape
    for name, shape in SHAPES.items():
        assert shape.name == name
        assert shape.definition(tool)
