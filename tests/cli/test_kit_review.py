"""What the verbs that install kits show and print."""

import pytest

from vespe.cli import kit_review
from vespe.kit_lock import LockedKit
from vespe.kit_review import KitReview

DIGEST = "v1:" + "a" * 64


def test_a_kit_without_tools_is_shown_inert(home: object, capfd: pytest.CaptureFixture[str]) -> None:
    config = {"version": "1\x1b", "description": "\u202edesc", "allow_hosts": ["a"]}
    kit_review.show([KitReview(kit_id="rain", digest=DIGEST, config=config, tools=(), others=("a\nb",))], installed=True)
    said = capfd.readouterr().err
    assert "rain 1\\x1b has no tools" in said and "\\u202edesc" in said and "a\\nb" in said and DIGEST in said


def test_a_locked_kit_is_printed_with_its_place(home: object) -> None:
    document = kit_review.document_of(LockedKit(kit_id="rain", source="/kit", digest=DIGEST))
    assert document["path"].endswith(f"v1-{'a' * 64}/rain") and document["commit"] is None and "tools" not in document
