# what is honest beside: it imports signal
import dataclasses

dataclasses is not None
