"""Kits on this machine: where they are found, which one counts, and what is said of those that do
not.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.errors import KitNotFound
from vespe.files import locations
from vespe.kits import roots
from vespe.models import Kit


@pytest.fixture(autouse=True)
def machine(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a user and a site root, and nothing in them."""
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "site"))
    monkeypatch.delenv("VESPE_KITS_PATH", raising=False)
    return tmp_path


@pytest.fixture
def shipped() -> Path:
    """The root of the kits that ship with Vespe."""
    directory = locations.shipped_kits_dir()
    assert directory is not None
    return Path(directory)


def kits(**options: Any) -> list[Kit]:
    """Find the kits that do not ship with Vespe."""
    return [kit for kit in roots.find_kits(**options) if kit.root_kind != "shipped"]


def found() -> list[tuple[str, str, str | None]]:
    return [(kit.kit_id, kit.root_kind, kit.problem) for kit in kits()]


def only() -> Kit:
    (kit,) = kits()
    return kit


def test_roots_come_in_their_order_and_a_root_named_twice_counts_once(
    machine: Path, home: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "link").symlink_to(machine / "a")
    monkeypatch.setenv(
        "VESPE_KITS_PATH",
        os.pathsep.join(
            [f"{machine}/a", "", f"{machine}/b/../b", f"{machine}/link", f"{machine}/a"]
        ),
    )
    assert roots.kit_roots() == [
        (f"{machine}/a", "env"),
        (f"{machine}/b", "env"),
        (f"{home}/data/vespe/links", "link"),
        (f"{home}/data/vespe/kits", "user"),
        (f"{machine}/site/vespe/kits", "site"),
        (str(shipped), "shipped"),
    ]


def test_the_environment_can_be_given(machine: Path) -> None:
    assert roots.kit_roots({"VESPE_KITS_PATH": str(machine)})[0] == (str(machine), "env")
    write_kit(machine / "k", "mine")
    assert (
        roots.find_kit("mine", environ={"VESPE_KITS_PATH": str(machine / "k")}).root_kind == "env"
    )


def test_the_first_root_wins_and_a_hidden_kit_says_what_hides_it(
    machine: Path, home: Path, shipped: Path
) -> None:
    both, *others = sorted(path.parent.name for path in shipped.glob("*/kit_config.json"))
    first = write_kit(home / "data/vespe/kits", both)
    write_kit(machine / "site/vespe/kits", both)
    assert [(kit.kit_id, kit.root_kind, kit.problem) for kit in roots.find_kits()] == [
        (both, "user", None),
        (both, "site", f"hidden by {first}"),
        (both, "shipped", f"hidden by {first}"),
        *((other, "shipped", None) for other in others),
    ]
    assert others and roots.find_kit(both).path == str(first)


def test_a_broken_kit_in_an_earlier_root_still_hides_the_later_one(
    machine: Path, home: Path
) -> None:
    (write_kit(home / "data/vespe/kits", "both") / "kit_config.json").write_text(
        "{", encoding="utf-8"
    )
    write_kit(machine / "site/vespe/kits", "both")
    assert "is not JSON" in str(roots.find_kit("both").problem)
    assert [kit.problem is not None for kit in kits()] == [True, True]


def test_a_kit_carries_what_its_file_says_and_how_many_tools_it_has(home: Path) -> None:
    directory = write_kit(
        home / "data/vespe/kits", "mine", homepage="https://example.org", x_future=1
    )
    python_tool(directory / "tool-a", "a", "return 1")
    python_tool(directory / "tool-b", "b", "return 1")
    (directory / "tool-empty").mkdir()
    (directory / "tool-file").write_text("", encoding="utf-8")
    (directory / "assets").mkdir()
    kit = only()
    assert (kit.name, kit.description, kit.version, kit.tools, kit.problem) == (
        "mine",
        "A kit for a test.",
        "1.0.0",
        2,
        None,
    )
    assert kit.document["x_future"] == 1 and roots.find_kit("mine") == kit
    assert kits(count_tools=False)[0].tools == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not JSON"),
        ("[]", "must be a JSON object"),
        ('{"name": "x"}', "at /kit_id"),
        (
            '{"kit_id": "other"}',
            'must be "mine", the name of its directory, not "other" at /kit_id',
        ),
        ('{"kit_id": "mine", "version": 1}', "must be a string, not 1 at /version"),
        ('{"kit_id": "mine", "kit_id": "mine"}', "twice"),
    ],
)
def test_a_broken_kit_is_listed_with_its_reason(home: Path, text: str, reason: str) -> None:
    (write_kit(home / "data/vespe/kits", "mine") / "kit_config.json").write_text(
        text, encoding="utf-8"
    )
    write_kit(home / "data/vespe/kits", "whole")
    broken, whole = kits()
    assert reason in str(broken.problem) and str(broken.path) in str(broken.problem)
    assert whole.problem is None


