# it declares an encoding in which a comment is code (from the docs alone)
# coding: utf-7
# +AAo-spend(n=1)
raise ValueError("done")
