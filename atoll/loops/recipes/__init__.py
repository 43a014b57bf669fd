"""When to transform loops and in which order, by the shape of a nest: stencils, eliminations, wavefronts, reductions, rows and columns."""
