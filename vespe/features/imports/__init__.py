"""What people have already becomes a kit: descriptions of HTTP APIs, manuals, registries,
directories of tools, skills.

Uses `tools`, `http`, `documents` and what lies below them. Begin with `made.py`: what every kind of
import comes to.
"""
