"""What rules ask in turn of one subject is worked out once for it, and never told of another."""

from tests.features.lint.judging import subject
from vespe.features.lint.base import Subject
from vespe.features.lint.remembered import for_last


def test_the_answer_for_the_last_subject_alone_is_kept() -> None:
    asked: list[str | None] = []

    @for_last
    def name_of(given: Subject) -> str | None:
        asked.append(given.name)
        return given.name

    first, second = subject(name="a"), subject(name="b")
    assert [name_of(one) for one in (first, first, second, second, first)] == list("aabba")
    assert asked == ["a", "b", "a"]
