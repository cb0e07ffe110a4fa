"""Signed tags, with real keys and real git: verified offline, recorded, and missed when they are
gone.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, vespe, write_kit
from vespe.errors import InvalidDocument, Refused
from vespe.git import objects, refs
from vespe.git.refs import RemoteRef
from vespe.git.session import Session
from vespe.kits import signatures
from vespe.kits.lock import LockedKit
from vespe.projects import user_config


class Signed:
    """A repository of a kit, two people's keys, and a file that allows the first."""

    def __init__(self, root: Path) -> None:
        self.root, self.source = root, root / "source"
        python_tool(write_kit(self.source, "web") / "tool-a", "one", "return 1")
        for who in ("alice", "mallory"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", who, "-f", str(root / who)],
                check=True,
            )
        self.allow("alice")
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("commit", "-qm", "first")

    def allow(self, *people: str) -> None:
        lines = [
            f"{who}@example.invalid {(self.root / f'{who}.pub').read_text(encoding='utf-8')}"
            for who in people
        ]
        (self.root / "allowed").write_text("".join(lines), encoding="utf-8")
        user_config.set_value("allowed_signers", str(self.root / "allowed"))

    def git(self, *arguments: str, key: str = "alice") -> str:
        settings = (
            "user.name=t",
            "user.email=t@example.invalid",
            "gpg.format=ssh",
            f"user.signingkey={self.root / key}",
        )
        argv = [
            "git",
            "-C",
            str(self.source),
            *(word for setting in settings for word in ("-c", setting)),
            *arguments,
        ]
        return subprocess.run(
            argv, check=True, capture_output=True, text=True, encoding="utf-8"
        ).stdout.strip()

    def signer(self, tag: str) -> str | None:
        directory = self.root / f"fetched-{tag}"
        directory.mkdir()
        session = Session(directory=str(directory / "repository.git"), what="source", kind="path")
        ref = refs.resolve(session, str(self.source), tag)
        commit = objects.fetch(session, str(self.source), ref.object)
        return signatures.signer_of(
            session,
            RemoteRef(name=ref.name, object=ref.object, commit=commit),
            user_config.allowed_signers_file(),
        )


@pytest.fixture
def signed(home: Path, tmp_path: Path) -> Signed:
    return Signed(tmp_path)


def test_p7b_a_tag_that_an_allowed_signer_signed_names_the_signer_and_the_key(
    signed: Signed,
) -> None:
    signed.git("tag", "-s", "-m", "v1", "v1")
    signer = signed.signer("v1")
    assert signer is not None and signer.startswith("alice@example.invalid SHA256:")


def test_p7b_another_s_signature_no_signature_and_a_light_tag_name_nobody(signed: Signed) -> None:
    signed.git("tag", "-s", "-m", "v2", "v2", key="mallory")
    signed.git("tag", "-a", "-m", "v3", "v3")
    signed.git("tag", "v4")
    assert [signed.signer(tag) for tag in ("v2", "v3", "v4", "main")] == [None] * 4


def test_without_allowed_signers_nothing_is_asked(signed: Signed) -> None:
    signed.git("tag", "-s", "-m", "v1", "v1")
    user_config.unset_value("allowed_signers")
    assert signed.signer("v1") is None


def test_p7b_a_signature_over_other_bytes_is_refused(signed: Signed) -> None:
    signed.git("tag", "-s", "-m", "v1", "v1")
    tag = signed.git("cat-file", "tag", "v1").replace("\nv1\n", "\nv1, and more\n") + "\n"
    hashed = ["git", "-C", str(signed.source), "hash-object", "-t", "tag", "-w", "--stdin"]
    made = subprocess.run(hashed, input=tag.encode(), capture_output=True, check=True)
    signed.git("update-ref", "refs/tags/v1", made.stdout.decode().strip())
    with pytest.raises(Refused, match="is not valid"):
        signed.signer("v1")


