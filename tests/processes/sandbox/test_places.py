"""Where stated paths lead: links within the project hold, and no other is followed."""

from pathlib import Path

import pytest

from vespe.models import Permissions
from vespe.processes.sandbox.places import Places, find_leads, make_written
from vespe.processes.sandbox.protected import find_protected


@pytest.fixture
def places(home: Path, tmp_path: Path) -> Places:
    for name in ("project/docs/in", "project/.git/hooks", "elsewhere/back", "home/.ssh"):
        (tmp_path / name).mkdir(parents=True)
    for name, target in (
        ("project/within", "docs/in"),
        ("project/absolute", tmp_path / "project/docs"),
        ("project/out", tmp_path / "elsewhere"),
        ("project/twice", "out"),
        ("project/gone", tmp_path / "nowhere"),
        ("project/hooks", ".git/hooks"),
        ("project/.hg", tmp_path / "elsewhere"),
        ("project/docs/keys", home / ".ssh"),
        ("elsewhere/back/docs", tmp_path / "project/docs"),
        ("other", tmp_path / "elsewhere"),
        ("same", tmp_path / "project"),
        ("keys", home / ".ssh"),
    ):
        (tmp_path / name).symlink_to(target)
    return Places(str(tmp_path / "project"), find_protected(()))


@pytest.mark.parametrize(
    ("stated", "opens"),
    [
        ("docs", "project/docs"),
        ("within", "project/docs/in"),
        ("absolute/in", "project/docs/in"),
        ("out/back/docs", "project/docs"),
        ("out/../docs", "project/docs"),
        ("../other/back", "elsewhere/back"),
        ("BASE/project/within", "project/docs/in"),
        ("BASE/same/within", "project/docs/in"),
        ("~/.ssh", "home/.ssh"),
        (".git/hooks", "project/.git/hooks"),
        ("not/there", "project/not/there"),
        ("out", ""),
        ("twice", ""),
        ("gone", ""),
        ("out/back", ""),
        ("BASE/project/out", ""),
        ("BASE/same/out", ""),
        ("hooks", ""),
        (".hg", ""),
        ("docs/keys", ""),
        ("../keys", ""),
    ],
)
def test_a_link_is_followed_within_the_project_and_out_of_it_by_name_alone(
    places: Places, tmp_path: Path, stated: str, opens: str
) -> None:
    found = places.find(stated.replace("BASE", str(tmp_path)))
    assert found.path == (str(tmp_path / opens) if opens else "")
    assert bool(found.leads) is not bool(opens)


def test_the_protected_place_is_named_by_its_own_name_where_that_is_a_link(
    home: Path, tmp_path: Path
) -> None:
    (home / "dots/ssh").mkdir(parents=True)
    (home / ".ssh").symlink_to(home / "dots/ssh")
    (home / "shared").symlink_to(home / "dots/ssh")
    places = Places(str(tmp_path), find_protected(()))
    assert places.find("~/.ssh").path == str(home / "dots/ssh")
    assert places.find("~/shared").path == ""


def test_what_leads_out_is_told_unless_another_path_opens_it(places: Places) -> None:
    def told(*read: str) -> list[str]:
        return [one.stated for one in find_leads(places.root, Permissions(read=read))]

    assert told("docs", "within", "out", "hooks") == ["out", "hooks"]
    assert told("out", "../elsewhere") == []
    assert told("docs/keys", "~") == ["docs/keys"]


def test_what_is_to_be_written_is_made_through_no_link(places: Places, tmp_path: Path) -> None:
    make_written(places, "docs/a/b/", as_directory=False, beside=())
    make_written(places, "later/", as_directory=False, beside=[places.root])
    make_written(places, "by-a-kit", as_directory=True, beside=())
    made = [tmp_path / "project" / name for name in ("docs/a/b", "docs/a", "later", "by-a-kit")]
    assert [one.stat().st_mode & 0o777 for one in made] == 4 * [0o700]
    for stated in ("out/new/", "gone/", ".jj/", "plain"):
        make_written(places, stated, as_directory=False, beside=[places.root])
    assert not any(
        (tmp_path / name).exists()
        for name in ("elsewhere/new", "nowhere", "project/.jj", "project/plain")
    )
    with pytest.raises(FileNotFoundError):
        make_written(places, "plain", as_directory=False, beside=())
    with pytest.raises(PermissionError, match="protected"):
        make_written(places, "~/.aws/", as_directory=False, beside=())
