"""One table of a TOML file: set and removed as text, everything else as it was."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.documents.toml import read_toml, with_table, without_table
from vespe.errors import InvalidDocument

VALUES: dict[str, str | list[str]] = {"command": "/bin/vespe", "args": ["mcp", "serve"]}
FILES = {
    "empty": "",
    "other settings": 'model = "x" # why\n\n[tools]\nweb = true\n',
    "other servers": '[mcp_servers.a]\ncommand = "a"\nargs = [\n  "[b]",\n]\n\n'
    '[mcp_servers.a.env]\nK = "1"\n',
    "crlf": 'model = "x"\r\n\r\n[mcp_servers.a]\r\ncommand = "a"\r\n',
    "a byte order mark": '\ufeffmodel = "x"\n',
    "a header within a text": 'note = """\n[mcp_servers.ours]\n"""\n',
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())
def test_a_table_comes_and_goes_and_the_rest_stays_as_it_was(text: str) -> None:
    added = with_table(text, "mcp_servers", "ours", values=VALUES)
    assert read_toml(added)["mcp_servers"]["ours"] == VALUES and added.startswith(text)
    assert without_table(added, "mcp_servers", "ours") == text
    assert with_table(added, "mcp_servers", "ours", values=VALUES) == added


def test_a_file_without_a_final_newline_gets_one() -> None:
    added = with_table('a = "b"', "mcp_servers", "ours", values=VALUES)
    assert added.startswith('a = "b"\n\n[mcp_servers.ours]\n')


def test_a_table_that_is_there_keeps_its_other_keys_and_its_comments() -> None:
    text = (
        '[mcp_servers.ours]\n# mine\nargs = [\n  "old",\n]\ncommand = "old"\n'
        "startup_timeout_sec = 20\n\n# next\n[b]\nc = 1\n"
    )
    changed = with_table(text, "mcp_servers", "ours", values=VALUES)
    assert tomllib.loads(changed)["mcp_servers"]["ours"] == {**VALUES, "startup_timeout_sec": 20}
    assert "# mine" in changed and changed.endswith("\n\n# next\n[b]\nc = 1\n")


def test_removing_takes_the_tables_beneath_too_and_leaves_what_follows() -> None:
    text = (
        'a = 1\n\n[mcp_servers."ours"]\ncommand = "x"\n\n[mcp_servers.ours.env]\nK = "v"\n\n# '
        "next\n[b]\nc = 1\n"
    )
    assert without_table(text, "mcp_servers", "ours") == "a = 1\n\n# next\n[b]\nc = 1\n"


def test_names_that_are_no_bare_keys_are_quoted() -> None:
    assert '[mcp_servers."a b"]' in with_table("", "mcp_servers", "a b", values=VALUES)


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { ours = { command = "x" }, b = {} } # why\n',
        'mcp_servers.ours.command = "x"\n',
        "[mcp_servers]\nours = {}\n",
    ],
)
def test_tables_of_every_form_are_set_and_taken_out(text: str) -> None:
    made = with_table(text, "mcp_servers", "ours", values=VALUES)
    assert read_toml(made)["mcp_servers"]["ours"] == VALUES and ("# why" in made) is (
        "# why" in text
    )
    assert "ours" not in without_table(made, "mcp_servers", "ours")
    more = with_table(text, "mcp_servers", "more", values=VALUES)
    assert read_toml(more)["mcp_servers"].keys() >= {"ours", "more"}


@pytest.mark.parametrize(
    "text", ["mcp_servers = 3\n", "[mcp_servers]\nours = 3\n", "[[mcp_servers]]\na = 1\n"]
)
def test_what_is_no_table_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(InvalidDocument, match="something other than tables"):
        with_table(text, "mcp_servers", "ours", values=VALUES)
    with pytest.raises(InvalidDocument, match="something other than tables"):
        without_table(text, "mcp_servers", "ours")


def test_line_ends_of_a_windows_file_stay_in_a_table_that_changes() -> None:
    made = with_table(
        'a = 1\r\n\r\n[mcp_servers.ours]\r\ncommand = "old"\r\n',
        "mcp_servers",
        "ours",
        values=VALUES,
    )
    assert made.count("\n") == made.count("\r\n") == 5


@given(
    before=st.sampled_from(
        ["", "a = 1\n", "# top\n\n", "[mcp_servers.a]\nx = 1\n\n", "mcp_servers.b.x = 1\n"]
    ),
    after=st.sampled_from(
        [
            "",
            "\n# next\n[z]\nc = 1\n",
            "[mcp_servers.c]\n",
            '\n\n[mcp_servers.c.env]\nK = "v"\n',
            "# end\n",
        ]
    ),
)
@settings(deadline=None, max_examples=25)
def test_what_stands_around_a_table_stays_when_it_goes(before: str, after: str) -> None:
    left = without_table(
        f'{before}[mcp_servers.ours]\ncommand = "x"\n{after}', "mcp_servers", "ours"
    )
    assert [line for line in left.splitlines() if line] == [
        line for line in (before + after).splitlines() if line
    ]


def test_broken_toml_is_told_with_its_line() -> None:
    with pytest.raises(InvalidDocument) as caught:
        with_table("a = 1\nb = = 2\n", "mcp_servers", "ours", values=VALUES, path="config.toml")
    assert caught.value.line == 2 and caught.value.path == "config.toml"


def test_a_table_of_variables_is_one_line_and_is_changed_in_its_place() -> None:
    env = {"A B": 'x"y', "C": "d"}
    added = with_table("# mine\n", "mcp_servers", "ours", values={**VALUES, "env": env})
    assert read_toml(added)["mcp_servers"]["ours"]["env"] == env
    assert added.count("\n[") == 1
    assert with_table(added, "mcp_servers", "ours", values={**VALUES, "env": env}) == added
    changed = with_table(added, "mcp_servers", "ours", values={"env": {"C": "e"}})
    assert read_toml(changed)["mcp_servers"]["ours"] == {**VALUES, "env": {"C": "e"}}
    assert changed.count("\n[") == 1