def test_p7b_an_old_signed_tag_under_a_new_name_is_refused(signed: Signed) -> None:
    signed.git("tag", "-s", "-m", "v1", "v1")
    signed.git("update-ref", "refs/tags/v9", signed.git("rev-parse", "v1"))
    with pytest.raises(Refused, match="its signed tag has another name"):
        signed.signer("v9")


def test_a_file_of_signers_that_is_gone_is_said(signed: Signed) -> None:
    signed.git("tag", "-s", "-m", "v1", "v1")
    (signed.root / "allowed").unlink()
    with pytest.raises(InvalidDocument, match="is not a file"):
        signed.signer("v1")


def test_p7b_a_kit_that_was_signed_is_missed_when_it_comes_unsigned_or_signed_by_another(
    home: Path,
) -> None:
    def kit(signer: str | None, digit: str = "0") -> LockedKit:
        return LockedKit(kit_id="web", source="./web", digest=f"v1:{digit * 64}", signer=signer)

    kept = signatures.kept_signer
    assert (
        kept(None, kit("a"))
        == kept(kit(None), kit("a"))
        == kept(kit("a"), kit(None))
        == kept(kit("a"), kit("a"))
        == kit("a")
    )
    for new in (None, "b"):
        with pytest.raises(Refused, match="was signed by a"):
            kept(kit("a"), kit(new, "1"))
        assert kept(kit("a"), kit(new, "1"), change=True) == kit(new, "1")


def test_p7b_an_update_from_signed_to_unsigned_is_refused_without_the_flag(
    signed: Signed, project: Path
) -> None:
    signed.git("tag", "-s", "-m", "v1", "v1")
    assert vespe("kit", "install", f"{signed.source}@v1", "--yes", cwd=project).returncode == 0
    lock = (project / ".vespe/kits.lock.json").read_bytes()
    assert b'"signer": "alice@example.invalid SHA256:' in lock
    (signed.source / "web/tool-a/main.py").write_text(
        "def one():\n    return 2\n", encoding="utf-8"
    )
    signed.git("commit", "-qam", "second")
    signed.git("tag", "-s", "-m", "v2", "v2", key="mallory")
    signed.git("tag", "v3")
    for ref in ("v2", "v3", "main"):
        refused = vespe("kit", "update", "--to", ref, "--yes", cwd=project)
        assert refused.returncode == 6 and "was signed by alice@example.invalid" in refused.stderr
    assert (project / ".vespe/kits.lock.json").read_bytes() == lock
    (signed.source / "web/tool-a/main.py").write_text(
        "def one():\n    return 4\n", encoding="utf-8"
    )
    signed.git("commit", "-qam", "fourth")
    signed.git("tag", "-s", "-m", "v4", "v4")
    assert vespe("kit", "update", "--to", "v4", "--yes", cwd=project).returncode == 0
    done = vespe("kit", "update", "--to", "v2", "--yes", "--allow-signer-change", cwd=project)
    assert done.returncode == 0, done.stderr
    assert b'"signer"' not in (project / ".vespe/kits.lock.json").read_bytes()


def test_p7b_taking_the_signer_out_of_the_lock_does_not_make_it_forgotten(
    signed: Signed, project: Path
) -> None:
    signed.git("tag", "-s", "-m", "v1", "v1")
    assert vespe("kit", "install", f"{signed.source}@v1", "--yes", cwd=project).returncode == 0
    lock = project / ".vespe/kits.lock.json"
    document = json.loads(lock.read_text(encoding="utf-8"))
    del document["kits"]["web"]["signer"]
    lock.write_text(json.dumps(document), encoding="utf-8")
    (signed.source / "web/tool-a/main.py").write_text(
        "def one():\n    return 2\n", encoding="utf-8"
    )
    signed.git("commit", "-qam", "second")
    signed.git("tag", "v2")
    refused = vespe("kit", "update", "--to", "v2", "--yes", cwd=project)
    assert refused.returncode == 6 and "was signed by alice@example.invalid" in refused.stderr
    assert (
        vespe(
            "kit", "update", "--to", "v2", "--yes", "--allow-signer-change", cwd=project
        ).returncode
        == 0
    )
