"""`vespe completion`: the script that teaches a shell to complete vespe's words, and what it
completes beyond commands and options.
"""

import sys
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

from vespe import errors, features
from vespe.cli import report, signature
from vespe.kits import roots
from vespe.models import JsonObject
from vespe.projects.workspace import Workspace, open_workspace

_HOW = {
    "bash": """echo 'eval "$(vespe completion bash)"' >> ~/.bashrc""",
    "zsh": """echo 'eval "$(vespe completion zsh)"' >> ~/.zshrc""",
    "fish": "vespe completion fish > ~/.config/fish/completions/vespe.fish",
}


@click.command("completion", epilog='Example: eval "$(vespe completion bash)"')
@click.argument("shell", type=click.Choice(list(_HOW)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell: commands, options, tools and their arguments, kits,
    settings and rules.
    """
    made = get_completion_class(shell)
    assert made is not None, shell
    click.echo(made(context.find_root().command, {}, "vespe", "_VESPE_COMPLETE").source())
    if sys.stdout.isatty():
        report.note(f"to install it: {_HOW[shell]}")


def attach(command: click.Command) -> click.Command:
    """Let a verb's arguments complete what their names say they are; returns the verb."""
    for parameter in command.params:
        words = _WORDS.get(str(parameter.name))
        if words is not None and isinstance(parameter.type, click.types.StringParamType):
            parameter.shell_complete = _completing(words)  # type: ignore[assignment,method-assign]  # of this one
    return command


def _completing(
    words: Callable[[click.Context, str], Iterable[str]],
) -> Callable[[click.Context, str], list[CompletionItem]]:
    def complete(context: click.Context, begun: str) -> list[CompletionItem]:
        try:
            return [
                CompletionItem(word) for word in words(context, begun) if word.startswith(begun)
            ]
        except (errors.VespeError, OSError):
            return []

    return complete


def _workspace(context: click.Context) -> Workspace:
    return open_workspace(context.params.get("project_dir"))


def _tools(context: click.Context, begun: str) -> Iterable[str]:
    return [str(entry.name) for entry in _workspace(context).available()]


def _arguments(context: click.Context, begun: str) -> Iterable[str]:
    """Return `key=` for each input, and `key=value` where the schema lists values; bash takes `=`
    for a word of its own.
    """
    given = [str(word) for word in context.params.get("pairs") or ()]
    known: dict[str, JsonObject] = {
        key: facts
        for key, facts, _ in signature.inputs(
            _workspace(context).tool(str(context.params.get("name"))).input_schema
        )
    }
    split = (
        given[-1:]
        if not begun and given[-1:] and given[-1] in known
        else given[-2:-1]
        if given[-1:] == ["="]
        else []
    )
    if split:
        return [signature.plain(value) for value in signature.choices(known.get(split[0], {}))]
    key = begun.partition("=")[0]
    if "=" in begun:
        return [
            f"{key}={signature.plain(value)}" for value in signature.choices(known.get(key, {}))
        ]
    used = {word.partition("=")[0] for word in given}
    return [f"{key}=" for key in known if key not in used]


def _kits(context: click.Context, begun: str) -> Iterable[str]:
    from vespe.cli.kit_facts import root_if_any

    return dict.fromkeys(
        kit.kit_id
        for kit in roots.find_kits(
            project=root_if_any(context.params.get("project_dir")), count_tools=False
        )
    )


def _settings(context: click.Context, begun: str) -> Iterable[str]:
    from vespe.projects import project_settings, setting_catalog, user_config

    known = [one.key for one in setting_catalog.known() if one.is_whole]
    if context.params.get("of_project"):
        return [key for key in known if project_settings.is_known(key)]
    own = [key for key, _, _ in user_config.origins(user_config.load_user_config())]
    return dict.fromkeys([*own, *known])


def _secrets(context: click.Context, begun: str) -> Iterable[str]:
    """Return the names of secrets, never a value: those that are configured, and those that the
    tools here declare.
    """
    from vespe.projects import user_config

    user = user_config.load_user_config()
    names = [*user.secrets, *user_config.provider_keys(user)]
    try:
        workspace = _workspace(context)
    except errors.ProjectNotFound:
        return names
    declared = features.load("secrets", "declared").needs(workspace)
    return dict.fromkeys([*names, *(need.name for need in declared)])


_WORDS: dict[str, Callable[[click.Context, str], Iterable[str]]] = {
    "name": _tools,
    "names": _tools,
    "pairs": _arguments,
    "kit_id": _kits,
    "kit_ids": _kits,
    "key": _settings,
    "secret_name": _secrets,
    "secret_names": _secrets,
}
