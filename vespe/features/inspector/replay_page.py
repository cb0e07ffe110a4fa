"""What a replay of a recording would find: where the project, as it is now, would say something
else to the model.
"""

from vespe.features.inspector import conversations, replay
from vespe.features.inspector.page import Page, Visit


def show(visit: Visit) -> Page:
    """Return the differences of a replay; it sends nothing and runs no tool. Raises NotFound and
    NotTrusted.
    """
    file = conversations.file_of(visit.project.root, visit.project.recordings, visit.asked("of"))
    if refusal := visit.project.refusal():
        raise refusal
    done = replay.replayed(visit.project.path.now(), file.path)
    seen, first = set[tuple[str, str]](), []
    # a definition that changed differs in every turn: it is told once
    for each in done.differences:
        if (each.tool, each.difference.pointer) not in seen or not each.tool:
            seen.add((each.tool, each.difference.pointer))
            first.append(each)
    return Page(
        template="replay.html",
        title=f"Replay of {file.name}",
        context={"file": file, "done": done, "differences": first},
    )
