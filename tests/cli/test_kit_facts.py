"""What the verbs over kits say of one kit."""

from vespe.cli.kit_facts import document_of, state_of
from vespe.models import Kit


def test_a_hidden_kit_is_never_active() -> None:
    kit = Kit(kit_id="a", path="/k/a", root="/k", root_kind="user", problem="hidden by /j/a")
    assert document_of(kit, ("a",))["active"] is False and state_of(kit, ("a",)) == "unusable"


def test_a_usable_kit_is_active_or_not() -> None:
    kit = Kit(kit_id="a", path="/k/a", root="/k", root_kind="user")
    assert (state_of(kit, ("a",)), state_of(kit, ())) == ("active", "inactive")
