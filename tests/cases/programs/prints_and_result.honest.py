# what is honest beside: it stays below the cap with prints and with the result, and not with both
print('x' * 1000)
'y' * 3 == 'yyy'
