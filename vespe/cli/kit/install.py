"""`vespe kit install`: kits from elsewhere, shown, approved and pinned."""

import contextlib
import os

import click

from vespe.cli import options, report
from vespe.cli.kit import review as kit_review
from vespe.cli.waiting import waiting
from vespe.files import locations
from vespe.kits import fetch, install, sources
from vespe.kits import lock as kit_lock
from vespe.projects import user_config


@click.command(
    "install", epilog="Example: vespe kit install gh:example/weather-kit@v1.2.0 --activate"
)
@click.argument("source", metavar="SOURCE[@REF]")
@click.option(
    "--subdir",
    "subdirectory",
    metavar="DIR",
    default="",
    help="The directory in the source that is a kit or contains the kits.",
)
@click.option(
    "--kit",
    "kit_ids",
    metavar="ID",
    multiple=True,
    help="Install only this kit of the source; repeatable.",
)
@click.option(
    "--user",
    is_flag=True,
    help="Install for all your projects, without changing this project's lock.",
)
@click.option("--activate", is_flag=True, help="Also activate the kits in this project.")
@options.yes_option
@options.project_option
@options.json_option
def command(
    source: str,
    subdirectory: str,
    kit_ids: tuple[str, ...],
    user: bool,
    activate: bool,
    yes: bool,
    project_dir: str | None,
    as_json: bool,
) -> None:
    """Fetch the kits of SOURCE, show everything that they would run, ask for approval, and pin them
    in .vespe/kits.lock.json.

    SOURCE is an https or ssh URL, gh:owner/repo, a .kit file, or a path that begins with / or . (a
    repository or a folder). REF is a branch, a tag or a full commit hash; the default is the
    default branch. At the question, `d FILE` and `s` show the kit's files. Installing a kit runs
    none of its code.
    """
    from vespe.cli.kit import activation
    from vespe.kits import review

    parsed = sources.parse_source(source)
    root = None if user and not activate else locations.find_project(explicit=project_dir)
    lock = kit_lock.user_lock() if user or root is None else kit_lock.project_lock(root)
    kept = install.kept_source(parsed, lock, os.getcwd())
    within = subdirectory if subdirectory.startswith("/") else subdirectory.rstrip("/")
    request = fetch.FetchRequest(
        source=kept,
        base=install.base_of(lock),
        subdirectory=within,
        kit_ids=tuple(dict.fromkeys(kit_ids)),
        allowed_signers=user_config.allowed_signers_file(),
    )
    with contextlib.ExitStack() as held:
        with waiting(f"fetching {kept.text}"):
            shown = held.enter_context(install.prepare([request], progress=report.note))
        kits = kit_lock.read_lock(lock)
        for kit in shown.locked:
            install.refuse_conflict(kits, kit)
        for staged in shown.staged if activate else ():
            review.refuse_excess(staged.path, staged.kit_id)
        kit_review.show(shown.reviews, installed=yes)
        if shown.unapproved or any(kits.get(kit.kit_id) != kit for kit in shown.locked):
            kit_review.confirm(
                shown.reviews,
                f"Install and approve exactly this, from {report.one_line(kept.text)}?",
                yes=yes,
            )
        elif not yes:
            report.say("you approved exactly these files before, so Vespe does not ask again")
        with waiting("installing"):
            install.install(shown, lock)
    if activate and root is not None:
        activation.activate(root, [kit.kit_id for kit in shown.locked])
    for kit in shown.locked:
        report.say(_installed(kit) + (", and activated it" if activate else ""))
    if not activate and not as_json:
        report.next_step(
            f"`vespe kit activate {' '.join(kit.kit_id for kit in shown.locked)}` makes the tools "
            "available in a project"
        )
    if as_json:
        report.emit_json(
            {
                "lock": lock,
                "kits": [kit_review.document_of(kit, shown.reviews) for kit in shown.locked],
            }
        )


def _installed(kit: kit_lock.LockedKit) -> str:
    at = f" at {kit.commit[:12]}" if kit.commit else ""
    signed = f", signed by {report.one_line(kit.signer)}" if kit.signer else ""
    return f"installed {kit.kit_id} from {kit.source}{at}{signed}"
