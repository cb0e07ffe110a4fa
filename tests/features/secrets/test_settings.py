"""Under which settings secrets are."""

from pathlib import Path

import pytest

from vespe.errors import UsageError
from vespe.features.secrets import settings
from vespe.projects import user_config


@pytest.mark.parametrize("name", ["KEY", "_a1", "providers.groq.api_key", "providers.a-b.api_key"])
def test_a_secret_is_named_as_a_variable_or_is_the_key_of_a_provider(name: str) -> None:
    settings.check_name(name)
    own = name.startswith("providers.")
    assert settings.setting_of(name) == (name if own else f"secrets.{name}")
    assert settings.is_key(name) is own


@pytest.mark.parametrize(
    "name", ["", "A-B", "a.b", "providers.groq", "providers.a.b.api_key", "providers.a/b.api_key"]
)
def test_nothing_else_is_the_name_of_a_secret(name: str) -> None:
    with pytest.raises(UsageError, match="is not the name of a secret"):
        settings.check_name(name)


def test_both_kinds_are_configured_listed_where_they_are_plain_and_taken_out(home: Path) -> None:
    user_config.set_value("secrets", {"B": "hunter2", "A": {"ref": "env:X"}, "EMPTY": " "})
    settings.put("providers.groq.api_key", "gsk-0123456789", before=None)
    user_config.set_value("providers.here", {"api": "openai", "api_key": "EMPTY"})
    assert set(settings.configured()) == {
        *("A", "B", "EMPTY", "providers.groq.api_key", "providers.here.api_key")
    }
    assert settings.plain() == ["B", "providers.groq.api_key"]
    with pytest.raises(UsageError, match="changed in the meantime"):
        settings.put("providers.groq.api_key", "x", before="other")
    for name in ("B", "providers.groq.api_key", "providers.not.api_key"):
        settings.unset(name)
    assert settings.plain() == []
