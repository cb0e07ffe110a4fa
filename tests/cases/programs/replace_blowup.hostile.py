# it doubles a string by replacing it in itself (from the docs alone)
s = 'aa'
while True:
    s = s.replace('a', s)
