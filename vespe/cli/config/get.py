"""`vespe config get`: one of your own settings."""

import click

from vespe import errors
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.models import JsonValue
from vespe.projects import user_config


@click.command("get", epilog="Example: vespe config get allow_hosts")
@click.argument("key")
@click.option("--origin", is_flag=True, help="Name the file that the value came from.")
@options.json_option
def command(key: str, origin: bool, as_json: bool) -> None:
    """Print one of your own settings, as a dotted key; a secret too, a provider's key never. What
    is not set has its default.
    """
    value, where = _setting(key)
    if as_json:
        report.emit_json({"key": key, "value": value, "origin": where})
    else:
        text = value if isinstance(value, str) else strict_json.compact_json(value)
        report.emit(f"{text}\t{where}" if origin else text)


def _setting(key: str) -> tuple[JsonValue, str]:
    user = user_config.load_user_config()
    try:
        return user_config.mask(key, user_config.get_value(key)), user.path
    except errors.NotFound:
        for name, value, where in user_config.origins(user):
            if name == key:
                return value, where
        raise
