"""Processes that are started, bounded and ended as whole trees, and the signals that end Vespe
itself.

Uses `errors` and `defaults` alone. `supervisor` runs in an interpreter of its own and imports
nothing of Vespe. Begin with `process.run`: one program under a supervisor, with a deadline and a
bound on what it prints.
"""
