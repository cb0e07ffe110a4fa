"""From a source to its kits, with real repositories: what is found, what is refused, and how little
is done on the way.
"""

import json
import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import gitrepo
from tests.support.gitrepo import git
from tests.support.ondisk import write_kit
from vespe.errors import InvalidDocument, NotFound, Refused
from vespe.files.entries import FILE, TreeEntry
from vespe.git.session import Session
from vespe.kits import archives, fetch, sources
from vespe.kits.entry_rules import KitTree
from vespe.kits.fetch import Fetched, FetchRequest
from vespe.kits.origins import CommitOrigin

GIT_ALONE = ("a hostile .gitmodules", "an empty name")
"""What only git sees: a wrong content, and a tree that it does not even list."""
TREES = json.loads((Path(__file__).parents[1] / "cases/git/trees.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def own_home(home: Path) -> Path:
    return home


def fetched(place: Path, source: Path, *, ref: str = "", **wanted: Any) -> Fetched:
    made = place / f"fetched-{len(list(place.glob('fetched-*')))}"
    made.mkdir()
    request = FetchRequest(source=sources.parse_source(f"{source}{ref}"), base="/", **wanted)
    return fetch.fetch(request, str(made))


def contents(got: Fetched) -> dict[str, dict[str, bytes]]:
    return {
        tree.kit_id: {entry.path: data for entry, data in tree.read(tree.entries)}
        for tree in got.kits
    }


def test_a_repository_gives_all_its_kits_or_those_that_are_named(tmp_path: Path) -> None:
    source = gitrepo.published(tmp_path / "source", "rain", "sun")
    assert sorted(contents(fetched(tmp_path, source))) == ["rain", "sun"]
    assert sorted(contents(fetched(tmp_path, source, kit_ids=("sun",)))) == ["sun"]
    with pytest.raises(NotFound, match="no kit 'snow'"):
        fetched(tmp_path, source, kit_ids=("snow",))


def test_a_root_that_is_a_kit_is_that_kit_whatever_the_repository_is_called(tmp_path: Path) -> None:
    source = gitrepo.root_kit(tmp_path / "Some Name", "weather")
    got = fetched(tmp_path, source, ref="@v1")
    assert sorted(contents(got)["weather"]) == [
        "kit_config.json",
        *(f"tool-weather/{n}" for n in ("config.json", "description.md", "main.py")),
    ]
    assert got.commit == git(source, "rev-parse", "v1^{commit}")


def test_kits_are_found_beneath_a_subdirectory(tmp_path: Path) -> None:
    source = gitrepo.published(tmp_path / "source")
    write_kit(source / "deep" / "er", "rain")
    gitrepo.commit(source)
    assert sorted(contents(fetched(tmp_path, source, subdirectory="deep/er"))) == ["rain"]
    assert (
        fetched(tmp_path, source, subdirectory="deep/er/rain").kits[0].subdirectory
        == "deep/er/rain"
    )
    with pytest.raises(NotFound, match="no directory 'nowhere'"):
        fetched(tmp_path, source, subdirectory="nowhere")


@pytest.mark.parametrize("ref", ["@v1", "@main", "@signed", ""])
def test_a_ref_is_a_tag_a_branch_an_annotated_tag_or_the_default(ref: str, tmp_path: Path) -> None:
    source = gitrepo.published(tmp_path / "source")
    git(source, "tag", "-a", "signed", "-m", "annotated")
    assert fetched(tmp_path, source, ref=ref).commit == git(source, "rev-parse", "HEAD")


def test_a_tag_goes_before_a_branch_of_its_name(tmp_path: Path) -> None:
    source = gitrepo.published(tmp_path / "source")
    git(source, "branch", "v2")
    tagged = gitrepo.commit(source)
    git(source, "tag", "v2")
    assert fetched(tmp_path, source, ref="@v2").commit == tagged


def test_a_commit_that_no_ref_names_any_more_is_still_fetched_where_the_source_has_it(
    tmp_path: Path,
) -> None:
    source = gitrepo.published(tmp_path / "source")
    old = git(source, "rev-parse", "HEAD")
    git(source, "commit", "--quiet", "--amend", "-m", "forced")
    git(source, "tag", "-d", "v1")
    assert fetched(tmp_path, source, ref=f"@{old}").commit == old


def test_a_repository_of_sha256_is_read_too(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    git(source, "init", "--quiet", "--object-format=sha256", "-b", "main")
    write_kit(source, "rain")
    commit = gitrepo.commit(source)
    got = fetched(tmp_path, source)
    assert got.commit == commit and len(commit) == 64 and "kit_config.json" in contents(got)["rain"]


@pytest.mark.parametrize(
    ("ref", "said"), [("@v9", "neither a tag nor a branch"), (f"@{'1' * 40}", "not our ref")]
)
def test_what_the_source_does_not_have_is_not_found(ref: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=said):
        fetched(tmp_path, gitrepo.published(tmp_path / "source"), ref=ref)


def test_an_empty_repository_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no commits yet"):
        fetched(tmp_path, gitrepo.repository(tmp_path / "source"))


def test_a_place_without_kits_says_what_a_kit_is(tmp_path: Path) -> None:
    source = gitrepo.repository(tmp_path / "source")
    gitrepo.commit(source)
    for place in (source, tmp_path):
        with pytest.raises(NotFound, match="contains no kit"):
            fetched(tmp_path, place)


@pytest.mark.parametrize(
    "config", ["{", '{"kit_id": "other"}', '{"kit_id": "Rain"}', "[]", '{"kit_id": 1}']
)
def test_a_kit_config_that_is_wrong_is_named_by_its_place(config: str, tmp_path: Path) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    (source / "rain" / "kit_config.json").write_text(config, encoding="utf-8")
    gitrepo.commit(source)
    with pytest.raises(InvalidDocument, match=r"source/rain/kit_config\.json"):
        fetched(tmp_path, source)


@pytest.mark.parametrize("row", TREES, ids=lambda row: str(row["name"]))
def test_p9_a_hostile_tree_is_refused_and_its_entry_named(
    row: dict[str, Any], tmp_path: Path, home: Path
) -> None:
    source = gitrepo.hostile(tmp_path / "source", row["entries"])
    with pytest.raises(Refused) as refused:
        fetched(tmp_path, source)
    assert row["says"] in str(refused.value)
    assert not list(home.rglob("passwd")) and not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "row", [row for row in TREES if row["name"] not in GIT_ALONE], ids=lambda row: str(row["name"])
)
def test_p9_our_own_rules_refuse_a_hostile_tree_without_git_s(
    row: dict[str, Any], tmp_path: Path
) -> None:
    source = gitrepo.hostile(tmp_path / "source", row["entries"])
    unchecked = Session(directory=str(source / ".git"), what="the kit", kind="path")
    with pytest.raises(Refused):
        CommitOrigin(session=unchecked, commit="main").tree("", "hostile")


def test_p9_what_stands_beside_a_kit_is_not_the_kit_s(tmp_path: Path) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    (source / "leak").symlink_to("/etc/passwd")
    gitrepo.commit(source)
    assert all(
        b"root:" not in data for data in contents(fetched(tmp_path, source))["rain"].values()
    )


def test_p10_a_tree_bomb_is_left_at_its_bound(tmp_path: Path) -> None:
    source = gitrepo.repository(tmp_path / "source")
    identity = gitrepo.blob(source, b"x")
    rows = [("100644", f"f{n}".encode(), identity) for n in range(10)]
    for _ in range(7):
        tree = gitrepo.raw_tree(source, rows)
        rows = [("40000", f"d{n}".encode(), tree) for n in range(10)]
    config = gitrepo.blob(source, b'{"kit_id": "bomb"}')
    gitrepo.commit_tree(
        source, gitrepo.raw_tree(source, [*rows, ("100644", b"kit_config.json", config)])
    )
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(Refused, match="more than"):
        fetched(tmp_path, source)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024
    assert time.monotonic() - began < 30


def test_p10_kits_that_are_small_each_and_many_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "kits"
    for kit_id in ("one", "two", "three"):
        write_kit(source, kit_id)
    monkeypatch.setattr(fetch, "MAX_ENTRIES", 2)
    with pytest.raises(Refused, match="more than 2 files in total") as refused:
        fetched(tmp_path, source)
    assert (
        "--kit" in refused.value.hint
        and len(fetched(tmp_path, source, kit_ids=("one", "two")).kits) == 2
    )


def test_p10_zeros_that_cost_nothing_to_send_are_refused_by_their_size(tmp_path: Path) -> None:
    source = gitrepo.repository(tmp_path / "source")
    gitrepo.git(source, "config", "core.compression", "1")
    with open(source / "zeros", "wb") as stream:
        stream.truncate(96 << 20)
    (source / "kit_config.json").write_text('{"kit_id": "zeros"}', encoding="utf-8")
    gitrepo.commit(source)
    os.unlink(source / "zeros")
    with pytest.raises(Refused, match="'zeros' of 100663296 bytes"):
        fetched(tmp_path, source)


def test_a_folder_that_is_no_repository_has_no_commit_and_no_refs(tmp_path: Path) -> None:
    write_kit(tmp_path / "plain", "rain")
    got = fetched(tmp_path, tmp_path / "plain")
    assert got.commit is None and sorted(contents(got)) == ["rain"]
    with pytest.raises(NotFound, match="not a git repository"):
        fetched(tmp_path, tmp_path / "plain", ref="@v1")


def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no"):
        fetched(tmp_path, tmp_path / "nowhere")


@pytest.mark.parametrize(
    "subdirectory",
    json.loads(
        (Path(__file__).parents[1] / "cases/git/subdirectories.json").read_text(encoding="utf-8")
    ),
)
def test_p8_no_subdirectory_leads_out(subdirectory: str, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        fetched(tmp_path, tmp_path, subdirectory=subdirectory)


NO_IDS = (
    "",
    ".",
    "..",
    "../../../../escaped",
    "/",
    "/tmp/escaped",
    "a/b",
    "x/..",
    "a\\b",
    "UPPER",
    "a b",
    "a\n",
    "a\0",
    "-a",
    "_a",
    "\xe9",
    "a" * 65,
    None,
    1,
)


@pytest.mark.parametrize("kit_id", NO_IDS)
def test_p13_an_archive_s_kit_id_is_held_to_the_rules_before_it_is_a_path(
    kit_id: Any, tmp_path: Path
) -> None:
    config = json.dumps({"kit_id": kit_id}).encode()
    entry = TreeEntry(path="kit_config.json", mode=FILE, size=len(config))
    (tmp_path / "hostile.kit").write_bytes(
        archives.pack(
            KitTree(
                kit_id="x",
                subdirectory="",
                entries=(entry,),
                read=lambda _: iter([(entry, config)]),
            )
        )
    )
    with pytest.raises(InvalidDocument, match="kit_id"):
        fetched(tmp_path, tmp_path / "hostile.kit")
    assert not list(tmp_path.rglob("*escaped*"))


def test_p9_a_statement_of_the_wrong_form_is_refused_in_an_archive_too(tmp_path: Path) -> None:
    config = b'{"kit_id": "web", "allow_types": "python_script"}'
    entry = TreeEntry(path="kit_config.json", mode=FILE, size=len(config))
    (tmp_path / "web.kit").write_bytes(
        archives.pack(
            KitTree(
                kit_id="web",
                subdirectory="",
                entries=(entry,),
                read=lambda _: iter([(entry, config)]),
            )
        )
    )
    with pytest.raises(InvalidDocument, match="must be a list"):
        fetched(tmp_path, tmp_path / "web.kit")


def test_a_repository_whose_kits_are_one_level_down_says_where_they_are(tmp_path: Path) -> None:
    mono = gitrepo.repository(tmp_path / "mono")
    for kit_id in ("rain", "sun"):
        write_kit(mono / "kits", kit_id)
    write_kit(mono / "more", "snow")
    gitrepo.commit(mono)
    with pytest.raises(NotFound) as raised:
        fetched(tmp_path, mono)
    assert (
        raised.value.hint
        == "it has kits one level down: --subdir kits (rain, sun); --subdir more (snow)"
    )
    assert sorted(contents(fetched(tmp_path, mono, subdirectory="kits"))) == ["rain", "sun"]
