"""Where things are: XDG by its specification, and the project's root by walking up."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest

from tests.support.installs import copy_package
from vespe.errors import InvalidDocument, ProjectNotFound, Refused
from vespe.files import locations

linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="XDG is computed directly on Linux alone"
)
KINDS = ("data", "config", "state", "cache")


def ours(kind: str) -> str:
    return str(getattr(locations, f"user_{kind}_dir")())


@linux
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [None, "", "/else where", "/trailing/"])
def test_user_directories_agree_with_platformdirs(
    kind: str, value: str | None, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        f"XDG_{kind.upper()}_HOME", value
    ) if value is not None else monkeypatch.delenv(f"XDG_{kind.upper()}_HOME")
    theirs = getattr(platformdirs, f"user_{kind}_dir")("vespe", appauthor=False)
    assert os.path.normpath(ours(kind)) == os.path.normpath(theirs)


@linux
@pytest.mark.parametrize("value", [None, "", "/one:/two", "relative:/two"])
def test_site_directories_agree_with_platformdirs(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_DIRS", value) if value is not None else monkeypatch.delenv(
        "XDG_DATA_DIRS", raising=False
    )
    assert locations.site_data_dirs() == platformdirs.site_data_dir(
        "vespe", appauthor=False, multipath=True
    ).split(os.pathsep)


@linux
@pytest.mark.parametrize("kind", KINDS)
def test_a_relative_xdg_value_is_ignored_as_its_specification_says(
    kind: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", "here/below")
    assert ours(kind).startswith(f"{home}/.") and ours(kind).endswith("/vespe")


def test_other_systems_ask_platformdirs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert [ours(kind) for kind in KINDS] == [
        getattr(platformdirs, f"user_{kind}_dir")("vespe", appauthor=False) for kind in KINDS
    ]
    assert locations.site_data_dirs() == platformdirs.site_data_dir(
        "vespe", appauthor=False, multipath=True
    ).split(os.pathsep)


@linux
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("above", [False, True])
def test_p41c_a_directory_that_others_can_change_is_not_used(
    kind: str, above: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / "xdg"))
    assert ours(kind) == str(tmp_path / "xdg/vespe")  # it is not there yet
    monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / "open"))
    (tmp_path / "open/vespe").mkdir(parents=True)
    open_to_all = tmp_path / "open" / ("" if above else "vespe")
    open_to_all.chmod(0o777)
    with pytest.raises(Refused, match=rf"^{open_to_all} can be written by everybody"):
        ours(kind)
    open_to_all.chmod(0o755)
    assert ours(kind) == str(tmp_path / "open/vespe")


@linux
def test_a_place_where_nobody_can_remove_what_is_not_theirs_may_hold_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "tmp"))
    (tmp_path / "tmp/vespe").mkdir(parents=True)
    (tmp_path / "tmp").chmod(0o1777)
    assert ours("cache") == str(tmp_path / "tmp/vespe")


@linux
@pytest.mark.root
def test_p41c_a_directory_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "vespe").mkdir()
    os.chown(tmp_path / "vespe", 12345, 12345)
    with pytest.raises(Refused, match="belongs to another user") as caught:
        ours("state")
    assert caught.value.hint == "set HOME, or XDG_STATE_HOME, to a directory of your own"


@linux
@pytest.mark.parametrize("linked", ["vespe", "."])
def test_p41c_a_link_into_a_directory_that_others_can_write_is_not_used(
    linked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    shared = tmp_path / "shared"
    (shared / "own/vespe").mkdir(parents=True)
    if linked == "vespe":
        (tmp_path / "xdg").mkdir()
        (tmp_path / "xdg/vespe").symlink_to(shared / "own")
    else:
        (tmp_path / "xdg").symlink_to(shared / "own")
    shared.chmod(0o777)
    with pytest.raises(Refused, match=rf"^{shared} can be written by everybody") as caught:
        ours("config")
    assert caught.value.hint == f"`chmod go-w {shared}`"
    shared.chmod(0o755)
    assert ours("config") == str(tmp_path / "xdg/vespe")


@linux
def test_p41c_a_directory_that_was_not_there_is_looked_at_once_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert ours("state") == str(tmp_path / "vespe")
    (tmp_path / "vespe").mkdir()
    (tmp_path / "vespe").chmod(0o777)
    with pytest.raises(Refused, match="can be written by everybody"):
        ours("state")


@pytest.fixture
def someones() -> Iterator[Path]:
    """A home below /tmp for a user who has no entry in the list of users, and is in root's group;
    the test acts as this user.
    """
    place = Path(tempfile.mkdtemp())
    groups, group = os.getgroups(), os.getegid()
    os.setgroups([])
    os.setegid(0)
    os.chown(place, 54321, 0)
    os.seteuid(54321)
    try:
        yield place
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)
        shutil.rmtree(place)


@linux
@pytest.mark.root
def test_a_user_without_an_entry_uses_the_home_that_a_container_gives_to_roots_group(
    someones: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(someones))
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable)
    (someones / ".config/vespe").mkdir(parents=True)
    os.seteuid(0)
    for path in (someones, someones / ".config", someones / ".config/vespe"):
        os.chown(path, 0, 0)
        path.chmod(0o775)
    os.seteuid(54321)
    assert ours("config") == str(someones / ".config/vespe")
    os.seteuid(0)
    os.chown(someones, 1001, 0)  # as in images that are built for another number
    os.seteuid(54321)
    assert ours("state") == str(someones / ".local/state/vespe")


@linux
@pytest.mark.root
def test_p41c_a_home_that_everybody_can_write_is_not_used(
    someones: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(someones))
    for kind in KINDS:
        monkeypatch.delenv(f"XDG_{kind.upper()}_HOME")
    (someones / ".config/vespe").mkdir(parents=True)
    someones.chmod(0o777)
    for kind in KINDS:
        with pytest.raises(Refused, match=rf"^{someones} can be written by everybody") as caught:
            ours(kind)
        assert caught.value.hint == f"`chmod go-w {someones}`"
    for mode in (0o755, 0o1777, 0o700, 0o2775):
        someones.chmod(mode)
        assert ours("config") == str(someones / ".config/vespe")
    os.seteuid(0)
    os.chown(someones, 54321, 12345)  # for a group, as the images of Jupyter have it
    someones.chmod(0o2775)
    os.seteuid(54321)
    assert ours("state") == str(someones / ".local/state/vespe")


@linux
@pytest.mark.parametrize("value", [None, "", "not/absolute"])
def test_a_missing_home_falls_back_to_the_system_s_record_of_the_user(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", value) if value is not None else monkeypatch.delenv("HOME")
    assert ours("data") == pwd.getpwuid(os.getuid()).pw_dir + "/.local/share/vespe"


@linux
def test_a_user_without_any_home_gets_a_directory_that_does_not_exist(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    assert os.path.isabs(ours("data")) and not os.path.exists(ours("data"))


def test_listing_directories_loads_no_heavy_module() -> None:
    code = (
        "import sys; before = {*sys.modules}; from vespe.files import locations as l; "
        "l.user_data_dir(); l.site_data_dirs(); l.shipped_kits_dir(); "
        "print(*{*sys.modules} - before)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
        encoding="utf-8",
    )
    absent = {"pathlib", "tempfile", "subprocess"} | (
        {"platformdirs"} if sys.platform.startswith("linux") else set()
    )
    assert not absent & set(loaded.stdout.split())


def kit_below(directory: Path) -> Path:
    (directory / "kits" / "some").mkdir(parents=True)
    (directory / "kits" / "some" / "kit_config.json").write_text("{}", encoding="utf-8")
    return directory / "kits"


SHIPPED = "from vespe.files import locations; print(locations.shipped_kits_dir())"


def test_shipped_kits_are_inside_the_wheel_before_they_are_beside_the_package(
    tmp_path: Path,
) -> None:
    install = copy_package(tmp_path, without=["data/kits"])
    assert install.printed(SHIPPED) == "None"
    beside = kit_below(tmp_path)
    assert install.printed(SHIPPED) == str(beside)
    inside = kit_below(tmp_path / "vespe" / "data")
    assert install.printed(SHIPPED) == str(inside)


def test_a_kits_directory_without_a_kit_is_not_taken_for_ours(tmp_path: Path) -> None:
    install = copy_package(tmp_path, without=["data/kits"])
    (tmp_path / "kits" / "empty").mkdir(parents=True)
    assert install.printed(SHIPPED) == "None"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".vespe").mkdir(parents=True)
    (tmp_path / "work" / "a" / "b").mkdir(parents=True)
    return tmp_path / "work"


def test_a_project_is_found_from_a_directory_below_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "a" / "b")
    assert locations.find_project() == locations.find_project(root / "a") == str(root)


def test_the_nearest_project_wins(root: Path) -> None:
    (root / "a" / ".vespe").mkdir()
    assert locations.find_project(root / "a" / "b") == str(root / "a")


def test_the_option_comes_before_the_variable_and_the_variable_before_the_working_directory(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "other" / ".vespe").mkdir(parents=True)
    environ = {"VESPE_PROJECT": str(tmp_path / "other")}
    assert locations.find_project(root, environ=environ) == str(tmp_path / "other")
    assert locations.find_project(tmp_path, explicit=root, environ=environ) == str(root)
    assert locations.find_project(root, environ={"VESPE_PROJECT": ""}) == str(root)


def test_a_named_directory_that_does_not_exist_never_means_the_project_above_it(root: Path) -> None:
    with pytest.raises(ProjectNotFound, match=r"there is no directory .*typo"):
        locations.find_project(explicit=root / "typo")


def test_without_a_project_the_walk_stops_at_the_root_and_says_how_to_make_one(
    tmp_path: Path,
) -> None:
    with pytest.raises(ProjectNotFound) as caught:
        locations.find_project(tmp_path)
    assert caught.value.start == str(tmp_path) and "vespe init" in caught.value.hint


def test_a_file_called_vespe_is_no_project(root: Path) -> None:
    (root / "a" / ".vespe").write_text("", encoding="utf-8")
    assert locations.find_project(root / "a") == str(root)


def test_a_symbolic_link_in_the_place_of_the_project_is_refused(root: Path) -> None:
    (root / "a" / ".vespe").symlink_to(root / ".vespe")
    with pytest.raises(InvalidDocument, match="symbolic link"):
        locations.find_project(root / "a" / "b")


def test_a_working_directory_that_is_gone_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ProjectNotFound, match="working directory"):
        locations.find_project(environ={})
