"""Lint over a tool directory, a kit, a project or a file of definitions; nothing that is linted is imported or run."""
