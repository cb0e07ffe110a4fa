"""What the verbs over kits say of one kit."""

import os

from vespe import errors
from vespe.files import locations
from vespe.kits import roots
from vespe.models import JsonObject, Kit
from vespe.projects import project
from vespe.projects.workspace import find_root
from vespe.records import json_of


def root_if_any(project_dir: str | None) -> str | None:
    """Return the project's root; None outside a project, unless one was named."""
    try:
        return find_root(project_dir)
    except errors.ProjectNotFound:
        if project_dir is not None:
            raise
        return None


def active_kits(root: str | None) -> tuple[str, ...]:
    """Return the ids of the active kits of the project at `root`; none outside a project."""
    return () if root is None else project.read_config(root).active_kits


def document_of(kit: Kit, active: tuple[str, ...]) -> JsonObject:
    """Return one kit as `kit list --json` prints it."""
    return (
        json_of(kit, "kit_id", "name", "description", "version")
        | {"active": kit.kit_id in active and kit.problem is None}
        | json_of(kit, "root", "root_kind", "path", "tools", "problem")
    )


def state_of(kit: Kit, active: tuple[str, ...]) -> str:
    """Say in one word what a kit is here."""
    if kit.problem is not None:
        return "unusable"
    return "active" if kit.kit_id in active else "inactive"


def hidden(kit_id: str, path: str) -> str:
    """Say that projects use another kit than the one in `path`, which was just made, and go on to
    use it; "" where they do not, or where `vespe kit link` makes them use this one.
    """
    try:
        used = roots.find_kit(kit_id)
    except errors.KitNotFound:
        return ""
    is_own = os.path.dirname(path) == os.path.join(locations.user_data_dir(), roots.KITS_DIR)
    stronger = (roots.LINK, "env", *(roots.LOCKS if is_own else ()))
    is_same = os.path.realpath(used.path) == os.path.realpath(path)
    if is_same or used.root_kind not in stronger:
        return ""
    ways = {
        roots.LINK: f" until you run `vespe kit unlink {kit_id}`",
        "env": " because VESPE_KITS_PATH has precedence",
    }
    why = ways.get(used.root_kind, "")
    return f"your projects use the kit {kit_id} in {used.path} instead of this one{why}"
