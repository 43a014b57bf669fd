"""The GPU: from loops to kernels and a program that launches them."""
