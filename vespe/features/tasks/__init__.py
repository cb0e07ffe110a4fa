"""Tasks: calls that outlive whoever asked for them, each a file in the state directory.

Begin with `store.py`; `background.py` runs a task of `vespe tool run --background`.
"""
