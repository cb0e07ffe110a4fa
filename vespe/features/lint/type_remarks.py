"""What a type of tools says itself of a tool of it, as what a rule finds."""

from collections.abc import Iterator

from vespe.features.lint.base import Found, Subject
from vespe.features.lint.remembered import for_last
from vespe.tool_types import Remark, type_in


def remarks_of(subject: Subject, code: str) -> Iterator[Found]:
    """Yield what the type of one of Vespe's own tools has to say under the code of a rule."""
    for remark in _remarks(subject):
        if remark.code == code:
            yield Found(message=remark.message, pointer=remark.pointer, fix=remark.fix)


@for_last
def _remarks(subject: Subject) -> list[Remark]:
    document = subject.document
    if subject.api != "vespe" or not isinstance(document, dict):
        return []
    kind = type_in(document.get("implementation_details"))
    return [] if kind is None else [*kind.lint(document, subject.input_schema)]
