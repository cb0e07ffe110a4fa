"""What a commit's id looks like."""

from vespe.git.commit_id import is_commit


def test_only_a_whole_id_is_one() -> None:
    assert is_commit("a" * 40) and is_commit("0" * 64)
    assert not any(is_commit(ref) for ref in (None, "a" * 39, "A" * 40, "a" * 40 + "\n"))
