"""The command line: a group with its lazy table of verbs."""
