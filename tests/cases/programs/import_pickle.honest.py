# what is honest beside: it imports pickle
import csv

csv is not None
