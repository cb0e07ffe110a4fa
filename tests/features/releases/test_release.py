"""Which version a release is to be, and what it writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.features.releases.released import changed, kit_in_git, shorten
from tests.support import gitrepo
from vespe.errors import InvalidDocument, InvalidTool, Refused, UsageError
from vespe.features.releases import release
from vespe.features.releases.release import Release, Wanted
from vespe.git.author_repository import opened_repository


@pytest.fixture
def kit(home: Path, tmp_path: Path) -> Path:
    return kit_in_git(tmp_path / "mine")


def planned(kit: Path, bump: Wanted = None) -> Release:
    directory, document = release.kit_of(str(kit))
    with opened_repository(directory) as repository:
        return release.planned(repository, document, bump=bump, sign=False)


def reversioned(kit: Path, version: str) -> None:
    path = kit / "kit_config.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document | {"version": version}, indent=2), encoding="utf-8")
    gitrepo.commit(kit)


def test_the_first_release_is_of_the_version_that_the_kit_has(kit: Path) -> None:
    plan = planned(kit)
    assert (plan.previous, str(plan.version), plan.tag) == (None, "0.1.0", "v0.1.0")
    assert list(plan.files) == ["CHANGELOG.md"]
    assert plan.files["CHANGELOG.md"].decode().endswith("\n\n- `say` is new\n")
    assert planned(kit, "major").version == (1, 0, 0)


def test_what_broke_callers_asks_for_a_larger_step_and_shows_why(kit: Path) -> None:
    gitrepo.git(kit, "tag", "v0.1.0")
    changed(kit, shorten)
    plan = planned(kit)
    assert (str(plan.version), plan.needed) == ("0.2.0", "minor")
    assert sorted(plan.files) == ["CHANGELOG.md", "kit_config.json"]
    assert b"**Breaking:** `say`" in plan.files["CHANGELOG.md"]
    assert json.loads(plan.files["kit_config.json"])["version"] == "0.2.0"
    with pytest.raises(
        Refused, match=r"a breaking change requires a minor version.*aaaa"
    ) as caught:
        planned(kit, "patch")
    assert caught.value.hint == "`vespe kit release --bump minor` releases 0.2.0"
    gitrepo.git(kit, "tag", "v1.0.0", "HEAD~1")
    assert str(planned(kit).version) == "2.0.0"


def test_what_only_runs_otherwise_is_a_patch_and_a_new_tool_above_one_a_minor(kit: Path) -> None:
    gitrepo.git(kit, "tag", "v1.0.0")
    (kit / "README.md").write_text("Words.", encoding="utf-8")
    gitrepo.commit(kit)
    assert str(planned(kit).version) == "1.0.1"

    def runs(document: dict[str, Any]) -> None:
        document["implementation_details"]["entrypoint"] = ":"

    changed(kit, runs)
    assert str(planned(kit).version) == "1.0.1"
    gitrepo.git(kit, "mv", "tool-say", "tool-tell")
    other = kit / "tool-tell/config.json"
    text = other.read_text(encoding="utf-8").replace("tool-say", "tool-tell")
    gitrepo.git(kit, "checkout", "HEAD", "--", "tool-say")
    other.write_text(text.replace('"say"', '"tell"'), encoding="utf-8")
    gitrepo.commit(kit)
    assert str(planned(kit).version) == "1.1.0"


def test_a_version_that_the_author_has_raised_is_taken_if_it_is_enough(kit: Path) -> None:
    gitrepo.git(kit, "tag", "v1.0.0")
    reversioned(kit, "1.4.0")
    plan = planned(kit)
    assert str(plan.version) == "1.4.0" and list(plan.files) == ["CHANGELOG.md"]
    changed(kit, shorten)
    with pytest.raises(Refused, match=r"1\.4\.0 is too small a step from 1\.0\.0"):
        planned(kit)


def test_a_release_that_was_committed_and_not_tagged_is_only_tagged(kit: Path) -> None:
    first = planned(kit)
    for name, content in first.files.items():
        (kit / name).write_bytes(content)
    gitrepo.commit(kit)
    again = planned(kit)
    assert (again.tag, again.files) == ("v0.1.0", {})


def test_a_tool_that_was_broken_at_the_last_tag_does_not_stop_a_release(kit: Path) -> None:
    good = (kit / "tool-say/config.json").read_text(encoding="utf-8")
    (kit / "tool-say/config.json").write_text("{}", encoding="utf-8")
    gitrepo.commit(kit)
    gitrepo.git(kit, "tag", "v1.0.0")
    (kit / "tool-say/config.json").write_text(good, encoding="utf-8")
    gitrepo.commit(kit)
    plan = planned(kit)
    assert str(plan.version) == "1.1.0"
    (change,) = plan.compared[0].changes
    assert change.message == "cannot be compared, because it was broken at v1.0.0"
    gitrepo.git(kit, "tag", "v1.1.0")
    (kit / "tool-say/config.json").write_text("{}", encoding="utf-8")
    gitrepo.commit(kit)
    with pytest.raises(InvalidTool):
        planned(kit)


def test_nothing_new_and_a_tag_elsewhere_are_refused(kit: Path) -> None:
    gitrepo.git(kit, "tag", "v0.1.0")
    with pytest.raises(Refused, match=r"nothing changed in this kit since v0\.1\.0"):
        planned(kit)
    gitrepo.git(kit, "checkout", "--quiet", "-b", "other")
    gitrepo.commit(kit, "Elsewhere")
    gitrepo.git(kit, "tag", "v0.1.1")
    gitrepo.git(kit, "checkout", "--quiet", "main")
    (kit / "README.md").write_text("Words.", encoding="utf-8")
    gitrepo.commit(kit)
    with pytest.raises(Refused, match=r"the tag v0\.1\.1 already exists"):
        planned(kit)


def test_a_version_of_another_form_a_link_and_a_changelog_that_is_no_text_are_told(
    kit: Path,
) -> None:
    (kit / "CHANGELOG.md").write_bytes(b"\xff")
    gitrepo.commit(kit)
    with pytest.raises(InvalidDocument, match=r"CHANGELOG\.md"):
        planned(kit)
    (kit / "CHANGELOG.md").unlink()
    (kit / "CHANGELOG.md").symlink_to("kit_config.json")
    gitrepo.commit(kit)
    with pytest.raises(Refused, match="is a link"):
        planned(kit)
    reversioned(kit, "1.0-beta")
    with pytest.raises(UsageError, match=r"'1\.0-beta', which is not X\.Y\.Z"):
        planned(kit)


def test_every_other_byte_of_the_configuration_stays() -> None:
    text = '{"deep": {"version": "0.1.0"},\n\t"version" : "0.1.0", "x": 1}'
    document = json.loads(text)
    assert release.with_version(text, document, "2.0.0") == text.replace(
        '"version" : "0.1.0"', '"version" : "2.0.0"'
    )
    assert json.loads(release.with_version('{"a": 1}', {"a": 1}, "1.0.0")) == {
        "a": 1,
        "version": "1.0.0",
    }


def test_an_errors_fields_name_the_kit_itself_and_not_the_copy(kit: Path) -> None:
    with pytest.raises(InvalidTool) as caught, release.committed(str(kit)) as copy:
        raise InvalidTool("tool-say", [f"{copy}/run.sh is missing"], path=f"{copy}/tool-say")
    assert caught.value.problems == (f"{kit}/run.sh is missing",)
    assert "vespe-revision-" not in repr((vars(caught.value), caught.value.args))
