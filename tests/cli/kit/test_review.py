"""What the verbs that install kits show and print."""

from pathlib import Path

import pytest

from vespe.cli.kit import review
from vespe.kits.lock import LockedKit
from vespe.kits.review import KitReview
from vespe.trust.review import ToolReview, review_tool

DIGEST = "v1:" + "a" * 64


def test_a_kit_without_tools_is_shown_inert(
    home: object, capfd: pytest.CaptureFixture[str]
) -> None:
    config = {"version": "1\x1b", "description": "\u202edesc", "allow_hosts": ["a"]}
    review.show(
        [KitReview(kit_id="rain", digest=DIGEST, config=config, tools=(), others=("a\nb",))],
        installed=True,
    )
    said = capfd.readouterr().err
    assert (
        "rain 1\\x1b has no tools" in said
        and "\\u202edesc" in said
        and "a\\nb" in said
        and DIGEST in said
    )


def shown_tool(tmp_path: Path) -> ToolReview:
    (tmp_path / "tool-a").mkdir()
    return review_tool(str(tmp_path / "tool-a"), ("config.json",), lambda path: b"{}")


def test_where_the_kit_is_not_installed_no_place_is_told_that_is_gone_afterwards(
    home: object, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kit = KitReview(
        kit_id="rain", digest=DIGEST, config={}, tools=(shown_tool(tmp_path),), others=()
    )
    review.show([kit], installed=False)
    said = capfd.readouterr().err
    assert "the kit rain:\n" in said and "\nIt would run with your permissions:\n" in said
    assert "config.json" in said and "read it" not in said and str(tmp_path) not in said
    review.show([kit], installed=True)
    assert f"v1-{'a' * 64}/rain/tool-a" in capfd.readouterr().err


def test_a_locked_kit_is_printed_with_its_place(home: object) -> None:
    document = review.document_of(LockedKit(kit_id="rain", source="/kit", digest=DIGEST))
    assert (
        document["path"].endswith(f"v1-{'a' * 64}/rain")
        and document["commit"] is None
        and "tools" not in document
    )
