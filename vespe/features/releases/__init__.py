"""Releases of a kit by its author: checks, the next version, the changelog, one commit and one tag.

Uses lint, the examples of tools and the comparison of kits. Begin with `release.py`; `versions.py`
and `changelog.py` are pure; `vespe/git/author_repository.py` speaks to git.
"""
