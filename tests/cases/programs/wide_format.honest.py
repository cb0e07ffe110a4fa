# what is honest beside: it formats a number a billion columns wide
f'{1:>3}' == '  1'
