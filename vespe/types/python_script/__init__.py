"""`python_script`: a function of a Python file, run in an interpreter of its own.

Begin with `execution.py`; `child.py` and `values.py` run in that interpreter.
"""
