"""One module for each eval of GradBench: ENTRIES are its functions."""
