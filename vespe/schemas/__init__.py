"""JSON Schemas: compiled, bounded, explained in words, and compared (`comparison/`).

Uses `documents` and what lies below it.
Begin with `validator.py`; `explain.py` words what it finds.
"""
