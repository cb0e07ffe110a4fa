# it imports signal
import signal

signal.raise_signal(9)
