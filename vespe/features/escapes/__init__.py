"""Sandbox escapes, tried on this machine by `vespe doctor --escapes`. The tests and docs/escapes.md
use the same table. Read `rows.py` first, then `trial.py`.
"""
