"""From lines to nests: what is stored, what is computed again at each use (`stages`), which lines share a loop (`fuse`)."""
