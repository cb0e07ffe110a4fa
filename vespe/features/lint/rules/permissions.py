"""Lint rules: what a tool says that it uses, which its process is held to."""

import os
from collections.abc import Iterator

from vespe import defaults
from vespe.features.lint.base import Found, Subject, rule
from vespe.processes.sandbox.places import find_leads
from vespe.schemas.explain import short
from vespe.tool_types import type_in
from vespe.tools.permissions import LISTS, permissions_of


@rule("safety-permissions", "warning")
def _unstated(subject: Subject) -> Iterator[Found]:
    """A kit's tool states no permissions.

    The sandbox enforces the stated permissions, and people read them before they install the kit. A
    tool without them can do much more.

    Bad: config.json without `permissions`
    Good: "permissions": {"read": ["."], "write": [], "network": [], "programs": []}
    """
    document = subject.document
    if subject.api != "vespe" or subject.kit_id is None or not isinstance(document, dict):
        return
    details = document.get("implementation_details")
    if not isinstance(details, dict):
        return
    kind, args = type_in(details), details.get("args")
    if kind is not None and not kind.starts_process(args if isinstance(args, dict) else {}):
        return
    permissions = document.get("permissions")
    if not isinstance(permissions, dict) or not any(key in permissions for key in LISTS):
        yield Found(
            message="states no `permissions`, so it may read everything except keys, write to "
            "the project, and reach any host",
            fix="find its permissions from its examples: `vespe tool observe NAME --write`",
        )


@rule("safety-links", "warning")
def _links(subject: Subject) -> Iterator[Found]:
    """A tool's permission names a link out of the project, which has no effect.

    A tool that may write to the project, or a clone, could replace a directory with a link. So
    links in permissions are followed only if they end in the project, and not into `.git`, `.vespe`
    or protected places. State the target itself.

    Bad: "permissions": {"read": ["data"]}, where data is a link to /mnt/data
    Good: "permissions": {"read": ["data", "/mnt/data"]}
    """
    document = subject.document
    tools, uid = os.path.split(subject.directory or "")
    beneath = os.path.join("", defaults.PROJECT_DIR, defaults.TOOLS_DIR)
    if subject.kit_id is not None or not uid or not tools.endswith(os.sep + beneath):
        return
    stated = document.get("permissions") if isinstance(document, dict) else None
    if not isinstance(stated, dict):
        return
    for place in find_leads(tools[: -len(beneath)], permissions_of(stated)):
        yield Found(
            pointer="/permissions",
            message=f"states {short(place.stated)}, which is a link to {place.leads!r}. Links "
            "out of the project or to protected places have no effect",
            fix=f"if the tool needs it, also state {place.leads!r}",
        )
