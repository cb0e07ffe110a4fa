"""Sets of tools for programs that have a loop of their own: definitions for any vendor's client,
and answers to any vendor's response.

Begin with `toolset.py`.
"""
