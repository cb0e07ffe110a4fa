# it imports pickle
import pickle

pickle.loads(b"cos\nsystem\n(S'touch CANARY_FILE'\ntR.")
