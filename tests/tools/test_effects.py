"""What a call of a tool may do to the flow of data."""

from dataclasses import replace
from typing import Any

import pytest

from vespe.models import Implementation, Tool
from vespe.tools.effects import effects_of, reasons_of
from vespe.tools.fields import EFFECTS, found_in_fields

READS, WRITES, CLOSED = {"readOnlyHint": True}, {"readOnlyHint": False}, {"openWorldHint": False}


def tool(
    name: str = "thing",
    *,
    arguments: Any = (),
    kind: str | None = None,
    method: str | None = None,
    **more: Any,
) -> Tool:
    schema = {"type": "object", "properties": {argument: {} for argument in arguments}}
    runs = None if kind is None else Implementation(type=kind, entrypoint=method)
    return Tool(uid="", name=name, description="", input_schema=schema, implementation=runs, **more)


def effects(*given: Any, **more: Any) -> set[str]:
    return set(effects_of(tool(*given, **more)))


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        ({"annotations": READS | CLOSED}, set()),
        ({"annotations": READS | CLOSED, "secrets": ("KEY",)}, {"reads_private"}),
        ({"annotations": READS | CLOSED, "permissions": {"read": ["~/mail"]}}, {"reads_private"}),
        ({"annotations": READS | CLOSED, "permissions": {"read": ["../other"]}}, {"reads_private"}),
        ({"annotations": READS | CLOSED, "permissions": {"read": [".", "docs"]}}, set()),
        (
            {"annotations": READS | CLOSED, "permissions": {"network": ["api.example.org"]}},
            {"sends_out"},
        ),
        ({"annotations": READS | CLOSED, "permissions": {"network": []}}, set()),
        ({"annotations": READS, "kind": "http_request"}, {"sends_out", "reads_untrusted"}),
        (
            {"annotations": WRITES | CLOSED, "kind": "http_request", "method": "POST"},
            {"sends_out", "writes", "destructive"},
        ),
        ({"annotations": READS | {"openWorldHint": True}}, {"reads_untrusted"}),
        ({"annotations": READS}, {"reads_untrusted"}),
        (
            {"annotations": WRITES | {"openWorldHint": True, "destructiveHint": False}},
            {"reads_untrusted", "sends_out", "writes"},
        ),
        ({"annotations": WRITES | CLOSED}, {"writes", "destructive"}),
        ({"annotations": CLOSED, "permissions": {"write": ["."]}}, {"writes"}),
        ({}, {"reads_untrusted", "writes"}),
    ],
)
def test_what_a_tool_declares_decides(facts: Any, wanted: set[str]) -> None:
    assert effects(**facts) == wanted


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("search_emails", ["query"], {"reads_private", "reads_untrusted"}),
        ("getUserInfo", [], {"reads_private", "reads_untrusted"}),
        ("get_weather", ["city"], {"reads_untrusted"}),
        ("get_webpage", ["url"], {"reads_untrusted", "sends_out"}),
        ("send_email", ["recipients", "body"], {"sends_out", "writes"}),
        ("email_customer", ["body"], {"sends_out", "writes"}),
        ("delete_email", ["email_id"], {"writes", "destructive"}),
        ("get_transfer_history", [], {"reads_private", "reads_untrusted"}),
        ("create_event", ["title", "participants"], {"sends_out", "writes"}),
        ("add_numbers", ["a", "b"], {"writes"}),
        ("reserve_hotel", ["hotel"], {"sends_out", "writes"}),
        ("order_pizza", ["size"], {"sends_out", "writes"}),
        ("buy", ["symbol"], {"sends_out", "writes"}),
        ("checkout_cart", [], {"sends_out", "writes"}),
        ("order_status", ["id"], {"reads_untrusted", "writes"}),
        ("order_lookup", ["id"], {"reads_private", "reads_untrusted"}),
        ("list_bookings", [], {"reads_untrusted"}),
        ("update_password", ["value"], {"sends_out", "writes"}),
        ("update_account", ["new_password"], {"sends_out", "writes"}),
        ("create_api_key", ["name"], {"sends_out", "writes"}),
        ("update_note", ["text"], {"writes"}),
    ],
)
def test_where_a_tool_declares_nothing_its_words_do(
    name: str, arguments: list[str], wanted: set[str]
) -> None:
    assert effects(name, arguments=arguments) == wanted


@pytest.mark.parametrize("name", ["send_email", "search_emails", "get_webpage"])
def test_a_tool_that_says_that_it_is_closed_is_believed_over_its_words(name: str) -> None:
    assert effects(name, arguments=["url"], annotations=READS | CLOSED) == set()


def test_config_json_corrects_what_is_derived() -> None:
    assert effects("send_email", document={"effects": ["writes", "reads_private"]}) == {
        "writes",
        "reads_private",
    }
    assert effects("send_email", document={"effects": []}) == set()


