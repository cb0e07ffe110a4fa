"""The providers of models, one literal table, and those that the user's configuration names;
imported when they are asked for.
"""

import importlib
from typing import Any, Final

from vespe.documents.near import suggest
from vespe.errors import InvalidDocument, UsageError
from vespe.features.agents import provider_settings
from vespe.features.agents.providers.base import ProviderClass
from vespe.projects import user_config

PROVIDERS: Final = {
    "openai": "vespe.features.agents.providers.openai.OPENAI",
    "openai-responses": "vespe.features.agents.providers.openai_responses.OPENAI_RESPONSES",
    "anthropic": "vespe.features.agents.providers.anthropic.ANTHROPIC",
    "gemini": "vespe.features.agents.providers.gemini.GEMINI",
    "ollama": "vespe.features.agents.providers.ollama.OLLAMA",
    "simulated": "vespe.features.agents.providers.simulated.SIMULATED",
}
"""Where the class of each provider stands: a module, and a name in it that is a ProviderClass."""
_SPOKEN_BY: Final = {"openresponses": "openai-responses"}
"""By an API that has no provider of its own, the one that speaks it."""


def provider_names() -> list[str]:
    """Return the names that `provider_class` takes: the table's, and those of the user's
    configuration that say an `api`.
    """
    named = user_config.load_user_config().providers
    return [
        *PROVIDERS,
        *(name for name, said in named.items() if name not in PROVIDERS and "api" in said),
    ]


def provider_class(name: str) -> ProviderClass:
    """Return a provider's class: the table's, or for a name of the user's own (`providers.NAME`)
    that of its `api`.

    Such an endpoint is asked with what is said of it alone, never with the key of its API's vendor.
    Raises UsageError for a name that is neither, or without `base_url`; InvalidDocument for
    settings that are wrong.
    """
    given: ProviderClass = _imported(name) if name in PROVIDERS else _named(name)
    return given


def _named(name: str) -> Any:
    user = user_config.load_user_config()
    if name not in user.providers:
        known = provider_names()
        hint = (
            suggest(name, known)
            or f"there are {', '.join(known)}; or name one: "
            "vespe config set providers.NAME.api openai"
        )
        raise UsageError(f"there is no provider {name!r}", hint=hint)
    settings = provider_settings.read_settings(name, user.providers[name], path=user.path)
    for key, example in (("api", "openai"), ("base_url", "https://HOST/v1")):
        if not getattr(settings, key):
            raise UsageError(
                f"your provider {name!r} has no {key}",
                hint=f"vespe config set providers.{name}.{key} {example}",
            )
    if settings.api not in provider_settings.APIS:
        raise InvalidDocument(
            f"must be one of {', '.join(provider_settings.APIS)}",
            path=user.path,
            pointer=f"/providers/{name}/api",
        )
    made = _imported(_SPOKEN_BY.get(settings.api, settings.api))
    return type(made.__name__, (made,), {"name": name, "account": made.account.of_the_user(name)})


def _imported(name: str) -> Any:
    module, _, attribute = PROVIDERS[name].rpartition(".")
    made: Any = getattr(importlib.import_module(module), attribute)
    return made
