# what is honest beside: it writes a file by csv
import csv

list(csv.reader(['a,b'])) == [['a', 'b']]
