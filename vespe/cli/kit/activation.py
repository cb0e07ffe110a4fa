"""Making kits' tools available in a project, once it is said which names they take from others."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vespe import errors
from vespe.cli import report
from vespe.kits import mcp_lock, review, roots
from vespe.models import ProjectConfig
from vespe.projects import project, scopes, substitutions


def activate(root: str, kit_ids: Iterable[str]) -> ProjectConfig:
    """Activate kits; raises KitNotFound, InvalidDocument for a kit that cannot be used, Refused for
    one that goes beyond itself.
    """
    wanted = tuple(dict.fromkeys(kit_ids))
    for kit_id in wanted:
        kit = roots.find_kit(kit_id, project=root)
        if kit.problem is not None:
            raise errors.InvalidDocument(kit.problem, path=kit.path)
        review.refuse_excess(kit.path, kit_id)
    _tell_substitutions(root, wanted)
    config = project.set_active(root, wanted, active=True)
    mcp_lock.keep(root, wanted)
    return config


def _tell_substitutions(root: str, kit_ids: Sequence[str]) -> None:
    now = project.read_config(root)
    fresh = tuple(kit_id for kit_id in kit_ids if kit_id not in now.active_kits)
    found = roots.find_kits(count_tools=False, project=root)
    then = scopes.scopes_of(replace(now, active_kits=(*now.active_kits, *fresh)), found)
    for taken in substitutions.substitutions(then.every, about=fresh):
        (report.note if taken.verdict == "compatible" else report.warn)(str(taken))
