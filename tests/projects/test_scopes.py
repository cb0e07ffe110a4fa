"""Scopes: the order that a configuration gives, each once, and a warning for what the machine does
not have.
"""

from typing import Any

import pytest

from vespe.models import Kit, ProjectConfig
from vespe.projects.scopes import Scopes, scopes_of

FILE = "/p/.vespe/config.json"


def kit(kit_id: str, problem: str | None = None, root: str = "/kits") -> Kit:
    return Kit(kit_id=kit_id, path=f"{root}/{kit_id}", root=root, root_kind="env", problem=problem)


KITS = (kit("a"), kit("b"), kit("c"), kit("bad", "is broken"))


def scopes(kits: tuple[Kit, ...] = KITS, **config: Any) -> Scopes:
    lists = {key: tuple(value) for key, value in config.items()}
    return scopes_of(ProjectConfig(root="/p", document=config, **lists), kits)


def order(found: Scopes) -> list[str]:
    return [scope.name for scope in found.ordered]


def rest(found: Scopes) -> list[tuple[str, bool]]:
    return [(scope.name, scope.active) for scope in found.every if not scope.ordered]


def test_by_default_the_project_comes_first_then_the_active_kits_in_their_order() -> None:
    found = scopes(active_kits=["b", "a"])
    assert order(found) == ["project_tools", "b", "a"]
    assert rest(found) == [("c", False)] and found.warnings == ()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["active_kits", "project_tools"], ["a", "b", "project_tools"]),
        (["b", "project_tools", "active_kits"], ["b", "project_tools", "a"]),
        (["project_tools", "active_kits", "b", "project_tools"], ["project_tools", "a", "b"]),
        (["active_kits", "active_kits"], ["a", "b"]),
        ([], []),
    ],
)
def test_each_scope_counts_once_at_its_first_place(asked: list[str], expected: list[str]) -> None:
    assert order(scopes(active_kits=["a", "b", "a"], tool_resolution_order=asked)) == expected


def test_an_active_scope_that_the_order_leaves_out_stays_reachable_past_it() -> None:
    found = scopes(active_kits=["a", "b"], tool_resolution_order=["b"])
    assert rest(found) == [("project_tools", True), ("a", True), ("c", False)]


def test_each_scope_names_the_file_and_the_pointer_that_decided() -> None:
    found = scopes(
        active_kits=["a", "b"], tool_resolution_order=["project_tools", "b", "active_kits"]
    )
    assert {scope.name: scope.decided_by for scope in found.every} == {
        "project_tools": f"{FILE}#/tool_resolution_order/0",
        "b": f"{FILE}#/tool_resolution_order/1",
        "a": f"{FILE}#/active_kits/0",
        "c": f"{FILE}#/active_kits",
    }
    assert scopes().every[0].decided_by == f"{FILE}#/tool_resolution_order (the default)"


def test_scopes_know_their_directories() -> None:
    first, second, *_ = scopes(active_kits=["a"]).every
    assert (first.directory, first.kit_id) == ("/p/.vespe/tools", None)
    assert (second.directory, second.kit_id) == ("/kits/a", "a")


def test_the_first_root_s_kit_is_the_scope() -> None:
    hidden = kit("a", "hidden by /kits/a", root="/later")
    assert [scope.directory for scope in scopes((kit("a"), hidden), active_kits=["a"]).every] == [
        "/p/.vespe/tools",
        "/kits/a",
    ]


def test_an_active_kit_that_no_root_has_is_a_warning_and_hides_nothing() -> None:
    found = scopes(active_kits=["nope", "a"])
    assert order(found) == ["project_tools", "a"]
    assert (
        len(found.warnings) == 1
        and "'nope' is in no kit root" in found.warnings[0]
        and f"{FILE}#/active_kits/0" in found.warnings[0]
    )


def test_a_broken_active_kit_is_a_warning_with_its_reason() -> None:
    found = scopes(active_kits=["bad"])
    assert found.warnings == ("the active kit 'bad' cannot be used: is broken",) and "bad" not in [
        s.name for s in found.every
    ]


def test_a_kit_in_the_order_that_is_not_active_is_a_warning_and_not_available() -> None:
    found = scopes(active_kits=["a"], tool_resolution_order=["c", "active_kits"])
    assert order(found) == ["a"] and ("c", False) in rest(found)
    assert (
        "'c', which is not active" in found.warnings[0]
        and f"{FILE}#/tool_resolution_order/0" in found.warnings[0]
    )


def test_a_scope_that_does_not_exist_is_a_warning() -> None:
    found = scopes(
        active_kits=["a"], tool_resolution_order=["project_tools", "bogus scope", "bogus scope"]
    )
    assert (
        order(found) == ["project_tools"]
        and len(found.warnings) == 2
        and "'bogus scope'" in found.warnings[0]
    )


@pytest.mark.parametrize("name", ["project_tools", "active_kits", "../a", ""])
def test_p13_a_hostile_kit_id_is_only_a_missing_kit(name: str) -> None:
    found = scopes(active_kits=[name])
    assert order(found) == ["project_tools"] and len(found.warnings) == 1
