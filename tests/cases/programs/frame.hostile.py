# it raises to read a frame
try:
    1 / 0
except ZeroDivisionError as e:
    e.__traceback__.tb_frame.f_globals
