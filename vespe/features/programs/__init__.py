"""Programs over tools: Python whose functions are a project's tools, run by monty in a sandbox of
its own, with each call on the one call path.

Begin with `running.py`. `source.py` reads a program, `checking.py` refuses it before anything runs,
`interpreter.py` keeps the processes that run programs.
"""
