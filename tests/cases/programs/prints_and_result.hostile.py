# it stays below the cap with prints and with the result, and not with both (from the docs alone)
print('x' * 700_000)
'y' * 700_000
