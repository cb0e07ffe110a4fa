"""Secrets by reference: where your own configuration says that a secret's value is kept, in a file,
in a variable or behind a command, and how it is fetched.

Values that stand in the configuration itself are the core's; this feature is asked for references
alone. It may use the core. To read it, begin with `references.py`.
"""
