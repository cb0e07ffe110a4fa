"""The rules, one module for each family. `vespe.features.lint.RULES` lists them all.

A rule takes a subject and yields findings; begin with `naming.py`, the simplest.
"""
