"""The core language (`ir`), its scalar primitives (`prims`), its meaning (`interpret`), its checker (`check`) and printer (`show`)."""
