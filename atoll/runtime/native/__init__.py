"""C sources of the runtime, compiled on first use: the pool and memory (`runtime.c`), the call path (`call.c`), their ABI (`abi.h`)."""
