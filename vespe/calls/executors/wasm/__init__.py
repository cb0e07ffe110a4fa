"""Tools compiled to WebAssembly: `wasm` and `rust_function`, run in a worker process of their own."""
