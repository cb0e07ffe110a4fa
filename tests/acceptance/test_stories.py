"""Some stories of `stories.py`, played on every run of the tests; all of them:
`python -m tests.acceptance.stories`.
"""

import pytest

from tests.acceptance import stories


@pytest.mark.parametrize("number", [5, 22, 36])
def test_a_quick_story_is_played_to_its_end(number: int) -> None:
    stories.play(number)


def test_every_story_is_played() -> None:
    assert sorted(stories.STORIES) == [*range(1, 37)] and len(stories.PLAYS) == 36


def test_a_story_that_ends_otherwise_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_a_project(stage: stories.Stage) -> None:
        """5 List what is not there."""
        stage.run("tool", "list")

    monkeypatch.setitem(stories.STORIES, 5, without_a_project)
    monkeypatch.setattr("sys.argv", ["stories", "--only", "5"])
    assert stories.main() == 1 and "FAILED" in capsys.readouterr().out
