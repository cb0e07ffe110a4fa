# it writes a file by csv (from the docs alone)
import csv

with open('CANARY_FILE', 'w') as f:
    csv.writer(f).writerow([1])
