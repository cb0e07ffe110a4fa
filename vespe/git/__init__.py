"""git, asked and told: one runner with one hardened environment, refs, objects, revisions, status and commits.

Uses `files`, `processes` and what lies below them.
Begin with `repository.py`, which starts git for all the others.
"""
