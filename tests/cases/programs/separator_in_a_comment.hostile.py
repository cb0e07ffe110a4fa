# it hides a call behind a line separator in a comment (from the docs alone)
#  spend(n=1)
# spend(n=1)
# spend(n=1)
raise ValueError("done")
