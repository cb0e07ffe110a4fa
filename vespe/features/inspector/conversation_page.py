"""Recorded conversations: the list of them, and one with its calls."""

from vespe.features.inspector import conversations
from vespe.features.inspector.page import Page, Visit


def show(visit: Visit) -> Page:
    """Return the recordings that there are, or the one that was asked for by its name."""
    files = conversations.found(visit.project.root, visit.project.recordings)
    name = visit.asked("of")
    if not name:
        return Page(template="conversations.html", title="Conversations", context={"files": files})
    file = conversations.file_of(visit.project.root, visit.project.recordings, name)
    uids = {
        row.entry.name: (row.entry.scope, row.entry.uid)
        for row in visit.project.rows()
        if row.status == "available"
    }
    context = {"file": file, "talk": conversations.read(file.path), "uids": uids, "files": files}
    return Page(template="conversation.html", title=name, context=context)
