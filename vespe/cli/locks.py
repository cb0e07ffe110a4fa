"""Which lock the verbs over installed kits mean, and the option that says so."""

import click

from vespe.kits import lock
from vespe.projects.workspace import find_root

user_option = click.option("--user", is_flag=True, help="The kits that you installed for every project, and not this project's.")


def lock_of(project_dir: str | None, *, user: bool) -> str:
    """Give the path of the project's lock, or of the user's own; raises ProjectNotFound."""
    return lock.user_lock() if user else lock.project_lock(find_root(project_dir))
