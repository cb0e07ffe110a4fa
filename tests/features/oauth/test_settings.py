"""The setting `mcp.client_metadata_url`."""

import json

import pytest

from vespe import errors
from vespe.features.oauth import settings
from vespe.projects import user_config

pytestmark = pytest.mark.usefixtures("home")

URL = "https://example.com/vespe.json"


def test_it_is_set_and_read() -> None:
    assert settings.client_metadata_url() == ""
    user_config.set_value("mcp.client_metadata_url", URL)
    assert settings.client_metadata_url() == URL


@pytest.mark.parametrize("url", ["http://example.com/a", "https://example.com", "x", 7, None])
def test_what_is_no_url_of_a_document_is_refused(url: object) -> None:
    with pytest.raises(errors.UsageError, match="https:// URL with a path"):
        user_config.set_value("mcp.client_metadata_url", url)


def test_an_unknown_setting_and_a_broken_file_are_told_with_their_place() -> None:
    with pytest.raises(errors.UsageError, match=r"mcp\.other"):
        user_config.set_value("mcp.other", "x")
    user_config.set_value("mcp.client_metadata_url", URL)
    path = user_config.config_path()
    for said in (7, "ftp://example.com/a"):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"mcp": {"client_metadata_url": said}}, file)
        with pytest.raises(errors.InvalidDocument, match="/mcp/client_metadata_url"):
            user_config.load_user_config()
