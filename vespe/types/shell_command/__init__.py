"""`shell_command`: a program, run with an argv made of templates."""
