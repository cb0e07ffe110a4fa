"""The file system: atomic writes, locks, trees and their digests, private copies, confined access,
user directories.

Uses `processes` and what lies below it. `confined`, `confined_search` and `confined_views` are for
the authors of tools. Begin with `atomic.py` (one file) and `trees.py` (a directory).
"""
