"""What the verbs that install kits show before they ask, and what they print of what is
installed.
"""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vespe.cli import options, report, tool_review
from vespe.kits import store as kit_store
from vespe.kits.lock import LockedKit
from vespe.models import JsonObject
from vespe.records import json_of

if TYPE_CHECKING:
    from vespe.kits.review import KitReview


def show(kits: "Iterable[KitReview]", *, installed: bool) -> None:
    """Print all that kits would run, on stderr; `installed` says that nobody is asked, so that the
    store is where to read it. Whoever is asked reads the files at the question.
    """
    for kit in kits:
        version = kit.config.get("version")
        title = f"the kit {kit.kit_id}" + (f" {version}" if isinstance(version, str) else "")
        report.say(
            f"{report.one_line(title)}:" if kit.tools else f"{report.one_line(title)} has no tools"
        )
        for key in ("description", "license", "homepage", "allow_types", "allow_hosts", "secrets"):
            if key in kit.config:
                report.say(f"  {key:<12} {report.json_line(kit.config[key])}")
        report.say(f"  {'digest':<12} {kit.digest}")
        store = kit_store.kit_path(kit.digest, kit.kit_id)
        places = (os.path.join(store, tool.uid) if installed else "" for tool in kit.tools)
        if kit.tools:
            report.say("\nIt would run with your permissions:")
            report.say(
                "\n".join(
                    tool_review.text_of(tool, place=place)
                    for tool, place in zip(kit.tools, places, strict=True)
                )
            )
        report.say(f"\nbelongs to no tool: {report.one_line(', '.join(kit.others))}\n")
        for name, beyond in kit.excess.items():
            report.warn(
                f"the tool {report.one_line(name)} of {kit.kit_id} will not run: it "
                f"{report.one_line(' and '.join(beyond))}"
            )


def confirm(kits: "Sequence[KitReview]", question: str, *, yes: bool) -> None:
    """Ask for the approval of kits that were shown; each of their files can be read first."""
    several = len(kits) > 1
    where = {
        f"{kit.kit_id}/{path}" if several else path: (kit, path)
        for kit in kits
        for path in kit.files
    }

    def read(shown: str) -> str | None:
        kit, path = where[shown]
        return kit.text(path)

    tool_review.confirm(question, list(where), read, yes=yes)


def confirm_strange(kits: Iterable[LockedKit], *, yes: bool) -> None:
    """Ask before anything connects to a source that a lock names, and that nothing was approved
    from yet.
    """
    from vespe.kits import sync

    if strange := sync.strange_sources(kits):
        options.confirm(
            f"Connect to {report.one_line(', '.join(strange))}, as in this lock?", yes=yes
        )


def document_of(kit: LockedKit, reviews: "Iterable[KitReview]" = ()) -> JsonObject:
    """Return one installed kit as `kit install --json` prints it; its tools where they were
    reviewed.
    """
    document = json_of(
        kit, "kit_id", "source", "ref", "commit", "subdirectory", "digest", "signer"
    ) | {"path": kit_store.kit_path(kit.digest, kit.kit_id)}
    tools = [
        tool_review.document_of(tool)
        for review in reviews
        if review.digest == kit.digest
        for tool in review.tools
    ]
    return document | ({"tools": tools} if tools else {})
