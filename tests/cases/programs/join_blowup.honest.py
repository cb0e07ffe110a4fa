# what is honest beside: it joins large strings with a large one
'-'.join(['a', 'b']) == 'a-b'