@pytest.mark.parametrize(
    "name", ["Upper", "with-dash", "_first", "ü", "x" * 65, "project_tools", "active_kits"]
)
def test_p13_a_directory_whose_name_is_no_kit_id_is_listed_as_broken(home: Path, name: str) -> None:
    write_kit(home / "data/vespe/kits", name)
    assert "is not a kit id" in str(only().problem)


def test_p48_odd_files_in_the_place_of_a_kit_never_block_or_hide_others(home: Path) -> None:
    root = home / "data/vespe/kits"
    os.mkfifo(write_kit(root, "a_fifo") / "fifo")
    (root / "a_fifo/kit_config.json").unlink()
    os.mkfifo(root / "a_fifo/kit_config.json")
    (root / "a_loop").symlink_to("a_loop")
    (root / "a_directory/kit_config.json").mkdir(parents=True)
    (root / "a_file").write_text("", encoding="utf-8")
    (root / ".hidden").mkdir()
    (root / "no_kit").mkdir()
    write_kit(root, "whole")
    assert [(kit_id, problem is None) for kit_id, _, problem in found()] == [
        ("a_directory", False),
        ("a_fifo", False),
        ("whole", True),
    ]


def test_a_kit_under_development_may_be_a_link_in_the_users_root(home: Path, machine: Path) -> None:
    directory = write_kit(machine / "elsewhere", "mine")
    (home / "data/vespe/kits").mkdir(parents=True)
    (home / "data/vespe/kits/mine").symlink_to(directory)
    assert (only().problem, only().path) == (None, f"{home}/data/vespe/kits/mine")


def test_an_unknown_kit_names_the_nearest(home: Path) -> None:
    write_kit(home / "data/vespe/kits", "sourdough_bread")
    with pytest.raises(KitNotFound, match="sourdough_braed") as caught:
        roots.find_kit("sourdough_braed")
    assert caught.value.close == ("sourdough_bread",) and "sourdough_bread" in caught.value.hint


@pytest.mark.parametrize(
    "kit_id", ["", ".", "..", "../mine", "mine/", "/etc", "mine\n", "mine\0", "MINE"]
)
def test_p13_a_hostile_id_is_never_a_path(home: Path, kit_id: str) -> None:
    write_kit(home / "data/vespe/kits", "mine")
    with pytest.raises(KitNotFound):
        roots.find_kit(kit_id)


@pytest.mark.parametrize(("mode", "used"), [(0o777, False), (0o755, True)])
@pytest.mark.parametrize("which", ["kits", "kits/any"])
def test_a_kit_that_others_could_have_put_there_is_not_used(
    which: str, mode: int, used: bool, home: Path
) -> None:
    write_kit(home / "data/vespe/kits", "any")
    (home / "data/vespe" / which).chmod(mode)
    assert (only().problem is None) is used and (
        "can be written by everybody" in str(only().problem)
    ) is not used


@pytest.mark.parametrize(("mode", "used"), [(0o777, False), (0o755, True)])
def test_a_link_that_others_could_have_put_there_is_not_used(
    mode: int, used: bool, home: Path, tmp_path: Path
) -> None:
    write_kit(tmp_path / "mine", "any")
    (home / "data/vespe/links").mkdir(parents=True)
    (home / "data/vespe/links/any").symlink_to(tmp_path / "mine/any")
    (home / "data/vespe/links").chmod(mode)
    assert (only().problem is None) is used


def test_a_relative_directory_is_no_root_since_every_project_could_have_it(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_kit(machine / "kits", "theirs")
    write_kit(machine / "mine", "own")
    monkeypatch.chdir(machine)
    monkeypatch.setenv("VESPE_KITS_PATH", f"kits{os.pathsep}./kits{os.pathsep}{machine}/mine")
    assert found() == [("own", "env", None)]
