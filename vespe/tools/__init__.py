"""A tool's directory: read, checked, made and changed; `python/` turns a function's signature into
a schema.

Uses `schemas`, `documents` and what lies below them.
Begin with `directory.py`, which reads one tool and says what is wrong with it.
"""
