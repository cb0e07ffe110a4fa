"""The kits on this machine, what the project pins, and what their sources have now: asked only when
a person asks for it.
"""

import asyncio
import time
from typing import Any

from vespe.cli import kit_facts, tool_review
from vespe.errors import VespeError
from vespe.features.inspector.page import Page, Redirect, Visit
from vespe.git.commit_id import is_commit
from vespe.kits import lock, roots, sync
from vespe.kits.lock import LockedKit
from vespe.projects import user_config
from vespe.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What a source said of a kit: `now` is the commit that its ref means, `newer` a newer tag,
    `why` the reason why it was not asked.

    `lines` say what the next version changes, where that was looked at; `can_look` where it can be.
    """

    ref: str
    now: str
    newer: str
    why: str
    lines: tuple[str, ...] = ()
    can_look: bool = False


def show(visit: Visit) -> Page:
    """Return every kit, the active ones first."""
    root = visit.project.root
    active = kit_facts.active_kits(root)
    pinned = lock.read_lock(lock.user_lock()) | lock.read_lock(lock.project_lock(root))
    kits = [
        (kit, kit_facts.state_of(kit, active), pinned.get(kit.kit_id))
        for kit in roots.find_kits(project=root)
    ]
    asked: tuple[str, dict[str, News]] | None = visit.project.kept.get("news")
    context: dict[str, Any] = {
        "kits": sorted(kits, key=lambda known: known[1] != "active"),
        "missing": [
            kit_id for kit_id in pinned if kit_id not in {kit.kit_id for kit, _, _ in kits}
        ],
        "pinned": pinned,
        "asked": asked[0] if asked else "",
        "news": asked[1] if asked else {},
    }
    return Page(template="kits.html", title="Kits", context=context)


async def change(visit: Visit) -> Redirect:
    """Ask the sources of the pinned kits what they have now, or what the next version of one kit
    changes; nothing is installed.
    """
    kit_id = visit.request.said("kit")
    news = (
        await asyncio.to_thread(_changes_of, visit, kit_id)
        if kit_id
        else await asyncio.to_thread(_asked, visit)
    )
    before = visit.project.kept.get("news", ("", {}))[1] if kit_id else {}
    visit.project.kept["news"] = (time.strftime("%H:%M:%S"), before | news)
    return Redirect(words=("kits",), place=f"kit-{kit_id}" if kit_id else "updates")


def _asked(visit: Visit) -> dict[str, News]:
    news: dict[str, News] = {}
    for path, kits in _locks(visit):
        known = {
            kit_id: kit
            for kit_id, kit in kits.items()
            if kit.source not in sync.strange_sources([kit])
        }
        news |= {
            kit_id: News(
                ref="", now="", newer="", why="you have not approved anything from its source"
            )
            for kit_id in kits.keys() - known.keys()
        }
        news |= {kit_id: _unasked(kit) for kit_id, kit in known.items()}
        for moved in sync.moved_refs(known, path):
            now = (moved.commit or "")[:12]
            told = News(
                ref=moved.source.ref or "",
                now=now,
                newer=moved.newer,
                why=moved.why,
                can_look=bool(now and not moved.why),
            )
            news |= dict.fromkeys(moved.kit_ids, told)
    return news


def _unasked(kit: LockedKit) -> News:
    """Return what is known of a kit before its source says that anything moved."""
    if kit.commit is None:
        return News(
            ref="",
            now="",
            newer="",
            why="this kit was installed from a folder or a file, so there are no versions to check",
            can_look=True,
        )
    return News(
        ref=kit.ref or "",
        now="",
        newer="",
        why="it is pinned to one commit" if is_commit(kit.ref) else "",
    )


def _changes_of(visit: Visit, kit_id: str) -> dict[str, News]:
    """Fetch the next version of a kit, and say what it changes; it is thrown away then."""
    from vespe.kits import update

    for path, kits in _locks(visit):
        if kit_id not in kits or sync.strange_sources([kits[kit_id]]):
            continue
        try:
            wanted = update.choose(kits, [kit_id], ref=None)
            with update.prepare(
                wanted, path, allowed_signers=user_config.allowed_signers_file()
            ) as staged:
                lines = [
                    line
                    for change in staged.changes
                    for tool in change.tools
                    for line in tool_review.lines_of_change(tool)
                ]
                now = next(((kit.commit or kit.digest)[:12] for kit in staged.moved), "")
                return {
                    kit_id: News(
                        ref=kits[kit_id].ref or "",
                        now=now,
                        newer="",
                        why="",
                        lines=tuple(lines) or ("no changes",),
                    )
                }
        except VespeError as error:
            return {kit_id: News(ref=kits[kit_id].ref or "", now="", newer="", why=str(error))}
    return {}


def _locks(visit: Visit) -> list[tuple[str, dict[str, LockedKit]]]:
    paths = (lock.project_lock(visit.project.root), lock.user_lock())
    return [(path, lock.read_lock(path)) for path in paths]
