"""A Python function as a tool: its annotations, defaults and docstring become a schema. Nothing is
imported or run.

Begin with `signatures.py`.
"""
