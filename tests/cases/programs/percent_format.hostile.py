# it formats by percent a billion columns wide (from the docs alone)
'%1000000000d' % 1
