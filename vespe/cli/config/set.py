"""`vespe config set`: one of your own settings."""

import sys
from typing import Final

import click

from vespe import errors, features
from vespe.calls.policy_rules import OWN_HOSTS, read_rules
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.models import JsonValue
from vespe.projects import user_config

_RULES: Final = (
    'a list of tools and rules: \'["git_*", {"tool": "write_file", "arguments": '
    '{"path": "notes/*"}}]\''
)


@click.command("set", epilog="Example: vespe config set allow_hosts '[\"127.0.0.1:8080\"]'")
@click.argument("key")
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Remove the setting.")
@options.json_option
def command(key: str, value: str | None, unset: bool, as_json: bool) -> None:
    """Set one of your own settings: VALUE is JSON where it parses as JSON, text elsewhere; - reads
    it from stdin.

    A project's configuration can never do this.
    """
    if (value is None) != unset:
        raise click.UsageError("give either a VALUE or --unset", click.get_current_context())
    if value is None:
        user_config.unset_value(key)
    else:
        given = _value(key, value)
        _check_rules(key, given)
        user_config.set_value(key, given)
        _remark(key, given)
    path = user_config.config_path()
    if as_json:
        report.emit_json({"key": key, "path": path})
    else:
        report.say(f"{'removed' if unset else 'set'} {key} in {path}")


def _value(key: str, text: str) -> JsonValue:
    """A secret is always text, a provider's key too, so that one that looks like a number stays as
    it is.
    """
    if text == "-":
        text = sys.stdin.buffer.read(1024 * 1024).decode("utf-8", "replace").removesuffix("\n")
    if (key.startswith("secrets.") and key.count(".") == 1) or (
        key.startswith("providers.")
        and key.count(".") > 1
        and not key.endswith((".headers", ".keep"))
        and ".api_key." not in key
    ):
        return text
    try:
        return strict_json.parse_json(text)
    except errors.InvalidDocument:
        return text


def _remark(key: str, value: JsonValue) -> None:
    """Say of a secret's value that it cannot be redacted well, or looks like a reference."""
    parent, _, name = key.rpartition(".")
    if parent != "secrets" or not isinstance(value, str) or not features.is_present("secrets"):
        return
    if said := features.load("secrets", "declared").remark(value, "value"):
        report.warn(f"{name}: {said}")


def _check_rules(key: str, value: JsonValue) -> None:
    """Refuse what is no rule on calls before it stands in the file, where it would stop every
    agent.
    """
    name, _, kind = key.partition(".")
    if name != "approvals":
        return
    try:
        read_rules({kind: value} if kind else value, path="")
    except errors.InvalidDocument as error:
        hosts = error.pointer == f"/approvals/{OWN_HOSTS}"
        raise errors.UsageError(
            f"{key} cannot be set to that: {error.pointer} {error.reason}",
            hint="" if hosts else _RULES,
        ) from None
