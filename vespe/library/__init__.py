"""What a Python program uses: projects, functions as tools, and the verbs on them. It stands on the
call path and on nothing above.

Begin with `project.py`.
"""

from vespe.library.project import Project
from vespe.library.verbs import (
    ProjectLike,
    create_tool,
    execute_tool,
    list_available_tools,
    load_tool,
    resolve_tool,
)

__all__ = [
    "Project",
    "ProjectLike",
    "create_tool",
    "execute_tool",
    "list_available_tools",
    "load_tool",
    "resolve_tool",
]
