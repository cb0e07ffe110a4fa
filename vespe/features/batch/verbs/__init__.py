"""`vespe batch`: the command, and its inputs from files."""
