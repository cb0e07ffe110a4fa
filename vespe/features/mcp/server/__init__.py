"""A project's tools over the Model Context Protocol: the protocol as pure functions, and the loops
that carry it.
"""
