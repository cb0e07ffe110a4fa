# what is honest beside: it expands tabs to a billion columns
'a\tb'.replace('\t', ' ') == 'a b'
