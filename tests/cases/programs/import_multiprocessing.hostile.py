# it imports multiprocessing
import multiprocessing

multiprocessing.Process(target=spend).start()
