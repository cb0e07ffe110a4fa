# what is honest beside: it fills a string up to a billion characters
'x'.ljust(3) == 'x  '
