# it takes exec out of a list
[exec][0]("spend(n=1)")