def test_each_effect_has_its_reason_and_they_have_one_order() -> None:
    found = effects_of(tool("delete_secret", arguments=["url"], secrets=("KEY",)))
    assert list(found) == [effect for effect in EFFECTS if effect in found] and all(found.values())
    assert found["reads_private"] == "it has the secret KEY"


def test_effects_and_queries_that_are_none_are_refused() -> None:
    document = {
        "uid": "tool-a",
        "name": "a",
        "schema": {"input": {}},
        "effects": ["sends_out", "flies"],
        "queries": [""],
    }
    assert {found[0] for found in found_in_fields(document, uid="tool-a", kit_id=None)} == {
        "/effects/1",
        "/queries/0",
    }


def test_what_is_proved_to_reach_nobody_sends_nothing_out() -> None:
    shut = tool("send_mail", kind="shell_command", permissions={"network": []}, arguments=["url"])
    assert "sends_out" not in effects_of(shut, held=True) and "sends_out" not in effects(
        "send_mail", kind="wasm"
    )
    unsaid = tool("send_mail", kind="shell_command")
    assert "sends_out" in effects_of(unsaid, held=True)


def test_a_type_that_nobody_knows_says_nothing_of_effects() -> None:
    strange = Tool(
        uid="tool-a",
        name="get_it",
        description="",
        input_schema={},
        implementation=Implementation(type="shell"),
    )
    assert effects_of(strange, held=True) == effects_of(replace(strange, implementation=None))


SHUT: Any = {"read": [], "write": [], "network": [], "programs": []}


@pytest.mark.parametrize(
    ("kind", "permissions", "why"),
    [
        ("python_script", SHUT, None),
        ("python_script", {"read": [], "network": []}, None),
        ("shell_command", {"read": [], "network": []}, None),
        ("python_script", {"read": ["."], "network": []}, "it may read files (.)"),
        ("python_script", {"network": []}, "it may read files (.)"),
        ("python_script", {"read": [], "write": ["out"], "network": []}, "it may read files (out)"),
        ("python_script", {"read": []}, "it does not declare `openWorldHint: false`"),
        (
            "python_script",
            {"read": [], "network": ["x.org"]},
            "it does not declare `openWorldHint: false`",
        ),
        ("python_script", {}, "it does not declare `openWorldHint: false`"),
        ("wasm", {}, None),
        ("wasm", {"read": ["data"]}, "it may read files (data)"),
        # what these state, no sandbox holds them to
        ("mcp_tool", SHUT, "it does not declare `openWorldHint: false`"),
        (None, SHUT, "it does not declare `openWorldHint: false`"),
    ],
)
def test_what_may_read_neither_a_machine_nor_a_file_reads_no_strangers(
    kind: str | None, permissions: Any, why: str | None
) -> None:
    made = tool("calc", kind=kind, permissions=permissions, annotations=READS)
    assert effects_of(made).get("reads_untrusted") == why


def test_only_what_an_author_says_is_stated() -> None:
    guessed = reasons_of(tool("get_mail", arguments=["url"], secrets=("KEY",)))
    assert guessed and not any(reason.stated for reason in guessed.values())
    assert not any(one.stated for one in reasons_of(tool(kind="http_request")).values())
    said = tool(
        "get_mail",
        annotations=READS | {"openWorldHint": True},
        permissions={"read": ["~/mail"], "network": ["x.org"]},
        secrets=("KEY",),
    )
    assert {name for name, one in reasons_of(said).items() if one.stated} == {
        "reads_private",
        "reads_untrusted",
        "sends_out",
    }
    assert reasons_of(tool(document={"effects": ["writes"]}))["writes"].stated


@pytest.mark.parametrize(
    ("host", "own", "home"),
    [
        ("api.example.org", (), False),
        ("api.example.org", ("api.example.org",), True),
        ("API.example.org", ("api.example.org",), True),
        ("api.example.org:8443", ("api.example.org:8443",), True),
        ("api.example.org:8443", ("api.example.org:443",), False),
        ("example.org", ("api.example.org",), False),
        ("localhost:8080", (), True),
        ("10.0.0.7", (), True),
        ("8.8.8.8", (), False),
        ("localhost.example.org", (), False),
    ],
)
def test_a_host_is_no_stranger_where_the_user_says_so_or_its_address_is_private(
    host: str, own: tuple[str, ...], home: bool
) -> None:
    for runs in (
        Implementation(type="http_request", path=f"https://{host}/a", entrypoint="GET"),
        Implementation(type="mcp_tool", args={"url": f"https://{host}/a"}),
    ):
        one = tool("get_it", annotations={"openWorldHint": True, "readOnlyHint": False})
        found = effects_of(replace(one, implementation=runs), own_hosts=own)
        assert ("sends_out" in found, "reads_untrusted" in found) == (not home, not home)
    held = tool("send_it", kind="python_script", permissions={"network": [host], "read": []})
    assert ("sends_out" in effects_of(held, own_hosts=own)) == (not home)
