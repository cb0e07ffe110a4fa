"""What `vespe doctor` checks of secrets: those that stand in plain text, and those that are missing
here. Nothing is fetched.
"""

from collections.abc import Iterator
from typing import Final

from vespe import errors
from vespe.cli import report
from vespe.cli.diagnosis import Diagnosis
from vespe.features.secrets import declared, settings
from vespe.lazy import shlex
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace


def _secrets(project_dir: str | None) -> Iterator[Diagnosis]:
    user = user_config.load_user_config()
    plain, configured = settings.plain(), settings.configured()
    if movable := [name for name in plain if settings.is_name(name)]:
        what = report.count(len(movable), "secret")
        yield Diagnosis(
            about="secrets",
            state="warning",
            message=f"{what} in plain text in {user.path}: {', '.join(movable)}; "
            "`vespe secret move` moves them to a store",
        )
    for name in plain:
        if not settings.is_name(name):
            yield Diagnosis(
                about=f"secret {name}",
                state="warning",
                message=f"is stored as plain text in {user.path}, and its name is not a valid "
                f"variable name: `vespe secret remove {shlex.quote(name)}` removes it, "
                "and `vespe secret set NAME` sets it under another",
            )
    for name in plain:
        if said := declared.remark(str(configured[name]), "value"):
            yield Diagnosis(about=f"secret {name}", state="warning", message=said)
    try:
        needs = declared.needs(open_workspace(project_dir))
    except errors.ProjectNotFound:
        return
    missing = [need for need in needs if need.source() is None]
    for need in missing:
        yield Diagnosis(
            about=f"secret {need.name}",
            state="warning",
            message=f"has no value, and {', '.join(need.tools)} "
            f"{'needs' if len(need.tools) == 1 else 'need'} it"
            f"{f' ({said})' if (said := need.purpose['description']) else ''}: {need.remedy}",
        )
    if needs and not missing:
        yield Diagnosis(
            about="secrets",
            state="ok",
            message=f"{report.count(len(needs), 'secret')} of the tools here; `vespe secret check` "
            "tests whether each is available",
        )


CHECKS: Final = (_secrets,)
"""The checks, in the order in which they are shown."""
