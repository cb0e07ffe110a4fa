"""What `Project.batch` is made of: an Outcome for each input, in their order."""

from pathlib import Path

from vespe.features.batch.library import outcomes
from vespe.library.project import Project


def test_each_input_has_an_outcome_in_their_order(home: Path, tmp_path: Path) -> None:
    project = Project.init(tmp_path / "mine")
    tool = project.create_tool("count", type="python_script")
    inputs = [{"text": "a b c"}, {"text": "a"}]
    found = outcomes(tool, inputs, project.call_path(), on="local", jobs=2)
    assert [outcome.unwrap()["words"] for outcome in found] == [3, 1]
