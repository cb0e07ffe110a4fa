"""Where kits come from: what is a source, and the many texts that are none."""

import json
from pathlib import Path

import pytest

from vespe.errors import Refused
from vespe.kits import sources

CASES = Path(__file__).parents[1] / "cases" / "git"
SOURCES = json.loads((CASES / "sources.json").read_text(encoding="utf-8"))
REFS = json.loads((CASES / "refs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", SOURCES, ids=ascii)
def test_p8_what_is_on_no_list_is_no_source(text: str) -> None:
    with pytest.raises(Refused) as refused:
        sources.parse_source(text)
    assert refused.value.hint


@pytest.mark.parametrize("ref", REFS, ids=lambda ref: ascii(ref)[:40])
def test_p8_what_is_no_plain_name_is_no_ref(ref: str) -> None:
    with pytest.raises(Refused):
        sources.check_ref(ref)


def test_the_tables_are_as_long_as_promised() -> None:
    assert len(SOURCES) + len(REFS) >= 40 and len(set(SOURCES)) == len(SOURCES)


@pytest.mark.parametrize(
    ("text", "kind", "kept", "ref"),
    [
        ("https://example.org/team/kit", "https", "https://example.org/team/kit", None),
        (
            "https://example.org:8443/kit.git@v1.2.0",
            "https",
            "https://example.org:8443/kit.git",
            "v1.2.0",
        ),
        ("https://git.sr.ht/~user/kit/", "https", "https://git.sr.ht/~user/kit", None),
        ("ssh://git@example.org/team/kit@main", "ssh", "ssh://git@example.org/team/kit", "main"),
        ("ssh://example.org:2222/kit", "ssh", "ssh://example.org:2222/kit", None),
        ("gh:owner/repo@v1", "https", "https://github.com/owner/repo", "v1"),
        ("/srv/kits/weather@v1", "path", "/srv/kits/weather", "v1"),
        ("./weather", "path", "./weather", None),
        ("../a@b/weather", "path", "../a@b/weather", None),
        (".", "path", ".", None),
        ("./weather.kit", "archive", "./weather.kit", None),
        ("./a b/é", "path", "./a b/é", None),
        (f"gh:owner/repo@{'a' * 40}", "https", "https://github.com/owner/repo", "a" * 40),
    ],
)
def test_a_source_is_its_kind_its_place_and_its_ref(
    text: str, kind: str, kept: str, ref: str | None
) -> None:
    source = sources.parse_source(text)
    assert (source.kind, source.text, source.ref) == (kind, kept, ref)


def test_a_branch_with_a_slash_is_a_ref() -> None:
    assert sources.check_ref("feature/rain") == "feature/rain"


def test_a_relative_path_begins_at_the_base() -> None:
    assert sources.parse_source("../kit").path("/srv/project") == "/srv/kit"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("git@github.com:owner/repo", "ssh://git@github.com/owner/repo"),
        ("http://example.org/kit", "use https"),
        ("https://user:secret@example.org/kit", "credential helper"),
    ],
)
def test_a_near_miss_is_told_what_to_write(text: str, hint: str) -> None:
    with pytest.raises(Refused) as refused:
        sources.parse_source(text)
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    "text",
    ["team_tools.kit", "dist/team-tools-1.0.kit", "./team_tools.kit", "/srv/kits/team_tools.kit"],
)
def test_an_archive_is_named_as_any_file_is(text: str) -> None:
    source = sources.parse_source(text)
    assert source.kind == "archive" and source.path("/base") == (
        text if text.startswith("/") else f"/base/{text.removeprefix('./')}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "ext::sh -c x.kit",
        "-x.kit",
        "--upload-pack=x.kit",
        "a:b.kit",
        "$HOME/x.kit",
        "x.kit;id",
        "fd::7/x.kit",
    ],
)
def test_what_only_ends_like_an_archive_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        sources.parse_source(text)
