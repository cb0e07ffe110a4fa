"""git, asked and told: status, changed paths, revisions and commits in the user's repository, and
what kits are fetched from.

Uses `files`, `processes` and what lies below them. Begin with `repository.py`: all that keeps git
from running what a repository names stands there. `session.py` fetches kits.
"""
