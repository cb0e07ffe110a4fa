"""Ways out of the sandbox, tried on this machine: `vespe doctor --escapes`, and the table that the
tests and docs/escapes.md share. Read `rows.py` first, then `trial.py`.
"""
