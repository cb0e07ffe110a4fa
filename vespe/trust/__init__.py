"""Approvals: what the user allowed to run, the gate that each call passes, and what a person is
shown.

Uses `tools` and what lies below it.
Begin with `gate.py`; `approvals.py` keeps the answers.
"""
