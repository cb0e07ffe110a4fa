"""Names of secrets: a kit's own form first, and never another kit's."""

import itertools
from pathlib import Path

import pytest

from vespe.calls.secrets import names_of_secret, scoped_name, secret_files
from vespe.models import JsonObject
from vespe.projects.user_config import UserConfig


def test_a_kits_tool_looks_under_its_kits_name_first_and_a_projects_does_not() -> None:
    assert names_of_secret("TOKEN", kit_id="web") == ("VESPE_WEB__TOKEN", "TOKEN")
    assert names_of_secret("TOKEN", kit_id=None) == ("TOKEN",)


@pytest.mark.parametrize("name", ["VESPE_WEB__TOKEN", "vespe_web__token", "VESPE___X"])
def test_no_tool_reads_a_kit_s_own_name_as_it_stands(name: str) -> None:
    assert names_of_secret(name, kit_id=None) == names_of_secret(name, kit_id="other") == ()


def test_no_two_kits_and_names_share_a_variable() -> None:
    kits, names = (
        ("a", "a_", "a__b", "a_b", "a__b__c", "b"),
        ("X", "_X", "B__X", "B_X", "__X", "X_", "X__Y"),
    )
    asked = [
        (kit, name)
        for kit, name in itertools.product(kits, names)
        if len(names_of_secret(name, kit_id=kit)) == 2
    ]
    assert len({scoped_name(name, kit) for kit, name in asked}) == len(asked)


def test_the_files_of_a_tokens_client_are_kept_from_tools_as_any_secrets_are(
    tmp_path: Path,
) -> None:
    files = [tmp_path / name for name in ("one", "id", "secret")]
    for file in files:
        file.touch()
    one, client_id, secret = ({"ref": f"file:{file}"} for file in files)
    token = {"url": "https://a.example", "client_id": client_id, "client_secret": secret}
    configured: dict[str, str | JsonObject] = {
        "ONE": one,
        "TOKEN": {"token": token},
        "PLAIN": "file:/etc/hosts",
    }
    assert secret_files(UserConfig(secrets=configured)) == tuple(map(str, files))
    providers = {"groq": {"api_key": one}, "here": {"api_key": "file:/etc/hosts"}, "odd": 1}
    assert secret_files(UserConfig(providers=providers)) == (str(files[0]),)
    named = {"token": token | {"client_id": "file:/etc/hosts"}}
    configured = {"TOKEN": named, "ODD": {"token": "x"}}
    assert secret_files(UserConfig(secrets=configured)) == (str(files[2]),)
