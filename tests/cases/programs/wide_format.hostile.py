# it formats a number a billion columns wide (from the docs alone)
f'{1:>1000000000}'
