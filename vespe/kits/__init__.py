"""Kits: where they are, how they are fetched, pinned, stored, updated and removed.

Uses `trust`, `tools`, `git` and what lies below them.
Begin with `roots.py` (what is there) or `install.py` (how one arrives); `store.py` holds the bytes.
"""
