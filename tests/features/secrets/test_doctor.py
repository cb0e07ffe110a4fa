"""What `vespe doctor` says of secrets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool
from vespe.features.secrets.doctor import CHECKS
from vespe.projects import user_config


def said(project: Path) -> list[tuple[str, str, str]]:
    return [(d.about, d.state, d.message) for check in CHECKS for d in check(str(project))]


def test_plain_and_missing_secrets_are_named_and_nothing_is_fetched(project: Path) -> None:
    assert said(project) == []
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1", secrets=["ONE"])
    ((about, state, message),) = said(project)
    assert (about, state) == ("secret ONE", "warning") and "`vespe secret set ONE`" in message
    item = {"name": "ONE", "description": "it pays", "docs_url": "https://h.org/"}
    python_tool(project / ".vespe/tools/tool-b", "b", "return 1", secrets=[item])
    assert said(project)[0][2] == (
        "has no value, and a, b need it (it pays): make one at https://h.org/; then "
        "`vespe secret set ONE`"
    )
    user_config.set_value("secrets.ONE", {"command": ["touch", str(project / "ran")]})
    user_config.set_value("secrets.PLAIN", "hunter2")
    user_config.set_value("secrets.SHORT", "abc")
    found = said(project)
    assert [(about, state) for about, state, _ in found] == [
        ("secrets", "warning"),
        ("secret SHORT", "warning"),
        ("secrets", "ok"),
    ]
    assert "2 secrets in plain text" in found[0][2] and "`vespe secret move`" in found[0][2]
    assert "hunter2" not in str(found) and not (project / "ran").exists()


def test_keys_of_providers_are_secrets_too_and_placeholders_are_none(project: Path) -> None:
    user_config.set_value("providers.groq.api_key", "gsk-0123456789")
    user_config.set_value("providers.here.api_key", "ollama")
    ((about, state, message),) = said(project)
    assert (about, state) == ("secrets", "warning")
    assert "1 secret in plain text" in message and "providers.groq.api_key" in message
    assert "here" not in message and "gsk-" not in message


def test_outside_a_project_the_configuration_is_looked_at(
    command: Callable[..., Any], home: Path
) -> None:
    user_config.set_value("secrets.PLAIN", "hunter2")
    done = command("doctor", "--project", str(home))
    assert "hunter2" not in done.out + done.err
    assert "1 secret in plain text" in done.out


def test_what_no_store_can_have_is_not_said_to_be_movable(project: Path) -> None:
    user_config.set_value("secrets", {"a.b": "hunter2", "c d": "hunter3"})
    found = said(project)
    assert [(about, state) for about, state, _ in found] == [
        ("secret a.b", "warning"),
        ("secret c d", "warning"),
    ]
    assert "`vespe secret remove 'c d'`" in found[1][2] and "secret move" not in str(found)
