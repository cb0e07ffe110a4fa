# what is honest beside: it doubles a string by replacing it in itself
'aa'.replace('a', 'bb') == 'bbbb'
