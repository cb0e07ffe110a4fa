"""What a workflow installs as Vespe: where this one came from, and never a name of an index."""

import json
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import UsageError
from vespe.kits import own_source

COMMIT = "5a" * 20
SHA = "0f" * 32


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        (
            {"url": "https://h/o/vespe", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"vespe @ git+https://h/o/vespe@{COMMIT}",
        ),
        (
            {
                "url": "ssh://git@h/o/all",
                "vcs_info": {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"},
                "subdirectory": "py",
            },
            f"vespe @ git+ssh://git@h/o/all@{COMMIT}#subdirectory=py",
        ),
        (
            {"url": "https://h/vespe.whl", "archive_info": {"hashes": {"sha256": SHA}}},
            f"vespe @ https://h/vespe.whl#sha256={SHA}",
        ),
        (
            {"url": "https://h/vespe.whl", "archive_info": {"hash": f"sha256={SHA}"}},
            f"vespe @ https://h/vespe.whl#sha256={SHA}",
        ),
        ({"url": "file:///home/me/vespe", "dir_info": {}}, "from a directory on the machine"),
        (
            {"url": "file:///v.whl", "archive_info": {"hashes": {"sha256": SHA}}},
            f"from a file on the machine where this was made, whose SHA-256 is {SHA}",
        ),
        ({"url": "https://h/v.whl", "archive_info": {}}, "which files"),
        ({"url": "https://h/v", "vcs_info": {"vcs": "git", "commit_id": "main"}}, "which commit"),
        (
            {"url": "https://me:pw@h/v", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            "on the machine",
        ),
        ({}, "it is not recorded"),
    ],
)
def test_what_is_installed_is_pinned_or_nobody_knows_it(
    document: dict[str, Any], wanted: str
) -> None:
    found, why = own_source.of_direct_url(document)
    assert wanted == found if found else wanted in why
    assert "pw" not in found + why and "/home/me" not in why


def test_what_the_installer_wrote_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = tmp_path / "vespe-0.2.0.dist-info"
    where.mkdir()
    (where / "METADATA").write_text("Metadata-Version: 2.1\nName: vespe\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert own_source.requirement({})[0] == "", "from an index, where the name is anybody's"
    said = {"url": "https://h/o/vespe", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}
    (where / "direct_url.json").write_text(json.dumps(said), encoding="utf-8")
    assert own_source.requirement({}) == (f"vespe @ git+https://h/o/vespe@{COMMIT}", "")
    (where / "direct_url.json").write_text("{", encoding="utf-8")
    assert own_source.requirement({})[0] == ""


def test_a_variable_goes_before_it() -> None:
    assert own_source.requirement({"VESPE_INSTALL": " ./vespe.whl "}) == ("./vespe.whl", "")
    with pytest.raises(UsageError, match="one line"):
        own_source.requirement({"VESPE_INSTALL": "a\nb"})
