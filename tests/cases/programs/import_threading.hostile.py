# it imports threading
import threading

threading.Thread(target=spend).start()
