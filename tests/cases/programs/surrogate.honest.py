# what is honest beside: it gives a tool half a character and prints it
echo(value='😀') == '😀'
