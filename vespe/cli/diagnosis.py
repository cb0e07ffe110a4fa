"""What of the installation and the project works, and what to do about the rest: the checks that
`vespe doctor` makes.
"""

import importlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from vespe import defaults, errors, features
from vespe.calls import policy_rules, sandboxing
from vespe.cli import kit_facts, report
from vespe.files import locations, unreviewed
from vespe.kits import roots
from vespe.processes import process
from vespe.processes.sandbox import remedies
from vespe.processes.sandbox.places import find_leads
from vespe.processes.workers import is_possible
from vespe.projects import user_config
from vespe.projects.workspace import Workspace, open_workspace
from vespe.records import dataclass
from vespe.tools.permissions import permissions_of
from vespe.trust import gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One thing looked at: `state` is `ok`, `warning` or `failed`; only what stops every call is
    `failed`.
    """

    about: str
    state: str
    message: str


def diagnose(project_dir: str | None) -> list[Diagnosis]:
    """Make every check. A check that cannot be made is `failed` itself; what prevents several of
    them is reported once.
    """
    told: set[str] = set()
    found = []
    for check in checks():
        for one in _guarded(check.__name__.strip("_"), check, project_dir):
            if one.state != "failed" or one.message not in told:
                found.append(one)
            if one.state == "failed":
                told.add(one.message)
    return found


def _guarded(
    about: str, check: Callable[..., Iterable[Diagnosis]], *subject: object
) -> Iterator[Diagnosis]:
    try:
        yield from check(*subject)
    except errors.VespeError as error:
        yield Diagnosis(
            about=about,
            state="failed",
            message=f"{error}" + (f" ({error.hint})" if error.hint else ""),
        )


def _installation(_: str | None) -> Iterator[Diagnosis]:
    yield Diagnosis(
        about="vespe",
        state="ok",
        message=f"{defaults.VERSION}, Python {sys.version.split()[0]}, {sys.platform}",
    )
    if any(os.path.realpath(part) == os.getcwd() for part in sys.path):
        message = (
            "Python imports modules from this directory (because of `python -m vespe` or "
            "PYTHONPATH); start `vespe` or `python -I -m vespe` instead"
        )
        yield Diagnosis(about="imports", state="warning", message=message)
    environment = process.child_environment(os.environ, {})
    command = process.Command(
        argv=(sys.executable, "-I", "-c", "print(6 * 7)"), cwd="/", env=environment, timeout_s=20.0
    )
    works = process.run(command).stdout.strip() == b"42"
    yield Diagnosis(
        about="processes",
        state="ok" if works else "failed",
        message="tools start"
        if works
        else "a Python process that was started as a test does not answer",
    )
    linux = sys.platform == "linux"
    ended = (
        "ended with everything that they start"
        if linux
        else "ended with their process group; a daemon that leaves it may survive"
    )
    yield Diagnosis(
        about="process trees", state="ok" if linux else "warning", message=f"tools are {ended}"
    )
    forks = is_possible()
    said = (
        "are forked from an interpreter that has already started"
        if forks
        else "each start an interpreter, because forking is not safe on this system"
    )
    yield Diagnosis(
        about="workers",
        state="ok" if forks else "warning",
        message=f"in a long-lived process, calls of Python tools {said}",
    )
    git = shutil.which("git")
    yield Diagnosis(
        about="git",
        state="ok" if git else "warning",
        message=git or "not on PATH; tools over git will fail",
    )


def _sandbox(_: str | None) -> Iterator[Diagnosis]:
    machine = sandboxing.machine()
    setting = user_config.load_user_config().sandbox
    if setting == "off":
        said = (
            f"off in your configuration; this machine supports the level {machine.level!r}: "
            "turn it on with `vespe config set sandbox auto`"
        )
        yield Diagnosis(about="sandbox", state="warning", message=said)
        return
    what, raised = _HELD[machine.level], remedies.remedy(machine)
    refused = (
        "; your configuration requires a sandbox, so no tool starts"
        if machine.level == "off" and setting == "require"
        else ""
    )
    said = f"{machine.level}: {what}{refused}" + (f"; {raised}" if raised else "")
    yield Diagnosis(
        about="sandbox", state="warning" if raised or machine.level == "off" else "ok", message=said
    )


_HELD: Final = {
    "namespaces": "tools are confined to their files, hosts and programs",
    "landlock": "tools are confined to their files and programs; the network can be turned off, "
    "but not limited to certain hosts",
    "seatbelt": "macOS confines tools to their files",
    "off": "none: a tool that you trust runs with all your permissions",
}


def _configuration(_: str | None) -> Iterator[Diagnosis]:
    path = user_config.load_user_config().path
    yield Diagnosis(about="your configuration", state="ok", message=path)


def _directories(_: str | None) -> Iterator[Diagnosis]:
    yield from _guarded("state directory", _written, "state", locations.user_state_dir)
    yield from _guarded(
        "configuration directory", _written, "configuration", locations.user_config_dir
    )
    # Of these only a refusal matters: Vespe works without writing them.
    yield from _guarded("data directory", _used, locations.user_data_dir)
    yield from _guarded("cache directory", _used, locations.user_cache_dir)


def _written(about: str, place: Callable[[], str]) -> Iterator[Diagnosis]:
    existing = path = place()
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    writable = os.access(existing, os.W_OK | os.X_OK) and os.path.isdir(existing)
    said = (
        path
        if writable
        else f"{path} cannot be written: approvals, settings and the log cannot be saved"
    )
    yield Diagnosis(about=f"{about} directory", state="ok" if writable else "warning", message=said)


def _used(place: Callable[[], str]) -> tuple[Diagnosis, ...]:
    place()
    return ()


def _kits(project_dir: str | None) -> Iterator[Diagnosis]:
    found = roots.find_kits(project=kit_facts.root_if_any(project_dir))
    usable = [kit for kit in found if kit.problem is None]
    tools = sum(kit.tools for kit in usable)
    yield Diagnosis(
        about="kits",
        state="ok" if usable else "warning",
        message=f"{report.count(len(usable), 'kit')} with {report.count(tools, 'tool')}",
    )
    for named in roots.relative_roots():
        message = (
            f"{defaults.ENV_KITS_PATH} names {named!r}, which is ignored, because a relative path "
            "would mean different kits in each project"
        )
        yield Diagnosis(about="kits", state="warning", message=message)
    for kit in found:
        if kit.problem is not None:
            yield Diagnosis(
                about=f"kit {kit.kit_id}", state="warning", message=f"{kit.path}: {kit.problem}"
            )


def _project(project_dir: str | None) -> Iterator[Diagnosis]:
    try:
        workspace = open_workspace(project_dir)
    except errors.ProjectNotFound as error:
        if project_dir is not None:
            raise
        yield Diagnosis(about="project", state="ok", message=f"none here; {error.hint}")
        return
    yield Diagnosis(about="project", state="ok", message=workspace.root)
    for warning in workspace.warnings:
        yield Diagnosis(about="project", state="warning", message=warning)
    yield from _guarded("trust", _trust, workspace)
    rows = workspace.ordered_rows()
    available = sum(1 for row in rows if row.status == "available")
    yield Diagnosis(about="tools", state="ok", message=f"{available} available")
    yield from _guarded("approvals", _spared, workspace)
    yield from _links(workspace)
    for new in (unreviewed.left(workspace.root), unreviewed.elsewhere(workspace.root)):
        if new:
            yield Diagnosis(about="project", state="warning", message=unreviewed.sentence(new))
    for row in rows:
        if row.status == "broken":
            yield Diagnosis(
                about=f"tool {row.entry.name or row.entry.uid}",
                state="warning",
                message=f"{row.entry.path}: {row.entry.problem}",
            )


def _spared(workspace: Workspace) -> Iterator[Diagnosis]:
    """Name the project's own tools that take a name which the user allows: such a rule is about
    kits' tools.
    """
    user = user_config.load_user_config()
    allowed = [
        rule
        for rule in policy_rules.read_rules(user.approvals, path=user.path)
        if rule.kind == "allow"
    ]
    for entry in workspace.available():
        rule = next(
            (
                rule
                for rule in allowed
                if rule.spares(entry.scope) and rule.names(entry.name or "", scope="")
            ),
            None,
        )
        if rule is not None:
            said = (
                f"approvals.allow {rule.tool!r} is about kits' tools and not about this one; "
                f"{entry.scope}/{entry.name} would be"
            )
            yield Diagnosis(about=f"tool {entry.name}", state="warning", message=said)


def _links(workspace: Workspace) -> Iterator[Diagnosis]:
    """Name the tools that state a path which opens nothing here, since a link leads out of the
    project.
    """
    for entry in workspace.available():
        try:
            stated = permissions_of(workspace.load(entry).permissions)
        except errors.VespeError:
            continue  # it is told as broken
        for place in find_leads(workspace.root, stated):
            said = (
                f"states {place.stated}, which is a link to {place.leads}: it has no effect; if "
                "the tool needs it, state that path"
            )
            yield Diagnosis(about=f"tool {entry.name}", state="warning", message=said)


_TRUSTED: Final = {
    "place": "you made this project, or trusted its directory",
    "content": "you approved exactly these files",
    "environment": "VESPE_TRUSTED_PATHS names this project or a directory above it",
    "flag": "this command was started with --trust",
}


def _trust(workspace: Workspace) -> Iterator[Diagnosis]:
    try:
        grant = gate.check(workspace.config, environ=os.environ)
    except errors.NotTrusted as error:
        yield Diagnosis(about="trust", state="warning", message=f"{error} ({error.hint})")
    else:
        yield Diagnosis(about="trust", state="ok", message=_TRUSTED[grant.kind])


CHECKS: Final = (_installation, _configuration, _directories, _sandbox, _kits, _project)
"""The core's own checks, in the order in which they are shown; those of features follow."""


def checks() -> Iterator[Callable[[str | None], Iterator[Diagnosis]]]:
    """Yield every check: the core's own, then those of each feature that has some."""
    yield from CHECKS
    for name, feature in features.FEATURES.items():
        if feature.get("checks") and features.is_present(name):
            yield from importlib.import_module(feature["checks"]).CHECKS
