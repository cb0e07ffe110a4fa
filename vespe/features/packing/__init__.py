"""One kit in the forms that clients look for: a skill, a plugin, a bundle, an entry of the MCP
registry.

Each form is a function of the kit's files alone, so that the same kit gives the same bytes. It
stands on the kits and what is below them. Begin with `forms.py`; `writing.py` writes what a form
gives, or says what differs from what is there.
"""
