"""The settings of agents: what they are called, and what they may be."""

from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, UsageError
from vespe.features.agents import settings
from vespe.projects import user_config


def test_a_setting_of_agents_that_is_none_names_the_nearest(home: Path) -> None:
    with pytest.raises(UsageError) as caught:
        user_config.set_value("agent.modle", "m")
    assert "agent.modle" in str(caught.value) and "model" in caught.value.hint


def test_a_model_that_is_no_string_is_refused_before_it_is_written(home: Path) -> None:
    with pytest.raises(UsageError, match="/agent/model"):
        user_config.set_value("agent.model", 3)
    assert user_config.load_user_config().agent == {}


def test_a_provider_that_is_no_object_is_refused_and_not_quoted() -> None:
    with pytest.raises(InvalidDocument) as caught:
        settings.check("providers", {"openai": "sk-secret"}, "config.json")
    assert caught.value.pointer == "/providers/openai" and "sk-secret" not in str(caught.value)


def test_the_tools_mode_is_one_of_those_that_there_are(home: Path) -> None:
    with pytest.raises(UsageError, match="all, bridge, code, native, auto"):
        user_config.set_value("agent.tools_mode", "programs")
    user_config.set_value("agent.tools_mode", "code")
    assert user_config.load_user_config().agent == {"tools_mode": "code"}


def test_a_tools_mode_that_is_misspelled_in_the_file_is_refused_where_it_stands(
    home: Path,
) -> None:
    user_config.set_value("agent.model", "m")
    path = Path(user_config.config_path())
    path.write_text('{"agent": {"tools_mode": "cod"}}', encoding="utf-8")
    with pytest.raises(InvalidDocument) as caught:
        user_config.load_user_config()
    assert caught.value.pointer == "/agent/tools_mode" and caught.value.path == str(path)
    assert "all, bridge, code, native, auto" in str(caught.value)
    assert caught.value.hint.startswith("did you mean code? `vespe config set agent.tools_mode")
