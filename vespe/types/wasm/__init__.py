"""`wasm` and `rust_function`: tools compiled to WebAssembly, run in a worker process of their
own.
"""
