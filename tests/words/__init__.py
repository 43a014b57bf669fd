"""NumPy's names against NumPy: `spellings` is a table of expressions, each evaluated by NumPy and by Atoll over element types and shapes."""
