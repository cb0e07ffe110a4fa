"""Lint rules: what a tool says that it uses, which its process is held to."""

from collections.abc import Iterator

from vespe.features.lint.base import Found, Subject, rule
from vespe.tool_types import type_in
from vespe.tools.permissions import LISTS


@rule("safety-permissions", "warning")
def _unstated(subject: Subject) -> Iterator[Found]:
    """A kit's tool does not say what it uses.

    Its process is held to what it states, and whoever installs the kit reads that; where nothing is
    stated, much is open.

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
            message="states no `permissions`: it may read all but keys, write the project, "
            "and reach any host",
            fix="let its examples say what it uses: `vespe tool observe NAME --write`",
        )
