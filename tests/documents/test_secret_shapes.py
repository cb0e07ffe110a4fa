"""Secrets by their shapes; the ones here are made up, letter by letter, so that no scanner takes
them for real ones.
"""

import pytest

from vespe.documents.secret_shapes import masked, secrets_in


def mixed(count: int, letters: str = "A1b2C3d4E5f6G7h8J9k0") -> str:
    return (letters * 20)[:count]


HEX = "0a1b2c3d4e5f6071829304a5b6c7d8e9"
SHAPES = {
    "an Anthropic API key": f"sk-ant-api03-{mixed(40)}",
    "an OpenAI API key": f"sk-proj-{mixed(40)}",
    "a GitHub token": f"ghp_{mixed(36)}",
    "a GitLab token": f"glpat-{mixed(20)}",
    "an AWS access key id": "AKIA" + mixed(16, "A1B2C3D4E5F6G7H8"),
    "a Google API key": f"AIza{mixed(35)}",
    "a Google OAuth token": f"ya29.{mixed(30)}",
    "a Slack token": f"xoxb-{mixed(20)}",
    "a Slack webhook": f"https://hooks.slack.com/services/T{'A1B2C3D4'}/B{'A1B2C3D4'}/{mixed(24)}",
    "a Stripe key": f"sk_live_{mixed(24)}",
    "an npm token": f"npm_{mixed(36)}",
    "a PyPI token": f"pypi-{mixed(60)}",
    "a Hugging Face token": f"hf_{mixed(34)}",
    "a SendGrid key": f"SG.{mixed(22)}.{mixed(43)}",
    "a Twilio key": f"SK{HEX}",
    "a DigitalOcean token": f"dop_v1_{HEX}{HEX}",
    "a Telegram bot token": f"987654321:AA{mixed(33)}",
    "a JSON Web Token": f"eyJ{mixed(20)}.eyJ{mixed(20)}.{mixed(30)}",
    "an AWS secret key": f"aws_secret_access_key = {mixed(40)}",
    "an Azure storage key": f"AccountKey={mixed(86)}==",
    "a Google client secret": f"GOCSPX-{mixed(28)}",
    "an API key": f"gsk_{mixed(52)}",
    "a bearer token": f"Bearer {mixed(30)}",
    "a private key": f"-----BEGIN RSA PRIVATE KEY-----\n{mixed(64)}\n",
    "a password in a URL": "postgres://admin:h8Jk2LmQ@db.internal:5432/x",
}


@pytest.mark.parametrize(("what", "secret"), SHAPES.items(), ids=SHAPES)
def test_a_secret_is_found_in_a_text_and_never_told_whole(what: str, secret: str) -> None:
    (shape,) = secrets_in(f"use '{secret}' here")
    assert (shape.what, shape.at) == (what, 5)
    assert secret not in shape.begins
    assert len(shape.begins) <= 7


@pytest.mark.parametrize(
    "text",
    [
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-your-key-here-your-key-here-your-key",
        f"sk-ant-EXAMPLE-{mixed(30)}",
        "AKIAIOSFODNN7EXAMPLE",
        "postgres://user:password@host/db",
        "https://example.org/a:b@c",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "${env:GITHUB_TOKEN}",
        "Bearer ${env:GITHUB_TOKEN}",
        "Bearer authentication-of-the-usual-kind",
        "task-management-of-a-very-long-name-that-goes-on-and-on",
        "SK as in Slovakia, eyJ alone, and ghost_writer",
        f"word{'ghp_'}{mixed(36)}",
    ],
)
def test_placeholders_and_ordinary_texts_are_no_secrets(text: str) -> None:
    assert list(secrets_in(text)) == []


def test_a_place_of_several_shapes_is_told_once() -> None:
    (shape,) = secrets_in(f"Authorization: Bearer {SHAPES['a GitHub token']}")
    assert shape.what == "a bearer token"


def test_several_secrets_of_a_text_are_all_found() -> None:
    text = f"{SHAPES['a GitHub token']} and {SHAPES['an npm token']}"
    assert [shape.what for shape in secrets_in(text)] == ["a GitHub token", "an npm token"]


@pytest.mark.parametrize("secret", SHAPES.values(), ids=SHAPES)
def test_a_masked_text_has_nothing_of_the_secret(secret: str) -> None:
    end = "-----END RSA PRIVATE KEY-----" if secret.startswith("-----") else ""
    text = masked(f"use '{secret}{end}' here, and {secret}")
    assert "***" in text and secret not in text and "here" in text
    assert all(secret[-n:] not in text for n in (12, 20))


def test_a_private_key_is_masked_to_its_end() -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{mixed(64)}\n{mixed(32)}\n-----END PRIVATE KEY-----"
    assert masked(f"a {key} b") == "a *** b"
    assert masked(f"a {key[:110]}") == "a ***"


def test_a_text_without_secrets_is_not_changed() -> None:
    assert masked("ghost_writer of ghp_xxxxxxxxxxxxxxxx") == "ghost_writer of ghp_xxxxxxxxxxxxxxxx"
