"""All settings, as the schemas describe them."""

from vespe.features.agents import provider_settings
from vespe.models import JsonObject
from vespe.projects import project_settings, setting_catalog, user_config
from vespe.projects.user_config import MASK, UserConfig


def test_every_setting_is_known_with_what_it_is_for() -> None:
    every = {one.key: one for one in setting_catalog.known()}
    assert all(one.description for one in every.values())
    heads = {key.partition(".")[0] for key in every}
    assert heads == {*user_config.KEYS, *(key.partition(".")[0] for key in project_settings.KEYS)}
    assert {f"providers.NAME.{key}" for key in provider_settings.KEYS} <= {
        *every,
        "providers.NAME.headers",
    }
    assert every["sandbox"].default == UserConfig().sandbox
    assert every["tool_resolution_order"].default == ["project_tools", "active_kits"]


def test_what_is_set_is_listed_beside_what_is_not() -> None:
    document: JsonObject = {
        "secrets": {"T": "hunter2", "R": {"ref": "env:X"}},
        "approvals": {"deny": ["a"]},
    }
    user = UserConfig(document=document, approvals=document["approvals"], path="U")
    project = {"tool_budget": 5, "approvals": {"deny": ["b"]}, "tools": {"a": {"as": "b"}}}
    rows = setting_catalog.list_settings(user, project, path="P", everything=True)
    assert [(row["value"], row["origin"]) for row in rows if row["key"] == "approvals.deny"] == [
        (["b"], "P"),
        (["a"], "U"),
    ]
    by_key = {row["key"]: row for row in rows}
    assert by_key["secrets.T"]["value"] == MASK and "hunter2" not in str(rows)
    assert by_key["secrets.R.ref"]["description"] == by_key["secrets.NAME"]["description"] != ""
    assert by_key["tools.a.as"] | {"description": ""} == {
        "key": "tools.a.as",
        "value": "b",
        "default": None,
        "origin": "P",
        "description": "",
    }
    assert (by_key["tool_budget"]["value"], by_key["tool_budget"]["origin"]) == (5, "P")
    assert (by_key["files.may_write"]["value"], by_key["files.may_write"]["origin"]) == (
        [],
        "default",
    )
    few = setting_catalog.list_settings(user, project, path="P", everything=False)
    assert "files.may_write" not in {row["key"] for row in few} and few == [
        row for row in rows if row in few
    ]
