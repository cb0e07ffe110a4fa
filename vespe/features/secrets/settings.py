"""Under which settings of the user's configuration secrets are: `secrets.NAME`, and
`providers.NAME.api_key`, the key of a provider of models, which goes by that whole name.
"""

from typing import Final

from vespe import errors
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue
from vespe.projects import user_config

_NAME: Final = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY: Final = pattern(r"providers\.[A-Za-z0-9_-]+\.api_key")
_SHORTEST_KEY: Final = 8
"""What is shorter stands in for a key that an endpoint does not want, such as `ollama`."""


def is_name(name: str) -> bool:
    """Whether a secret can have this name: that of a variable, or a provider's key. Others may be
    configured by hand.
    """
    return bool(_NAME.fullmatch(name)) or is_key(name)


def is_key(name: str) -> bool:
    """Whether it is the key of a provider."""
    return bool(_KEY.fullmatch(name))


def check_name(name: str) -> None:
    """Raise UsageError for what is not the name of a secret."""
    if not is_name(name):
        raise errors.UsageError(
            f"{name!r} is not the name of a secret",
            hint="it is named as an environment variable: letters, digits and _, such as API_KEY; "
            "providers.NAME.api_key is the key of a model provider",
        )


def setting_of(name: str) -> str:
    """Return the setting that a secret is, as `vespe config set` takes it."""
    return name if is_key(name) else f"secrets.{name}"


def configured() -> dict[str, str | JsonObject]:
    """Return what the user's configuration says of every secret and key, by name."""
    user = user_config.load_user_config()
    return {**user.secrets, **user_config.provider_keys(user)}


def plain() -> list[str]:
    """Return the names of those whose values stand in the configuration, sorted."""
    return sorted(
        name
        for name, said in configured().items()
        if isinstance(said, str)
        and said.strip()
        and not (is_key(name) and len(said.strip()) < _SHORTEST_KEY)
    )


def put(name: str, said: JsonValue, *, before: JsonValue) -> None:
    """Set what the configuration says, where it still says what it did before."""
    user_config.set_value(setting_of(name), said, was=(before,))


def unset(name: str) -> None:
    """Take a secret out of the configuration; nothing where it is not there."""
    if not is_key(name):
        user_config.unset_secret(name)
    elif name in configured():
        user_config.unset_value(name)
