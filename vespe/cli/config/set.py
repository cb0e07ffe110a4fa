"""`vespe config set`: one of your own settings."""

import sys
from typing import Final

import click

from vespe import errors, features
from vespe.calls.policy_rules import OWN_HOSTS, read_rules
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.models import JsonValue
from vespe.projects import project, project_settings, user_config
from vespe.projects.workspace import find_root, open_workspace

_RULES: Final = (
    'a list of tools and rules: \'["git_*", {"tool": "write_file", "arguments": '
    '{"path": "notes/*"}}]\''
)


@click.command("set", epilog="Example: vespe config set allow_hosts '[\"127.0.0.1:8080\"]'")
@click.argument("key")
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Remove the setting, so that its default applies.")
@click.option(
    "--project",
    "of_project",
    is_flag=True,
    help="Set it in .vespe/config.json of the current project, for everyone who works on it.",
)
@options.json_option
def command(key: str, value: str | None, unset: bool, of_project: bool, as_json: bool) -> None:
    """Set one of your own settings. VALUE is read as JSON if it is valid JSON, and as a string
    otherwise; - reads it from stdin. `vespe config list --all` lists the settings.

    With --project, set a setting of the project: active_kits, approvals.ask, approvals.deny,
    approvals.flow, lint, sandbox (only stricter than yours), tool_budget, tool_resolution_order or
    tools. A trusted project stays trusted, and an untrusted one stays untrusted.
    """
    if (value is None) != unset:
        raise click.UsageError("give either a VALUE or --unset", click.get_current_context())
    path = _change_project(key, value) if of_project else _change_own(key, value)
    if as_json:
        report.emit_json({"key": key, "path": path})
    else:
        report.say(f"{'removed' if unset else 'set'} {key} in {path}")


def _change_own(key: str, value: str | None) -> str:
    if value is None:
        user_config.unset_value(key)
    else:
        given = _value(key, value)
        _check_rules(key, given)
        user_config.set_value(key, given)
        _remark(key, given)
    return user_config.config_path()


def _change_project(key: str, value: str | None) -> str:
    """Change the project's config.json, and say what is wrong with it now that was not before."""
    root = find_root(None)
    before = open_workspace(root).warnings
    if value is None:
        project_settings.unset_value(root, key)
    else:
        given = _value(key, value)
        if project_settings.is_known(key):
            _check_rules(key, given, of_user=False)
        project_settings.set_value(root, key, given)
    for warning in open_workspace(root).warnings:
        if warning not in before:
            report.warn(warning)
    return project.config_path(root)


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
    """Say of a secret's value that it cannot be redacted well, or looks like a reference, and of
    rules that allow which tools they are not about.
    """
    if key == "approvals.allow" and isinstance(value, list):
        patterns = [one.get("tool") if isinstance(one, dict) else one for one in value]
        if bare := [one for one in patterns if isinstance(one, str) and "/" not in one]:
            report.note(
                f"{bare[0]!r} allows tools of kits; for a tool of the project write "
                f"project_tools/{bare[0]}"
            )
    parent, _, name = key.rpartition(".")
    if parent != "secrets" or not isinstance(value, str) or not features.is_present("secrets"):
        return
    if said := features.load("secrets", "declared").remark(value, "value"):
        report.warn(f"{name}: {said}")


def _check_rules(key: str, value: JsonValue, *, of_user: bool = True) -> None:
    """Refuse what is no rule on calls before it stands in the file, where it would stop every
    agent.
    """
    name, _, kind = key.partition(".")
    if name != "approvals":
        return
    try:
        read_rules({kind: value} if kind else value, path="", of_user=of_user)
    except errors.InvalidDocument as error:
        hosts = error.pointer == f"/approvals/{OWN_HOSTS}"
        raise errors.UsageError(
            f"{key} cannot be set to that: {error.pointer} {error.reason}",
            hint="" if hosts else _RULES,
        ) from None
