# it imports io
import io

io.open("CANARY_FILE", "w")
