"""Docstrings in the three styles, and in the ways that people really write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.tools.python.docstrings import Docstring, parse

GOOGLE = """Copy a file.

    It keeps
    its mode.

    Args:
        source (str): Where it is.
        target (Path, optional): Where it goes,
            in full.

            A directory is made.
        mode (dict[str, Callable[[int], str]]): How:
            - safe
            - fast
        *rest: More files.
        **options: Anything else.

    Returns:
        int: How many bytes
        were copied.

    Raises:
        OSError: When the disk is full.

    Example:
        >>> copy("a", "b")
    """
NUMPY = """Copy a file.

    It keeps its mode.

    Parameters
    ----------
    source : str
        Where it is.
    target, mode : str, optional
        Where it goes,
        in full.

        A directory is made.
    **options
        Anything else.

    Returns
    -------
    count : int
        How many bytes.

    Notes
    -----
    Not for people.
    """
REST = """Copy a file.

    It keeps its mode.

    :param source: Where it is,
        in full.

        A file.
    :param str target: Where it goes
    :type target: str
    :keyword mode: How.
    :returns: How many bytes
        were copied.
    :rtype: int
    :raises OSError: never
    """


def test_google_sections_are_read() -> None:
    found = parse(GOOGLE)
    assert (found.summary, found.description, found.returns) == (
        "Copy a file.",
        "It keeps its mode.",
        "How many bytes were copied.",
    )
    assert found.parameters == {
        "source": "Where it is.",
        "target": "Where it goes, in full.\n\nA directory is made.",
        "mode": "How:\n- safe\n- fast",
        "rest": "More files.",
        "options": "Anything else.",
    }


def test_numpy_sections_are_read() -> None:
    found = parse(NUMPY)
    assert (found.text, found.returns) == ("Copy a file.\n\nIt keeps its mode.", "How many bytes.")
    assert found.parameters == {
        "source": "Where it is.",
        "target": "Where it goes, in full.\n\nA directory is made.",
        "mode": "Where it goes, in full.\n\nA directory is made.",
        "options": "Anything else.",
    }


def test_rest_fields_are_read() -> None:
    found = parse(REST)
    assert (found.text, found.returns) == (
        "Copy a file.\n\nIt keeps its mode.",
        "How many bytes were copied.",
    )
    assert found.parameters == {
        "source": "Where it is, in full.\n\nA file.",
        "target": "Where it goes",
        "mode": "How.",
    }


def test_no_docstring_says_nothing() -> None:
    assert parse(None) == parse("") == parse("  \n ") == Docstring()


def test_a_summary_may_take_several_lines() -> None:
    assert parse("Copy\na file.\n\nMore.") == Docstring(summary="Copy a file.", description="More.")


def test_notes_and_warnings_stay_since_a_model_should_know_them() -> None:
    assert (
        parse("Copy.\n\nWarning:\n    It overwrites.\n\nTodo:\n    Undo.").description
        == "Warning: It overwrites."
    )


def test_text_after_a_section_is_description_again() -> None:
    assert parse("Copy.\n\nArgs:\n    a: One.\n\nThe end.") == Docstring(
        summary="Copy.", description="The end.", parameters={"a": "One."}
    )


def test_a_word_with_a_colon_is_no_section() -> None:
    text = "Copy.\n\nNote: it is slow.\nThis: too.\n\nSteps:\n\nArgs:"
    assert parse(text).description == "Note: it is slow. This: too.\n\nSteps:\n\nArgs:"


def test_lists_and_code_keep_their_lines_and_prose_does_not() -> None:
    assert (
        parse("Copy.\n\none\ntwo\n\n- a\n- b\n\n    code\n    more").description
        == "one two\n\n- a\n- b\n\n    code\n    more"
    )


def test_rest_text_may_go_on_without_an_indent() -> None:
    assert parse(":param a: One\nand two.\n:param b: Three.\n\nEnd.") == Docstring(
        summary="End.", parameters={"a": "One and two.", "b": "Three."}
    )


def test_epytext_is_read_like_rest() -> None:
    assert parse("Copy.\n\n@param a: One.\n@return: The sum of it.").returns == "The sum of it."


def test_an_unknown_field_stays_in_the_text() -> None:
    assert (
        parse("See :func:`x` here.\n\n:note: it is slow").text
        == "See :func:`x` here.\n\n:note: it is slow"
    )


RETURNS = {
    "Returns: The sum of both.": "The sum of both.",
    "Returns:\n    int": "",
    "Returns:\n    The text of it: all.": "The text of it: all.",
    "Returns:\n    dict[str, int] | None: By name, all.": "By name, all.",
    "Yields:\n    One by one.": "One by one.",
    "Returns\n-------\nThe whole text.": "The whole text.",
    "Returns\n-------\nint": "",
    ":return: The sum,\n   whole.": "The sum, whole.",
    "Returns:\n    First one.\n\nReturns:\n    Second one.": "First one.",
}


@pytest.mark.parametrize(("text", "returns"), RETURNS.items())
def test_what_is_returned_is_found_without_its_type(text: str, returns: str) -> None:
    assert parse(f"Do it.\n\n{text}").returns == returns


def test_a_parameter_without_a_text_is_known_all_the_same() -> None:
    assert parse("Do it.\n\nArgs:\n    a:\n    b:\n        Below.").parameters == {
        "a": "",
        "b": "Below.",
    }


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [*GOOGLE.split("\n"), *NUMPY.split("\n"), *REST.split("\n"), ":", "\t", "x\x00"]
        ),
        max_size=20,
    )
)
def test_any_mixture_of_lines_is_read(lines: list[str]) -> None:
    found = parse("\n".join(lines))
    assert all(name and not name.startswith("*") for name in found.parameters)
