"""Versions of kits and the steps between them."""

import pytest

from vespe.features.releases import versions
from vespe.features.releases.versions import Version
from vespe.kits.compared_versions import Comparison
from vespe.schemas.comparison.contracts import Change, Verdict


def compared(part: str, verdict: Verdict) -> list[Comparison]:
    change = Change(part=part, verdict=verdict, message="x")
    return [Comparison(tool="say", uid="tool-say", changes=(change,))]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1.2.3", Version(1, 2, 3)),
        ("0.0.0", Version(0, 0, 0)),
        *((wrong, None) for wrong in ("1.2", "v1.2.3", "01.2.3", "1.2.3-rc1", "1.2.3\n", "", 3)),
    ],
)
def test_a_version_is_three_numbers(text: object, read: Version | None) -> None:
    assert versions.read_version(text) == read


def test_the_latest_tag_is_the_highest_version_whatever_else_is_tagged() -> None:
    tags = ["v0.9.0", "v0.10.0", "v0.10.0-rc1", "nightly", "vivid", "1.0.0"]
    assert versions.latest(tags) == Version(0, 10, 0)
    assert versions.latest([]) is None


@pytest.mark.parametrize(
    ("part", "verdict", "below", "above"),
    [
        ("input", "breaking", "minor", "major"),
        ("tool", "compatible", "patch", "minor"),
        ("input", "unknown", "patch", "minor"),
        ("command", "unknown", "patch", "patch"),
        ("description", "compatible", "patch", "patch"),
    ],
)
def test_what_changed_says_how_large_the_step_must_be(
    part: str, verdict: Verdict, below: str, above: str
) -> None:
    found = compared(part, verdict)
    assert versions.required_bump(found, Version(0, 3, 1)) == below
    assert versions.required_bump(found, Version(1, 3, 1)) == above
    assert versions.required_bump([], Version(1, 3, 1)) == "patch"


def test_a_step_is_enough_from_the_needed_one_on() -> None:
    old = Version(1, 2, 3)
    assert [str(old.bumped(bump)) for bump in versions.BUMPS] == ["2.0.0", "1.3.0", "1.2.4"]
    assert versions.is_enough(old, Version(1, 3, 0), "minor")
    assert versions.is_enough(old, Version(2, 0, 0), "minor")
    assert not versions.is_enough(old, Version(1, 2, 9), "minor")
