# what is honest beside: it formats by percent a billion columns wide
'%3d' % 1 == '  1'
