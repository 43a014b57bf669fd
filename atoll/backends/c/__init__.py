"""C: operators (`ops`), support code (`prelude`), printing loops (`emit`), whole files for the cache and for export."""
