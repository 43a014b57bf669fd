"""Beyond one machine: the loops of a program run in parts, with the same bits (docs/distribution.md)."""
