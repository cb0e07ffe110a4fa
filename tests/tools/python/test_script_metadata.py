"""PEP 723 blocks as people write them, and as they should not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.errors import InvalidDocument
from vespe.tools.python.script_metadata import Metadata, python_satisfies, read_metadata

BLOCK = (
    b"#!/usr/bin/env python\n# /// script\n# requires-python = '>=3.11'\n# dependencies = "
    b"[\n#   'b>=2',\n#   'a',\n# ]\n# ///\nimport a\n"
)


def test_a_block_says_the_python_and_the_dependencies_in_order() -> None:
    assert read_metadata(BLOCK) == Metadata(requires_python=">=3.11", dependencies=("a", "b>=2"))


@pytest.mark.parametrize(
    "source",
    [
        b"import a",
        b"",
        b"# /// script\n# dependencies = ['a']\nprint()\n# ///\n",
        b"# /// other\n# x = 1\n# ///\n",
        b"text = '# /// script'\n",
        b"# /// script\n# ///\n",
        b"# /// script\n#no space\n# ///\n",
    ],
)
def test_a_source_without_a_whole_block_needs_nothing(source: bytes) -> None:
    assert read_metadata(source) == Metadata()


def test_a_block_ends_at_the_last_closing_line_of_its_comment() -> None:
    source = (
        b"# /// script\n# dependencies = ['a']\n# [tool.x]\n# text = '''\n# ///\n# '''\n# ///\n"
    )
    assert read_metadata(source).dependencies == ("a",)


@pytest.mark.parametrize(
    ("source", "said", "line"),
    [
        (BLOCK + BLOCK, "two `# /// script` blocks", 11),
        (b"\n# /// script\n# dependencies = [\n# ///\n", "no TOML", 2),
        (b"# /// script\n# dependencies = 'a'\n# ///\n", "not a list of strings", 1),
        (b"# /// script\n# dependencies = [1]\n# ///\n", "not a list of strings", 1),
        (b"# /// script\n# requires-python = 3\n# ///\n", "not a string", 1),
        (
            b"# /// script\n# dependencies = ['--index-url=http://x']\n# ///\n",
            "names no distribution",
            1,
        ),
        (b"# /// script\n# dependencies = ['/etc/passwd']\n# ///\n", "names no distribution", 1),
        (b'# /// script\n# dependencies = ["a\\u001b[2K"]\n# ///\n', "names no distribution", 1),
    ],
)
def test_a_wrong_block_is_a_sentence_with_its_line(source: bytes, said: str, line: int) -> None:
    with pytest.raises(InvalidDocument, match=said) as caught:
        read_metadata(source, path="main.py")
    assert (caught.value.path, caught.value.line) == ("main.py", line)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["# /// script", "# ///", "#", "# x = 1", "# dependencies = ['a']", "print()", ""]
        )
    )
)
def test_any_lines_are_metadata_or_a_sentence(lines: list[str]) -> None:
    try:
        assert read_metadata("\n".join(lines).encode()).dependencies in ((), ("a",))
    except InvalidDocument as error:
        assert error.line > 0


@pytest.mark.parametrize(
    ("specifier", "expected"),
    [
        ("", True),
        (">=3.11", True),
        (">=3.11,<3.12", True),
        (" >= 3.11 , != 3.12 ", True),
        ("==3.11.*", True),
        ("!=3.11.*", False),
        ("==3.11.7", True),
        ("==3.11", False),
        ("!=3.11", True),
        (">3.11.7", False),
        (">3.11", True),
        ("<=3.11.7", True),
        ("<=3.11", False),
        (">=3.12", False),
        ("<3", False),
        (">=3,<4", True),
        ("~=3.11", True),
        ("~=3.12", False),
        ("~=3.11.0, !=3.11.7", False),
        (">=3.11.*", None),
        (">=3.11rc1", True),
        ("nonsense", None),
    ],
)
def test_a_specifier_is_read_as_pip_reads_it_and_what_is_none_is_left_to_pip(
    specifier: str, expected: bool | None
) -> None:
    assert python_satisfies(specifier, (3, 11, 7)) is expected
