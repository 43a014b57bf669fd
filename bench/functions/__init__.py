"""Functions and data: closures allocated and time by pass selection, beside CPython, OCaml and GHC; memory of long runs."""
