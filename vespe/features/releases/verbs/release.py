"""`vespe kit release`: a new version of one's own kit, as one commit and one tag."""

import gc
import os
from typing import Final

import click

from vespe.cli import options, report, tables
from vespe.cli.waiting import waiting
from vespe.features.releases import release
from vespe.features.releases.release import Release
from vespe.features.releases.versions import BUMPS
from vespe.git.author_repository import opened_repository
from vespe.processes.signals import uninterruptible
from vespe.schemas.comparison.contracts import Change

_MOST_TOLD: Final = 10


@click.command("release", epilog="Example: vespe kit release team_tools --bump minor --dry-run")
@click.argument("kit", metavar="[KIT|DIR]", default=".")
@click.option(
    "--bump",
    type=click.Choice(("auto", *BUMPS)),
    default="auto",
    show_default=True,
    help="Which part of the version to raise; auto chooses it from the changes.",
)
@click.option("--sign", is_flag=True, help="Sign the commit and the tag with your key.")
@click.option(
    "--dry-run", is_flag=True, help="Check everything, show the release and change nothing."
)
@options.json_option
def command(kit: str, bump: str, sign: bool, dry_run: bool, as_json: bool) -> int:
    """Release a new version of your own kit: check it, and make one commit and one tag.

    The kit is given by its id or its directory (default: the working directory), and must be in a
    git repository. Lint must find no error, and every example must pass. The kit is compared with
    the last tag: a breaking change needs a new major version, or below 1.0 a new minor version. The
    new version is written to kit_config.json, and the changes of each tool to CHANGELOG.md. Both
    files are committed, and the commit is tagged as vX.Y.Z. Nothing is pushed.

    The repository's hooks and your signing program run as in every commit; the command names them
    first. The exit code is 1 if lint finds an error, or if an example, git or a hook fails, and 6
    if the repository is not ready for a release. In these cases nothing is changed.
    """
    gc.enable()  # unlike most commands, this one lives
    directory, document = release.kit_of(kit)
    with opened_repository(directory) as repository:
        repository.check()
        wanted = next((one for one in BUMPS if one == bump), None)
        plan = release.planned(repository, document, bump=wanted, sign=sign)
        if not _is_good(directory):
            return 1
        if not as_json:
            _show(plan)
        push = repository.push_command(plan.branch, plan.tag)
        if dry_run:
            _tell(plan, None, push, as_json=as_json)
            return 0
        if plan.programs:
            report.note(f"git will run {', '.join(plan.programs)}")
        with uninterruptible():  # what was made is told, whatever signal came meanwhile
            _tell(plan, release.made(repository, plan, sign=sign), push, as_json=as_json)
    return 0


def _tell(plan: Release, commit: str | None, push: str, *, as_json: bool) -> None:
    if as_json:
        told = {"commit": commit, "dry_run": commit is None, "next": push}
        report.emit_json(plan.to_json() | told)
    elif commit is None:
        report.say(f"would release {plan.kit_id} {plan.tag} on {plan.branch}; nothing was changed")
        if plan.programs:
            report.say(f"git would run {', '.join(plan.programs)}")
    else:
        report.say(
            f"released {plan.kit_id} {plan.tag} on {plan.branch} (commit {commit[:12]}); "
            f"nothing is pushed: `{push}` publishes it"
        )


def _is_good(directory: str) -> bool:
    """Lint and test a kit as it is committed, and tell what is wrong."""
    with release.committed(directory) as copy:
        return _is_good_copy(copy, directory)


def _is_good_copy(copy: str, directory: str) -> bool:
    with waiting("linting"):
        wrong = release.lint(copy)
    for found in wrong[:_MOST_TOLD]:
        said = f"{found.path}:{found.line}: {found.message} ({found.rule})"
        report.error(release.with_own_paths(said, copy, directory))
    if wrong:
        report.note(
            f"{report.count(len(wrong), 'error')} of lint; `vespe lint {_shown(directory)}` shows "
            "all of them, and nothing is released"
        )
        return False
    with waiting("testing"):
        results = release.test(
            copy,
            progress=lambda said: report.note(release.with_own_paths(said, copy, directory)),
        )
    failed = [one for one in results if not one.passed]
    for one in failed[:_MOST_TOLD]:
        report.error(release.with_own_paths(f"{one.tool} {one.why}", copy, directory))
    if failed:
        report.note(
            f"{len(results) - len(failed)} examples passed and {len(failed)} failed, and nothing "
            "is released"
        )
    return not failed


def _show(plan: Release) -> None:
    """Show what changed for callers since the last tag."""
    rows = [
        (change.verdict, one.tool, change.part, change.message + _example(change))
        for one in plan.compared
        for change in one.changes
    ]
    if rows and plan.previous:
        tables.show(("VERDICT", "TOOL", "PART", "WHY"), rows)
    before = f"since v{plan.previous}" if plan.previous else "the first release"
    report.note(f"{plan.kit_id} {plan.version}, {before}: writes {_files(plan)}")


def _example(change: Change) -> str:
    return f"; such as {report.json_line(change.example)}" if change.has_example else ""


def _files(plan: Release) -> str:
    return ", ".join(sorted(plan.files)) or "nothing, since the last commit has this version"


def _shown(directory: str) -> str:
    return os.path.relpath(directory)
