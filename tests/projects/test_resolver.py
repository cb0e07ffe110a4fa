"""Resolution, rule by rule, and against a reference that knows no shortcuts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.ondisk import write_kit, write_tool
from vespe.errors import AmbiguousTool, InvalidTool, ToolNotFound, VespeError
from vespe.kits import roots
from vespe.models import Entry, Kit, ProjectConfig, Resolution, Row
from vespe.projects import project, resolver
from vespe.projects.init import found_project
from vespe.tools import catalog as tool_catalog

World: TypeAlias = dict[str, list[Entry]]


def entry(scope: str, uid: str, name: str | None, problem: str | None = None) -> Entry:
    kit_id = None if scope == "project_tools" else scope
    return Entry(
        uid=uid,
        name=name,
        scope=scope,
        kit_id=kit_id,
        type=None,
        description=None,
        path=f"/{scope}/{uid}",
        problem=problem,
    )


class Place:
    """A project and kits in memory; tools are (scope, uid, name) or (scope, uid, name, problem)."""

    def __init__(
        self,
        *tools: tuple[Any, ...],
        active: Sequence[str] = ("a", "b"),
        order: Sequence[str] | None = None,
    ) -> None:
        self.world: World = {}
        for tool in tools:
            self.world.setdefault(tool[0], []).append(entry(*tool))
        given: dict[str, Any] = {} if order is None else {"tool_resolution_order": tuple(order)}
        config = ProjectConfig(root="/p", active_kits=tuple(active), **given)
        self.kits = [
            Kit(kit_id=k, path=f"/{k}", root="/", root_kind="env") for k in ("a", "b", "c")
        ]
        self.scopes = resolver.scopes_of(config, self.kits).every
        self.asked: list[str] = []

    def lookup(self, scope: resolver.Scope, wanted: str) -> Sequence[Entry]:
        self.asked.append(scope.name)
        return self.catalog(scope).lookup(wanted)

    def catalog(self, scope: resolver.Scope) -> tool_catalog.Catalog:
        return tool_catalog.Catalog({e.uid: e for e in self.world.get(scope.name, [])})

    def names(self) -> list[str]:
        return [e.name for entries in self.world.values() for e in entries if e.name]

    def resolve(self, name: str, **options: Any) -> Resolution:
        return resolver.resolve(name, self.scopes, lookup=self.lookup, names=self.names, **options)

    def rows(self, **options: Any) -> tuple[Row, ...]:
        return resolver.rows(self.scopes, lambda scope: self.catalog(scope).values(), **options)


PROJECT, A, B, C = (
    ("project_tools", "tool-p", "who"),
    ("a", "tool-a", "who"),
    ("b", "tool-b", "who"),
    ("c", "tool-c", "who"),
)


def candidates(found: Resolution) -> list[tuple[str, str]]:
    return [(candidate.entry.scope, candidate.status) for candidate in found.candidates]


def test_p13b_the_first_scope_in_order_wins_and_what_it_shadows_is_kept_with_its_reason() -> None:
    found = Place(A, B, C, PROJECT).resolve("who")
    assert (found.entry.scope, found.reason) == (
        "project_tools",
        "project_tools is the first scope in the order that has it",
    )
    assert candidates(found) == [
        ("project_tools", "selected"),
        ("a", "shadowed"),
        ("b", "shadowed"),
        ("c", "inactive"),
    ]
    assert [shadow.entry.scope for shadow in found.shadows] == ["a", "b"]
    assert [c.decided_by.partition("#")[2] for c in found.candidates] == [
        "/tool_resolution_order (the default)",
        "/active_kits/0",
        "/active_kits/1",
        "/active_kits",
    ]
    assert [(c.reason, c.shadowed_by) for c in found.candidates[1:]] == [
        ("project_tools comes before a", "tool-p"),
        ("project_tools comes before b", "tool-p"),
        ("the kit c is not active", None),
    ]


@pytest.mark.parametrize("active", [("a", "b"), ("b", "a")])
def test_p13b_the_first_active_kit_wins(active: tuple[str, str]) -> None:
    assert Place(A, B, active=active).resolve("who").entry.scope == active[0]


def test_p13b_two_tools_of_one_name_in_one_scope_are_refused_and_both_named() -> None:
    place = Place(A, ("a", "tool-a2", "who"), B)
    with pytest.raises(
        AmbiguousTool, match="a has 2 tools called 'who': tool-a, tool-a2"
    ) as caught:
        place.resolve("who")
    assert (caught.value.uids, caught.value.details["paths"]) == (
        ("tool-a", "tool-a2"),
        ["/a/tool-a", "/a/tool-a2"],
    )
    with pytest.raises(AmbiguousTool):
        place.resolve("a/who")


def test_tools_that_share_a_name_are_reached_by_their_uids() -> None:
    assert Place(A, ("a", "tool-a2", "who")).resolve("tool-a2").entry.uid == "tool-a2"


def test_tools_that_share_a_name_in_a_later_scope_do_not_matter() -> None:
    found = Place(PROJECT, A, ("a", "tool-a2", "who")).resolve("who")
    assert (
        candidates(found) == [("project_tools", "selected"), ("a", "ambiguous"), ("a", "ambiguous")]
        and len(found.shadows) == 2
    )


def test_a_broken_winner_is_an_error_with_its_reason_and_never_a_fall_to_the_next_scope() -> None:
    place = Place(("project_tools", "tool-p", "who", "has no schema"), A)
    for name in ("who", "tool-p", "project_tools/who"):
        with pytest.raises(InvalidTool, match="has no schema") as caught:
            place.resolve(name)
        assert caught.value.uid == "tool-p"


def test_a_broken_tool_behind_the_winner_is_shown_as_broken() -> None:
    found = Place(PROJECT, ("a", "tool-a", "who", "has no schema")).resolve("who")
    assert (
        candidates(found)[1] == ("a", "broken")
        and found.candidates[1].reason == "has no schema"
        and found.shadows
    )


@pytest.mark.parametrize("name", ["b/who", "b/tool-b", "tool-b"])
def test_a_qualified_name_and_a_uid_reach_a_tool_past_the_order(name: str) -> None:
    for order in (["project_tools", "active_kits"], ["project_tools"]):
        assert Place(PROJECT, A, B, order=order).resolve(name).entry.scope == "b"
    assert (
        Place(A, PROJECT, order=["active_kits"]).resolve("project_tools/who").entry.scope
        == "project_tools"
    )


@pytest.mark.parametrize("name", ["c/who", "c/tool-c", "tool-c", "only_c"])
def test_an_inactive_kit_is_reached_by_no_name_and_the_hint_activates_it(name: str) -> None:
    with pytest.raises(ToolNotFound, match="'c' has it, but is not active") as caught:
        Place(PROJECT, C, ("c", "tool-c2", "only_c")).resolve(name)
    assert "vespe kit activate c" in caught.value.hint


def test_every_inactive_kit_that_has_a_tool_is_named() -> None:
    with pytest.raises(ToolNotFound, match="the kits 'b', 'c' have it, but none is") as caught:
        Place(B, C, active=["a"]).resolve("who")
    assert caught.value.hint.startswith("`vespe kit activate b` or `vespe kit activate c` ")


def test_a_kit_in_the_order_that_is_not_active_is_inactive_all_the_same() -> None:
    with pytest.raises(ToolNotFound, match="not active"):
        Place(C, order=["c", "project_tools"]).resolve("who")


def test_a_name_in_an_active_scope_outside_the_order_says_how_to_call_it() -> None:
    with pytest.raises(ToolNotFound, match="not in tool_resolution_order") as caught:
        Place(A, order=["project_tools"]).resolve("who")
    assert "a/who" in caught.value.hint


def test_an_unknown_name_has_the_nearest_and_the_scopes_that_were_searched() -> None:
    with pytest.raises(ToolNotFound) as caught:
        Place(("a", "tool-1", "write_file"), C).resolve("write_flie")
    assert (caught.value.close, caught.value.searched) == (
        ("write_file",),
        ("project_tools", "a", "b"),
    )
    assert "write_file" in caught.value.hint


def test_a_scope_that_does_not_exist_is_said() -> None:
    with pytest.raises(ToolNotFound, match="there is no scope 'zzz'"):
        Place(A).resolve("zzz/who")
    with pytest.raises(ToolNotFound) as caught:
        Place(A).resolve("b/who")
    assert caught.value.searched == ("b",) and caught.value.close == ("who",)


@pytest.mark.parametrize("name", ["", "/", "/who", "a/", "a//who", "a/b/who", "../who", "who\n"])
def test_p13_a_hostile_name_is_not_found(name: str) -> None:
    with pytest.raises(ToolNotFound):
        Place(A).resolve(name)


def test_nothing_is_asked_for_the_nearest_names_unless_nothing_was_found() -> None:
    def never() -> list[str]:
        raise AssertionError("asked for every name")

    place = Place(A, C)
    assert (
        resolver.resolve("who", place.scopes, lookup=place.lookup, names=never).entry.scope == "a"
    )
    with pytest.raises(ToolNotFound):
        resolver.resolve("who", Place(C).scopes, lookup=Place(C).lookup, names=never)
    with pytest.raises(ToolNotFound, match="zzz"):
        resolver.resolve("zzz", place.scopes, lookup=place.lookup)


def test_a_quick_answer_asks_no_scope_after_the_winner() -> None:
    place = Place(A, B, C)
    assert candidates(place.resolve("who", complete=False)) == [("a", "selected")]
    assert place.asked == ["project_tools", "a"]


def test_a_uid_comes_before_a_name_that_looks_like_one() -> None:
    assert Place(("project_tools", "tool-p", "tool-b"), B).resolve("tool-b").entry.scope == "b"
    assert (
        Place(("project_tools", "tool-p", "tool-x"), B).resolve("tool-x").entry.scope
        == "project_tools"
    )


def test_a_uid_that_two_active_scopes_have_is_refused_by_uid_and_warned_of_by_name() -> None:
    place = Place(("a", "tool-1", "who"), ("b", "tool-1", "who"), ("c", "tool-1", "who"))
    with pytest.raises(
        AmbiguousTool, match="the project has 2 tools called 'tool-1': a/tool-1, b/tool-1"
    ):
        place.resolve("tool-1")
    found = place.resolve("who")
    assert (found.entry.scope, found.warnings) == (
        "a",
        ("the UID tool-1 is not unique: b/tool-1 also has it",),
    )
    assert place.resolve("b/tool-1").entry.scope == "b"


def shown(rows: Sequence[Row]) -> list[tuple[str | None, str, str, str | None]]:
    return [(row.entry.name, row.entry.scope, row.status, row.shadowed_by) for row in rows]


def test_a_listing_has_every_tool_and_what_becomes_of_it() -> None:
    place = Place(C, B, A, PROJECT, ("a", "tool-x", None, "is not JSON"), ("b", "tool-z", "zeta"))
    assert shown(place.rows()) == [
        ("who", "project_tools", "available", None),
        ("who", "a", "shadowed", "tool-p"),
        ("who", "b", "shadowed", "tool-p"),
        ("who", "c", "inactive", None),
        ("zeta", "b", "available", None),
        (None, "a", "broken", None),
    ]
    assert shown(place.rows(everything=False)) == [
        ("who", "project_tools", "available", None),
        ("zeta", "b", "available", None),
    ]


def test_a_broken_tool_is_listed_as_broken_and_still_shadows() -> None:
    place = Place(
        ("project_tools", "tool-p", "who", "has no schema"),
        A,
        ("c", "tool-c", "who", "has no schema"),
    )
    assert [row.status for row in place.rows()] == ["broken", "shadowed", "broken"]
    assert place.rows(everything=False) == ()


def test_tools_that_share_a_name_are_listed_as_broken_and_shadow_together() -> None:
    listed = Place(A, ("a", "tool-a2", "who"), B).rows()
    assert [(row.entry.uid, row.status, row.shadowed_by) for row in listed] == [
        ("tool-a", "broken", None),
        ("tool-a2", "broken", None),
        ("tool-b", "shadowed", "tool-a"),
    ]
    assert listed[0].entry.problem == "shares its name with tool-a2"


def test_an_active_scope_outside_the_order_is_listed_as_inactive() -> None:
    assert [
        (row.entry.scope, row.status) for row in Place(PROJECT, A, order=["project_tools"]).rows()
    ] == [
        ("project_tools", "available"),
        ("a", "inactive"),
    ]


def test_a_uid_that_active_scopes_share_is_said_and_makes_nothing_unavailable() -> None:
    listed = Place(
        ("a", "tool-1", "one"), ("b", "tool-1", "two", "is broken"), ("c", "tool-1", "three")
    ).rows()
    assert [(row.entry.name, row.status, row.entry.problem) for row in listed] == [
        ("one", "available", "shares its uid with b/tool-1"),
        ("three", "inactive", None),
        ("two", "broken", "is broken; shares its uid with a/tool-1"),
    ]


def test_p13b_a_listing_does_not_depend_on_the_order_in_which_tools_were_made() -> None:
    tools = [PROJECT, A, B, C, ("a", "tool-0", "alpha"), ("a", "tool-9", None, "x")]
    assert Place(*tools).rows() == Place(*reversed(tools)).rows()


def test_a_project_on_disk_resolves_as_one_in_memory(home: Path, tmp_path: Path) -> None:
    found_project(tmp_path / "p")
    for kit_id in ("alpha", "beta"):
        write_tool(write_kit(tmp_path / "kits", kit_id) / f"tool-{kit_id}", "who")
    write_tool(tmp_path / "p/.vespe/tools/tool-mine", "who")
    config = project.set_active(tmp_path / "p", ["alpha"])
    scopes = resolver.scopes_of(
        config, roots.find_kits({"VESPE_KITS_PATH": str(tmp_path / "kits")}, count_tools=False)
    ).every

    def lookup(scope: resolver.Scope, wanted: str) -> tuple[Entry, ...]:
        return tool_catalog.find(scope.directory, wanted, scope=scope.name, kit_id=scope.kit_id)

    found = resolver.resolve("who", scopes, lookup=lookup)
    assert (found.entry.uid, candidates(found)) == (
        "tool-mine",
        [("project_tools", "selected"), ("alpha", "shadowed"), ("beta", "inactive")],
    )
    assert resolver.resolve("alpha/who", scopes, lookup=lookup).entry.path == str(
        tmp_path / "kits/alpha/tool-alpha"
    )


# A reference that follows the words of the rules, over every tool at once, without scopes, look-ups
# or shortcuts.

SCOPES = ("project_tools", "a", "b", "c")
tools = st.lists(
    st.tuples(
        st.sampled_from(SCOPES),
        st.sampled_from(["tool-1", "tool-2", "tool-3"]),
        st.sampled_from(["who", "tool-1", None]),
        st.sampled_from([None, None, "broken"]),
    ).map(lambda t: t if t[2] or t[3] else (*t[:3], "broken")),
    max_size=8,
    unique_by=lambda tool: tool[:2],
)
orders = st.lists(
    st.sampled_from(["project_tools", "active_kits", "a", "b", "c", "bogus"]), max_size=4
)
wanted_names = st.one_of(
    st.sampled_from(["who", "tool-1", "tool-2"]),
    st.tuples(
        st.sampled_from([*SCOPES, "bogus"]), st.sampled_from(["who", "tool-1", "tool-2"])
    ).map("/".join),
)


def reference(name: str, made: list[Any], active: list[str], order: list[str]) -> Any:
    """Give (scope, uid) of the tool, or the class of the error."""
    usable = [entry(*tool) for tool in made if tool[0] == "project_tools" or tool[0] in active]
    if "/" in name:
        scope, _, name = name.partition("/")
        usable = [tool for tool in usable if tool.scope == scope]
        chosen = [t for t in usable if t.uid == name] or [t for t in usable if t.name == name]
    elif not (chosen := [t for t in usable if t.uid == name]):
        expanded = [
            scope for item in order for scope in (active if item == "active_kits" else [item])
        ]
        by_scope = [
            [t for t in usable if t.scope == scope and t.name == name] for scope in expanded
        ]
        chosen = next((group for group in by_scope if group), [])
    if len(chosen) != 1:
        return AmbiguousTool if chosen else ToolNotFound
    return InvalidTool if chosen[0].problem else (chosen[0].scope, chosen[0].uid)


def answer(place: Place, name: str, **options: Any) -> Any:
    try:
        found = place.resolve(name, **options)
    except VespeError as error:
        return type(error)
    return found.entry.scope, found.entry.uid


@settings(max_examples=200, deadline=None)
@given(wanted_names, tools, st.lists(st.sampled_from(["a", "b", "c", "nope"]), max_size=4), orders)
def test_resolving_agrees_with_the_reference(
    name: str, made: list[Any], active: list[str], order: list[str]
) -> None:
    place = Place(*made, active=active, order=order)
    assert answer(place, name) == reference(name, made, active, order)
    assert answer(place, name, complete=False) == reference(name, made, active, order)


@settings(max_examples=100, deadline=None)
@given(tools, st.lists(st.sampled_from(["a", "b", "c"]), max_size=3), orders)
def test_what_is_listed_as_available_is_exactly_what_resolves(
    made: list[Any], active: list[str], order: list[str]
) -> None:
    place = Place(*made, active=active, order=order)
    listed = {
        row.entry.name: (row.entry.scope, row.entry.uid) for row in place.rows(everything=False)
    }
    assert len(listed) == len(place.rows(everything=False))
    assert len(place.rows()) == len(made)
    assert [row.entry.uid for row in place.rows() if row.status == "available"] == [
        r.entry.uid for r in place.rows(everything=False)
    ]
    expected = reference("who", made, active, order)
    assert listed.get("who", expected) == expected and ("who" in listed) == isinstance(
        expected, tuple
    )
