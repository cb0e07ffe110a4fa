# what is honest beside: it hides a call behind a line separator in a comment
#  no code
True
