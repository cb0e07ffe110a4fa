"""`vespe config get`: one of your own settings."""

import click

from vespe import errors
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.models import JsonObject, JsonValue
from vespe.projects import project, project_settings, user_config
from vespe.projects.workspace import find_root


@click.command("get", epilog="Example: vespe config get allow_hosts")
@click.argument("key")
@click.option("--origin", is_flag=True, help="Also print the file that the value comes from.")
@options.json_option
def command(key: str, origin: bool, as_json: bool) -> None:
    """Print one of your own settings, given as a dotted key. If you did not set it, the project's
    value or the default is printed. Secrets are printed, but keys of model providers are not.
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
    except (errors.NotFound, errors.UsageError):
        document, path = _project()
        for name, value, where in user_config.origins(user, document, project_path=path):
            if name == key:
                return value, where
        if project_settings.is_known(key):
            if document and (value := project_settings.get_value(document, key)) is not None:
                return value, path
            raise errors.NotFound(
                f"the setting {key} is not set",
                hint=f"`vespe config set --project {key} VALUE` sets it for this project",
            ) from None
        raise


def _project() -> tuple[JsonObject | None, str]:
    try:
        root = find_root(None)
    except errors.ProjectNotFound:
        return None, ""
    return project.read_config(root).document, project.config_path(root)
